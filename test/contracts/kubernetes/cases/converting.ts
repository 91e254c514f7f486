import { expect } from "vitest";
import type { CaseGroup, Json } from "../interface.ts";
import { DEFINITIONS } from "./custom-resource.ts";
import { DEFINITION_REFUSALS, REFUSALS } from "./converter-refusals.ts";
import { gaugeDefinition, withGauges } from "./converter.ts";
import { apply, at, done, eventually, items, made, names, refused } from "./shorthands.ts";

export const converting: CaseGroup = {
  title: "conversion webhooks",
  cases: [
    {
      name: "an object is written in one version and read in the other",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          const body = await made(c.api.post(path("v2"), gauge("v2", "a", { length: 3, paint: { colour: "red" } })));
          expect(body["spec"]).toEqual({ length: 3, unit: "m", paint: { colour: "red" } });
          const older = await done(c.api.get(path("v1", "a")));
          expect(older["apiVersion"]).toMatch(/\/v1$/);
          expect(older["spec"]).toEqual({ size: "3 m", colour: "red" });
        });
      },
    },
    {
      name: "a ConversionReview has a uid, the desired version and whole objects",
      async run(c) {
        await withGauges(c, async ({ group, path, gauge, converter }) => {
          await made(c.api.post(path("v2"), gauge("v2", "a")));
          const [review] = converter.reviews;
          expect(review).toMatchObject({ kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1" });
          expect(at(review, "request", "uid")).toEqual(expect.any(String));
          expect(at(review, "request", "desiredAPIVersion")).toBe(`${group}/v1`);
          const object = at(review, "request", "objects", 0);
          expect(object).toMatchObject({ apiVersion: `${group}/v2`, kind: "Gauge", spec: { length: 3, unit: "m" } });
          expect(at(object, "metadata", "uid")).toEqual(expect.any(String));
        });
      },
    },
    {
      name: "defaults of the version that is written come before those of the stored one",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          const body = await made(c.api.post(path("v2"), gauge("v2", "a", { length: 1 })));
          expect(body["spec"]).toEqual({ length: 1, unit: "m", paint: { colour: "grey" } });
        });
      },
    },
    {
      name: "lists are converted, and selected as the version shows them",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          for (const [i, name] of ["a", "b", "c"].entries()) {
            await made(c.api.post(path("v1"), gauge("v1", name, { size: `${i} m` })));
          }
          const listed = await c.api.get(path("v2"));
          expect(items(listed).map((i) => at(i, "spec", "length"))).toEqual([0, 1, 2]);
          const page = await c.api.get(path("v2"), { query: { limit: "2" } });
          expect(names(page)).toEqual(["a", "b"]);
          const next = String(at(page.body, "metadata", "continue"));
          expect(names(await c.api.get(path("v2"), { query: { limit: "2", continue: next } }))).toEqual(["c"]);
          const one = await c.api.get(path("v2"), { query: { fieldSelector: "spec.length=1" } });
          expect(names(one)).toEqual(["b"]);
        });
      },
    },
    {
      name: "a watch in one version converts every event to that version, in order",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(c.api.post(path("v1"), gauge("v1", "a")));
          const watch = await c.api.watch(`${path("v2")}?watch=1`);
          await made(c.api.post(path("v1"), gauge("v1", "b", { size: "4 m" })));
          await done(c.api.patch(path("v1", "a"), "merge", { spec: { size: "5 m" } }));
          await done(c.api.delete(path("v1", "b")));
          const events = await watch.take(4);
          watch.close();
          expect(events.map((e) => [e["type"], at(e, "object", "spec", "length")])).toEqual([
            ["ADDED", 3],
            ["ADDED", 4],
            ["MODIFIED", 5],
            ["DELETED", 4],
          ]);
        });
      },
    },
    {
      name: "a Table has the columns of its version",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(c.api.post(path("v1"), gauge("v1", "a")));
          const accept = { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } };
          const { body } = await c.api.get(path("v2"), accept);
          expect(at(body, "rows", 0, "cells")).toEqual(["a", 3]);
        });
      },
    },
    {
      name: "patches and updates work on the version that is called",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(c.api.post(path("v1"), gauge("v1", "a")));
          const merged = await done(c.api.patch(path("v2", "a"), "merge", { spec: { length: 7 } }));
          expect(merged["spec"]).toMatchObject({ length: 7, unit: "m" });
          const operation = { op: "replace", path: "/spec/unit", value: "km" };
          const patched = await done(c.api.patch(path("v2", "a"), "json", [operation]));
          expect(patched["spec"]).toMatchObject({ length: 7, unit: "km" });
          const spec = { ...(patched["spec"] as Json), length: 8 };
          const updated = await done(c.api.put(path("v2", "a"), { ...patched, spec }));
          expect(at(updated, "metadata", "generation")).toBe(4);
          expect((await done(c.api.get(path("v1", "a"))))["spec"]).toMatchObject({ size: "8 km" });
        });
      },
    },
    {
      name: "a value that the called version refuses is refused, whatever the stored one says",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(c.api.post(path("v1"), gauge("v1", "a")));
          const answer = await c.api.patch(path("v2", "a"), "merge", { spec: { length: -1 } });
          refused(answer, 422, "Invalid", /spec\.length: Invalid value: -1/);
        });
      },
    },
    {
      name: "a patch that changes nothing in its version writes nothing",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          const before = await made(c.api.post(path("v1"), gauge("v1", "a")));
          const after = await done(c.api.patch(path("v2", "a"), "merge", { spec: { length: 3 } }));
          expect(at(after, "metadata", "resourceVersion")).toBe(at(before, "metadata", "resourceVersion"));
        });
      },
    },
    {
      name: "managedFields keep the version of each writer",
      async run(c) {
        await withGauges(c, async ({ group, path, gauge }) => {
          await made(apply(c.api, path("v1", "a"), gauge("v1", "a", { size: "3 m" }), "one"));
          const body = await done(apply(c.api, path("v2", "a"), gauge("v2", "a", { replicas: 2 }), "two"));
          const entries = at(body, "metadata", "managedFields") as Json[];
          expect(entries.map((e) => [e["manager"], e["apiVersion"]])).toEqual([
            ["one", `${group}/v1`],
            ["two", `${group}/v2`],
          ]);
          expect(body["spec"]).toMatchObject({ length: 3, unit: "m", replicas: 2 });
        });
      },
    },
    {
      name: "an apply in another version meets the owner of what it changes",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(apply(c.api, path("v1", "a"), gauge("v1", "a", { size: "3 m" }), "one"));
          const answer = await apply(c.api, path("v2", "a"), gauge("v2", "a", { length: 4, unit: "m" }), "two");
          refused(answer, 409, "Conflict", 'Apply failed with 1 conflict: conflict with "one": .spec.size');
          const forced = await done(apply(c.api, path("v2", "a"), gauge("v2", "a", { length: 4 }), "two", true));
          const owners = (at(forced, "metadata", "managedFields") as Json[]).map((e) => e["manager"]);
          expect(owners).toEqual(["two"]);
        });
      },
    },
    {
      name: "an applier releases, in another version, what it applied before",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(apply(c.api, path("v1", "a"), gauge("v1", "a", { size: "3 m", replicas: 4 }), "one"));
          const body = await done(apply(c.api, path("v2", "a"), gauge("v2", "a", { length: 3, unit: "m" }), "one"));
          expect(body["spec"]).not.toHaveProperty("replicas");
        });
      },
    },
    {
      name: "an applier releases, in another version, what has another name there",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          const given = gauge("v2", "a", { length: 3, unit: "m", paint: { colour: "red" } });
          await made(apply(c.api, path("v2", "a"), given, "one"));
          const body = await done(apply(c.api, path("v1", "a"), gauge("v1", "a", { size: "3 m" }), "one"));
          expect(body["spec"]).toEqual({ size: "3 m", colour: "grey" });
        });
      },
    },
    {
      name: "status and scale are written through either version",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(c.api.post(path("v1"), gauge("v1", "a")));
          const status = await done(
            c.api.patch(`${path("v2", "a")}/status`, "merge", { status: { phase: "On", replicas: 1 } }),
          );
          expect(status).toMatchObject({ spec: { length: 3 }, status: { phase: "On" } });
          const scale = await done(c.api.patch(`${path("v2", "a")}/scale`, "merge", { spec: { replicas: 5 } }));
          expect(scale).toMatchObject({ spec: { replicas: 5 }, status: { replicas: 1 } });
          expect((await done(c.api.get(path("v1", "a"))))["spec"]).toMatchObject({ size: "3 m", replicas: 5 });
        });
      },
    },
    {
      name: "dry runs are converted and leave nothing",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          const body = await made(c.api.post(`${path("v2")}?dryRun=All`, gauge("v2", "a")));
          expect(body["spec"]).toMatchObject({ length: 3, unit: "m" });
          expect((await c.api.get(path("v1", "a"))).code).toBe(404);
        });
      },
    },
    {
      name: "labels and annotations may be changed by a conversion, and no other metadata",
      async run(c) {
        await withGauges(c, async ({ path, gauge, converter }) => {
          converter.answer = (_request, response) => {
            const converted = (response["convertedObjects"] as Json[]).map((object) => ({
              ...object,
              metadata: {
                ...(object["metadata"] as Json),
                labels: { by: "webhook" },
                annotations: { "example.com/by": "webhook" },
                generation: 77,
                finalizers: ["example.com/hold"],
                creationTimestamp: "2001-01-01T00:00:00Z",
              },
            }));
            return { ...response, convertedObjects: converted };
          };
          const body = await made(c.api.post(path("v2"), gauge("v2", "a")));
          expect(body["metadata"]).toMatchObject({ labels: { by: "webhook" }, generation: 1 });
          expect(at(body, "metadata", "annotations")).toEqual({ "example.com/by": "webhook" });
          expect(body["metadata"]).not.toHaveProperty("finalizers");
          expect(at(body, "metadata", "creationTimestamp")).not.toBe("2001-01-01T00:00:00Z");
        });
      },
    },
    ...REFUSALS.map(([name, answer, message]) => ({
      name: `a conversion is refused that ${name}`,
      async run(c: Parameters<CaseGroup["cases"][number]["run"]>[0]) {
        await withGauges(c, async ({ group, path, gauge, converter }) => {
          converter.answer = answer;
          const { code, body } = await c.api.post(path("v2"), gauge("v2", "a"));
          const returned = String(body["message"]).replaceAll(group, "GROUP");
          expect({ code, returned }).toEqual({ code: 500, returned: message });
        });
      },
    })),
    {
      name: "a webhook that is away makes reads of other versions fail, not those of the stored one",
      async run(c) {
        await withGauges(c, async ({ group, path, gauge, converter }) => {
          await made(c.api.post(path("v1"), gauge("v1", "a")));
          await converter.close();
          // A request on a connection that the server kept says EOF; the next one has to dial.
          const refusal = await eventually(async () => {
            const { code, body } = await c.api.post(path("v2"), gauge("v2", "b"));
            expect(code).toBe(500);
            const message = String(body["message"]).replaceAll(group, "GROUP").replace(/:\d+/g, ":PORT");
            return message.endsWith("EOF") ? undefined : message;
          }, "a refused connection");
          expect(refusal).toBe(
            'conversion webhook for GROUP/v2, Kind=Gauge failed: Post "https://127.0.0.1:PORT/convert?timeout=30s": dial tcp 127.0.0.1:PORT: connect: connection refused',
          );
          await done(c.api.get(path("v1", "a")));
        });
      },
    },
    {
      name: "an object moves to the new storage version with its next write",
      async run(c) {
        await withGauges(c, async ({ group, path, gauge, converter }) => {
          await made(c.api.post(path("v1"), gauge("v1", "a")));
          const crd = `${DEFINITIONS}/gauges.${group}`;
          const current = await done(c.api.get(crd));
          const versions = (at(current, "spec", "versions") as Json[]).map((v) => ({
            ...v,
            storage: v["name"] === "v2",
          }));
          const changed = await done(c.api.patch(crd, "merge", { spec: { versions } }));
          expect(at(changed, "status", "storedVersions")).toEqual(["v1", "v2"]);
          const without = versions.filter((v) => at(v, "name") === "v2");
          const removed = await c.api.patch(crd, "merge", { spec: { versions: without } });
          refused(
            removed,
            422,
            "Invalid",
            /status\.storedVersions\[0\]: Invalid value: "v1": missing from spec\.versions; v1 was previously a storage version, and must remain in spec\.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status\.storedVersions/,
          );
          const before = await done(c.api.get(path("v2", "a")));
          const same = await done(c.api.put(path("v2", "a"), before));
          expect(at(same, "metadata", "resourceVersion")).not.toBe(at(before, "metadata", "resourceVersion"));
          await done(c.api.patch(`${crd}/status`, "merge", { status: { storedVersions: ["v2"] } }));
          await done(
            c.api.patch(crd, "merge", { spec: { versions: without, conversion: { strategy: "None", webhook: null } } }),
          );
          await converter.close();
          await eventually(
            async () => ((await c.api.get(path("v1", "a"))).code === 404 ? true : undefined),
            "the end of v1",
          );
          expect((await done(c.api.get(path("v2", "a"))))["spec"]).toMatchObject({ length: 3 });
        });
      },
    },
    {
      name: "an owner of another version is found by the garbage collector's rules: deletion is not stopped",
      async run(c) {
        await withGauges(c, async ({ path, gauge }) => {
          await made(
            c.api.post(
              path("v1"),
              gauge("v1", "a", { size: "1 m" }, { metadata: { finalizers: ["example.com/hold"] } }),
            ),
          );
          const dying = await done(c.api.delete(path("v2", "a")));
          expect(dying["spec"]).toMatchObject({ length: 1 });
          expect(at(dying, "metadata", "deletionTimestamp")).toEqual(expect.any(String));
          await done(c.api.patch(path("v2", "a"), "merge", { metadata: { finalizers: null } }));
          expect((await c.api.get(path("v1", "a"))).code).toBe(404);
        });
      },
    },
    ...DEFINITION_REFUSALS.map(([name, conversion, message]) => ({
      name: `a CRD is refused ${name}`,
      async run(c: Parameters<CaseGroup["cases"][number]["run"]>[0]) {
        const group = `${c.unique("refused")}.example.com`;
        const manifest = gaugeDefinition(group, { url: "https://127.0.0.1:1/convert", caBundle: "" }, { conversion });
        const answer = await c.api.post(DEFINITIONS, manifest);
        refused(
          answer,
          422,
          "Invalid",
          `CustomResourceDefinition.apiextensions.k8s.io "gauges.${group}" is invalid: ${message}`,
        );
      },
    })),
  ],
};
