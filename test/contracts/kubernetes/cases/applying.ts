import { expect } from "vitest";
import type { CaseGroup, Json } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { apply, at, configMap, done, made, refused } from "./shorthands.ts";

function managers(body: Json): unknown[] {
  return (at(body, "metadata", "managedFields") as Json[]).map((m) => [
    m["manager"],
    m["operation"],
    m["subresource"] ?? "",
  ]);
}

function fieldsOf(body: Json, manager: string): unknown {
  return (at(body, "metadata", "managedFields") as Json[]).find((m) => m["manager"] === manager)?.["fieldsV1"];
}

export const applying: CaseGroup = {
  title: "server-side apply",
  cases: [
    {
      name: "an apply creates with 201, changes with 200 and records the owned fields",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        const body = await made(apply(api, path, configMap("a", { data: { a: "1" } }), "one"));
        expect(managers(body)).toEqual([["one", "Apply", ""]]);
        expect(fieldsOf(body, "one")).toEqual({ "f:data": { "f:a": {} } });
        await done(apply(api, path, configMap("a", { data: { a: "2" } }), "one"));
      },
    },
    {
      name: "the same apply again changes nothing",
      async run(c) {
        const body = await made(apply(c.api, widgets(c, "a"), widget("a"), "one"));
        const again = await done(apply(c.api, widgets(c, "a"), widget("a"), "one"));
        expect(at(again, "metadata", "resourceVersion")).toBe(at(body, "metadata", "resourceVersion"));
      },
    },
    {
      name: "an apply that removes the last finalizer of an object with a deletionTimestamp returns the resourceVersion of the deletion",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        const metadata = { name: "a", finalizers: ["example.com/hold"] };
        await made(apply(api, path, configMap("a", { metadata }), "one"));
        const deleted = await done(api.delete(path));
        const last = await done(apply(api, path, configMap("a"), "one"));
        expect(at(last, "metadata", "resourceVersion")).toBe(at(deleted, "metadata", "resourceVersion"));
        expect((await api.get(path)).code).toBe(404);
      },
    },
    {
      name: "an apply of a field that another manager owns is a conflict with its name",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1", b: "1" } }), "one"));
        const answer = await apply(api, path, configMap("a", { data: { a: "2" } }), "two");
        refused(answer, 409, "Conflict", 'Apply failed with 1 conflict: conflict with "one": .data.a');
        expect(at(answer.body, "details")).toEqual({
          causes: [{ reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.a" }],
        });
      },
    },
    {
      name: "conflicts with several managers are all named",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1" } }), "one"));
        await done(apply(api, path, configMap("a", { data: { b: "1" } }), "two"));
        const answer = await apply(api, path, configMap("a", { data: { a: "2", b: "2" } }), "three");
        refused(
          answer,
          409,
          "Conflict",
          'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "two":\n- .data.b',
        );
      },
    },
    {
      name: "force takes what others own",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1", b: "1" } }), "one"));
        const body = await done(apply(api, path, configMap("a", { data: { a: "2" } }), "two", true));
        expect(body["data"]).toEqual({ a: "2", b: "1" });
        expect(fieldsOf(body, "one")).toEqual({ "f:data": { "f:b": {} } });
        expect(fieldsOf(body, "two")).toEqual({ "f:data": { "f:a": {} } });
      },
    },
    {
      name: "equal values are owned by both",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1" } }), "one"));
        const body = await done(apply(api, path, configMap("a", { data: { a: "1" } }), "two"));
        expect(fieldsOf(body, "one")).toEqual({ "f:data": { "f:a": {} } });
        expect(fieldsOf(body, "two")).toEqual({ "f:data": { "f:a": {} } });
      },
    },
    {
      name: "a field that a manager no longer applies is removed unless another manager owns it",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1", b: "1", c: "1" } }), "one"));
        await done(apply(api, path, configMap("a", { data: { b: "1" } }), "two"));
        const body = await done(apply(api, path, configMap("a", { data: { c: "1" } }), "one"));
        expect(body["data"]).toEqual({ b: "1", c: "1" });
      },
    },
    {
      name: "an update takes ownership from an apply, and the apply then conflicts",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1" } }), "one"));
        await done(api.patch(`${path}?fieldManager=hand`, "merge", { data: { a: "2" } }));
        const answer = await apply(api, path, configMap("a", { data: { a: "1" } }), "one");
        refused(answer, 409, "Conflict", /^Apply failed with 1 conflict: conflict with "hand" using v1: \.data\.a$/);
      },
    },
    {
      name: "lists of type map are merged by their keys",
      async run(c) {
        const path = widgets(c, "a");
        await made(apply(c.api, path, widget("a", { parts: [{ name: "x", kind: "one" }] }), "one"));
        const body = await done(apply(c.api, path, widget("a", { parts: [{ name: "y" }] }), "two"));
        expect(at(body, "spec", "parts")).toEqual([
          { name: "x", kind: "one", count: 7 },
          { name: "y", count: 7 },
        ]);
        const fewer = await done(apply(c.api, path, widget("a"), "one"));
        expect(at(fewer, "spec", "parts")).toEqual([{ name: "y", count: 7 }]);
      },
    },
    {
      name: "lists of type set are merged by their values, atomic lists and maps are replaced as a whole",
      async run(c) {
        const path = widgets(c, "a");
        await made(apply(c.api, path, widget("a", { tags: ["x"], steps: ["1"], whole: { a: "1" } }), "one"));
        const body = await done(apply(c.api, path, widget("a", { tags: ["y"] }), "two"));
        expect(at(body, "spec", "tags")).toEqual(["x", "y"]);
        const answer = await apply(c.api, path, widget("a", { steps: ["2"], whole: { b: "2" } }), "three");
        expect(answer.body["message"]).toBe(
          'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.steps\n- .spec.whole',
        );
      },
    },
    {
      name: "an item of a map list without its key is refused",
      async run(c) {
        const answer = await apply(c.api, widgets(c, "a"), widget("a", { parts: [{ kind: "x" }] }), "one");
        expect(answer.code).toBe(500);
        expect(answer.body["message"]).toBe(
          'failed to create typed patch object (/a; contract.example.com/v1, Kind=Widget): .spec.parts: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
        );
      },
    },
    {
      name: "a field that a built-in kind does not have is refused, however fields are validated",
      async run({ api, core }) {
        const answer = await apply(api, core("configmaps", "a"), configMap("a", { date: {} }), "one");
        expect({ code: answer.code, message: answer.body["message"] }).toEqual({
          code: 500,
          message: "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .date: field not declared in schema",
        });
      },
    },
    {
      name: "status is applied to its subresource, and spec there is not minded",
      async run(c) {
        const path = widgets(c, "a");
        await made(apply(c.api, path, widget("a", {}, { status: { phase: "ignored" } }), "one"));
        const body = await done(
          apply(c.api, `${path}/status`, { ...widget("a", { size: "big" }), status: { phase: "On" } }, "status"),
        );
        expect(body).toMatchObject({ spec: { size: "small" }, status: { phase: "On" } });
        expect(managers(body)).toEqual([
          ["one", "Apply", ""],
          ["status", "Apply", "status"],
        ]);
        expect(fieldsOf(body, "status")).toEqual({ "f:status": { "f:phase": {} } });
      },
    },
    {
      name: "containers of pods are merged by name, ports by number and protocol",
      async run({ api, apis }) {
        const deployment = (containers: Json[]): Json => ({
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "d" },
          spec: {
            selector: { matchLabels: { a: "b" } },
            template: { metadata: { labels: { a: "b" } }, spec: { containers } },
          },
        });
        const path = apis("apps/v1", "deployments", "d");
        await made(apply(api, path, deployment([{ name: "x", image: "i", ports: [{ containerPort: 80 }] }]), "one"));
        const more = deployment([
          { name: "x", ports: [{ containerPort: 81 }] },
          { name: "y", image: "j" },
        ]);
        const body = await done(apply(api, path, more, "two"));
        const containers = at(body, "spec", "template", "spec", "containers") as Json[];
        expect(containers.map((c) => c["name"])).toEqual(["x", "y"]);
        expect(((containers[0] ?? {})["ports"] as Json[]).map((p) => p["containerPort"])).toEqual([80, 81]);
      },
    },
    {
      name: "an apply in dry run stores nothing",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        expect((await apply(api, `${path}?dryRun=All`, configMap("a"), "one")).code).toBe(201);
        expect((await api.get(path)).code).toBe(404);
      },
    },
    {
      name: "an apply for a resourceVersion of what is not there creates it",
      async run({ api, core }) {
        const answer = await apply(
          api,
          core("configmaps", "a"),
          configMap("a", { metadata: { resourceVersion: "1" } }),
          "one",
        );
        expect(answer.code).toBe(201);
      },
    },
    {
      name: "managedFields emptied by an update are forgotten: the next apply meets one who was before",
      async run({ api, core }) {
        const path = core("configmaps", "a");
        await made(apply(api, path, configMap("a", { data: { a: "1" } }), "one"));
        const body = await done(api.patch(path, "merge", { metadata: { managedFields: [{}] } }));
        expect(at(body, "metadata", "managedFields")).toBeUndefined();
        refused(
          await apply(api, path, configMap("a", { data: { a: "2" } }), "two"),
          409,
          "Conflict",
          'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
        );
      },
    },
  ],
};
