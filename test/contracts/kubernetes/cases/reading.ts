import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { widget, widgets } from "./custom-resource.ts";
import { at, items, made, names, refused } from "./shorthands.ts";

/** ConfigMaps would not do: a namespace may have one from the start, with the cluster's root certificate. */
function secret(name: string, { metadata, ...rest }: Json = {}): Json {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, ...(metadata as Json | undefined) }, ...rest };
}

async function fill({ api, core }: Context, count: number, more: (i: number) => Json = () => ({})): Promise<void> {
  for (let i = 0; i < count; i += 1) await made(api.post(core("secrets"), secret(`m${i}`, more(i))));
}

function revision(body: Json): string {
  return String(at(body, "metadata", "resourceVersion"));
}

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

export const reading: CaseGroup = {
  title: "reading",
  cases: [
    {
      name: "items of a list of a built-in kind do not repeat apiVersion and kind, custom ones do",
      async run(c) {
        await fill(c, 1);
        const { body } = await c.api.get(c.core("secrets"));
        expect(body).toMatchObject({ kind: "SecretList", apiVersion: "v1" });
        expect(revision(body)).toMatch(/^\d+$/);
        expect(items({ body } as never)[0]).not.toHaveProperty("kind");
        await made(c.api.post(widgets(c), widget("a")));
        const custom = await c.api.get(widgets(c));
        expect(custom.body["kind"]).toBe("WidgetList");
        expect(items(custom)[0]).toMatchObject({ kind: "Widget" });
      },
    },
    {
      name: "pages hold limit items, say how many remain, and are of one revision",
      async run(c) {
        await fill(c, 5);
        const first = await c.api.get(`${c.core("secrets")}?limit=2`);
        expect(names(first)).toEqual(["m0", "m1"]);
        expect(first.body["metadata"]).toMatchObject({ remainingItemCount: 3, continue: expect.any(String) as string });
        await made(c.api.post(c.core("secrets"), secret("m1a")));
        const token = encodeURIComponent(String(at(first.body, "metadata", "continue")));
        const second = await c.api.get(`${c.core("secrets")}?limit=2&continue=${token}`);
        expect(names(second)).toEqual(["m2", "m3"]);
        expect(revision(second.body)).toBe(revision(first.body));
        const rest = encodeURIComponent(String(at(second.body, "metadata", "continue")));
        const last = await c.api.get(`${c.core("secrets")}?limit=2&continue=${rest}`);
        expect(names(last)).toEqual(["m4"]);
        expect(at(last.body, "metadata", "continue")).toBeUndefined();
      },
    },
    {
      name: "a continue with a resourceVersion is refused",
      async run(c) {
        await fill(c, 2);
        const first = await c.api.get(`${c.core("secrets")}?limit=1`);
        const token = encodeURIComponent(String(at(first.body, "metadata", "continue")));
        const answer = await c.api.get(`${c.core("secrets")}?limit=1&continue=${token}&resourceVersion=1`);
        expect(answer.code).toBe(400);
      },
    },
    {
      name: "a list at an exact revision shows what was",
      async run(c) {
        await fill(c, 1);
        const then = revision((await c.api.get(c.core("secrets"))).body);
        await made(c.api.post(c.core("secrets"), secret("later")));
        const query = `resourceVersion=${then}&resourceVersionMatch=Exact`;
        const answer = await c.api.get(`${c.core("secrets")}?${query}`);
        expect(names(answer)).toEqual(["m0"]);
        expect(revision(answer.body)).toBe(then);
      },
    },
    {
      name: "a list of resourceVersion 0, and one not older than a revision, return the current objects",
      async run(c) {
        await fill(c, 1);
        const now = revision((await c.api.get(c.core("secrets"))).body);
        const query = `resourceVersion=${now}&resourceVersionMatch=NotOlderThan`;
        expect(names(await c.api.get(`${c.core("secrets")}?${query}`))).toEqual(["m0"]);
        expect((await c.api.get(`${c.core("secrets")}?resourceVersion=0`)).code).toBe(200);
      },
    },
    {
      name: "a revision that is still to come is 504 Timeout, to be tried again",
      async run(c) {
        const answer = await c.api.get(`${c.core("secrets")}?resourceVersion=99999999`);
        refused(answer, 504, "Timeout", /^Timeout: Too large resource version: 99999999, current: \d+$/);
        expect(at(answer.body, "details")).toMatchObject({
          causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
          retryAfterSeconds: 1,
        });
      },
    },
    ...(
      [
        ["env=a", ["m0", "m3"]],
        ["env==a", ["m0", "m3"]],
        ["env!=a", ["m1", "m2", "m4"]],
        ["env in (a,b)", ["m0", "m1", "m3", "m4"]],
        ["env notin (a)", ["m1", "m2", "m4"]],
        ["env", ["m0", "m1", "m2", "m3", "m4"]],
        ["!env", []],
        ["env=a,number=3", ["m3"]],
        ["number>2", ["m3", "m4"]],
        ["number<1", ["m0"]],
        ["env=", []],
      ] as const
    ).map(([selector, wanted]) => ({
      name: `a list by label selector ${selector}`,
      async run(c: Context) {
        const env = ["a", "b", "c"];
        await fill(c, 5, (i) => ({ metadata: { labels: { env: env[i % 3], number: String(i) } } }));
        expect(names(await c.api.get(`${c.core("secrets")}?labelSelector=${encodeURIComponent(selector)}`))).toEqual(
          wanted,
        );
      },
    })),
    ...(
      [
        ["metadata.name=m1", ["m1"]],
        ["metadata.name!=m1", ["m0", "m2"]],
        ["metadata.name=m1,metadata.name=m2", []],
      ] as const
    ).map(([selector, wanted]) => ({
      name: `a list by field selector ${selector}`,
      async run(c: Context) {
        await fill(c, 3);
        expect(names(await c.api.get(`${c.core("secrets")}?fieldSelector=${encodeURIComponent(selector)}`))).toEqual(
          wanted,
        );
      },
    })),
    {
      name: "selectable fields of a custom kind select",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a")));
        await made(c.api.post(widgets(c), widget("b", { size: "big" })));
        expect(names(await c.api.get(`${widgets(c)}?fieldSelector=spec.size%3Dbig`))).toEqual(["b"]);
        refused(
          await c.api.get(`${widgets(c)}?fieldSelector=spec.replicas%3D1`),
          400,
          "BadRequest",
          "field label not supported: spec.replicas",
        );
      },
    },
    {
      name: "all namespaces are listed in order of namespace and name",
      async run(c) {
        await fill(c, 1);
        const answer = await c.api.get("/api/v1/secrets");
        const keys = items(answer).map(
          (i) => `${String(at(i, "metadata", "namespace"))}/${String(at(i, "metadata", "name"))}`,
        );
        expect(keys).toContain(`${c.namespace}/m0`);
        expect(keys).toEqual(keys.toSorted());
      },
    },
    {
      name: "metadata alone comes as PartialObjectMetadata",
      async run(c) {
        await fill(c, 1, () => ({ data: { a: "YQ==" } }));
        const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;
        const list = await c.api.get(c.core("secrets"), { headers: { accept: as("PartialObjectMetadataList") } });
        expect(list.body).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" });
        expect(items(list)[0]).not.toHaveProperty("data");
        const one = await c.api.get(c.core("secrets", "m0"), { headers: { accept: as("PartialObjectMetadata") } });
        expect(one.body).toMatchObject({
          kind: "PartialObjectMetadata",
          apiVersion: "meta.k8s.io/v1",
          metadata: { name: "m0" },
        });
        expect(one.body).not.toHaveProperty("data");
      },
    },
    {
      name: "YAML is returned on request, and is accepted",
      async run(c) {
        const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 'y'\ndata:\n  a: 'yes'\n";
        const sent = await c.api.post(c.core("configmaps"), text, { headers: { "content-type": "application/yaml" } });
        expect(sent.code).toBe(201);
        const read = await c.api.get(c.core("configmaps", "y"), { headers: { accept: "application/yaml" } });
        expect(read.headers["content-type"]).toBe("application/yaml");
        expect(read.text).toContain("kind: ConfigMap");
      },
    },
    {
      name: "a Table of a custom kind has the CRD's columns, brackets and filters read",
      async run(c) {
        const metadata = { labels: { "example.com/team": "blue" } };
        await made(c.api.post(widgets(c), widget("a", { steps: ["x", "y"] }, { metadata })));
        const status = { status: { conditions: [{ type: "Ready", status: "True" }] } };
        await c.api.patch(`${widgets(c, "a")}/status`, "merge", status);
        const { body } = await c.api.get(widgets(c), { headers: { accept: TABLE } });
        expect(body).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1" });
        const columns = body["columnDefinitions"] as Json[];
        expect(columns.map((d) => [d["name"], d["type"], d["priority"]])).toEqual([
          ["Name", "string", 0],
          ["Size", "string", 0],
          ["Replicas", "integer", 0],
          ["Team", "string", 0],
          ["Ready", "string", 1],
          ["First", "string", 1],
          ["Steps", "string", 1],
          ["Age", "date", 0],
        ]);
        const cells = at(body, "rows", 0, "cells") as unknown[];
        expect(cells.slice(0, 7)).toEqual(["a", "small", 1, "blue", "True", "x", '["x","y"]']);
        expect(cells[7]).toMatch(/^\d+s$/);
        expect(at(body, "rows", 0, "object", "kind")).toBe("PartialObjectMetadata");
      },
    },
    {
      name: "cells of what is not there are null",
      async run(c) {
        await made(c.api.post(widgets(c), widget("a")));
        const { body } = await c.api.get(widgets(c), { headers: { accept: TABLE } });
        expect((at(body, "rows", 0, "cells") as unknown[]).slice(3, 7)).toEqual([null, null, null, null]);
      },
    },
    ...(
      [
        ["configmaps", ["Name", "Data", "Age"]],
        ["secrets", ["Name", "Type", "Data", "Age"]],
        ["services", ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"]],
        ["serviceaccounts", ["Name", "Secrets", "Age"]],
        ["pods", ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"]],
        [
          "events",
          ["Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen", "Count", "Name"],
        ],
      ] as const
    ).map(([plural, wanted]) => ({
      name: `a Table of ${plural} has kubectl's columns`,
      async run(c: Context) {
        const { body } = await c.api.get(c.core(plural), { headers: { accept: TABLE } });
        expect((body["columnDefinitions"] as Json[]).map((d) => d["name"])).toEqual(wanted);
      },
    })),
    {
      name: "a kind without columns of its own has a Table of names and ages",
      async run(c) {
        const { body } = await c.api.get(c.core("limitranges"), { headers: { accept: TABLE } });
        expect((body["columnDefinitions"] as Json[]).map((d) => d["name"])).toEqual(["Name", "Created At"]);
      },
    },
  ],
};
