import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiServer } from "./interface.ts";
import { at, type Json } from "./json/json.ts";
import { startApiServer } from "./start.ts";
import { eventually, rawClient, type Raw } from "./testing/client.ts";
import { WIDGETS, widget } from "./testing/widgets.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const WIDGET = "/apis/example.com/v1/namespaces/default/widgets";
let server: ApiServer;
let api: Raw;

beforeAll(async () => {
  server = await startApiServer({ crds: [WIDGETS] });
  api = await rawClient(server.management);
});
afterAll(async () => {
  api.close();
  await server.close();
});

const map = (name: string, more: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...more,
});
const names = (list: Json): unknown[] => (list["items"] as Json[]).map((i) => at(i, "metadata", "name"));

describe("a create", () => {
  test("gives identity, and refuses the same name", async () => {
    const made = await api.call("POST", MAPS, map("one"));
    expect(made.code).toBe(201);
    expect(made.body["metadata"]).toMatchObject({
      name: "one",
      namespace: "default",
      uid: expect.any(String) as string,
    });
    const again = await api.call("POST", MAPS, map("one"));
    expect(again.code).toBe(409);
    expect(again.body).toMatchObject({ reason: "AlreadyExists", message: 'configmaps "one" already exists' });
  });

  test("completes the name of an object with generateName", async () => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "gen-" } };
    const made = await api.call("POST", MAPS, body);
    expect(at(made.body, "metadata", "name")).toMatch(/^gen-[a-z0-9]{5}$/);
  });

  test("with dryRun stores nothing", async () => {
    expect((await api.call("POST", `${MAPS}?dryRun=All`, map("dry"))).code).toBe(201);
    expect((await api.call("GET", `${MAPS}/dry`)).code).toBe(404);
  });

  test("needs a namespace that is there", async () => {
    const lost = await api.call("POST", "/api/v1/namespaces/nowhere/configmaps", map("a"));
    expect(lost.body).toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' });
  });

  test("takes an object in YAML", async () => {
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: 'yes'}\n";
    const made = await api.call("POST", MAPS, yaml, { "content-type": "application/yaml" });
    expect(made.body).toMatchObject({ data: { a: "yes" } });
  });

  test("says what is wrong with each field", async () => {
    const bad = await api.call("POST", MAPS, map("Bad_Name"));
    expect(bad.body).toMatchObject({ code: 422, reason: "Invalid", details: { kind: "ConfigMap", name: "Bad_Name" } });
    expect(at(bad.body, "details", "causes")).toMatchObject([{ reason: "FieldValueInvalid", field: "metadata.name" }]);
  });

  test("finds unknown fields as fieldValidation says", async () => {
    const body = widget("unknown", { size: "small", colour: "red" });
    const strict = await api.call("POST", `${WIDGET}?fieldValidation=Strict`, body);
    expect(strict.body).toMatchObject({
      code: 400,
      message:
        'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.colour"',
    });
    const warned = await api.call("POST", WIDGET, body);
    expect(warned.headers["warning"]).toBe('299 - "unknown field \\"spec.colour\\""');
    expect(warned.body["spec"]).toEqual({ size: "small", replicas: 1 });
  });
});

describe("an update", () => {
  test("refuses an old resourceVersion, and another object's uid", async () => {
    const { body } = await api.call("POST", MAPS, map("up"));
    const next = await api.call("PUT", `${MAPS}/up`, { ...body, data: { a: "1" } });
    expect(next.code).toBe(200);
    const stale = await api.call("PUT", `${MAPS}/up`, { ...body, data: { a: "2" } });
    expect(stale.body).toMatchObject({ code: 409, reason: "Conflict" });
    const stranger = { ...next.body, metadata: { ...(next.body["metadata"] as Json), uid: "other" } };
    expect((await api.call("PUT", `${MAPS}/up`, stranger)).code).toBe(409);
  });

  test("that changes nothing is not a write", async () => {
    const { body } = await api.call("POST", WIDGET, widget("still"));
    const same = await api.call("PUT", `${WIDGET}/still`, body);
    expect(same.body).toEqual(body);
  });

  test("raises generation with the spec, not with the status", async () => {
    await api.call("POST", WIDGET, widget("gen"));
    const merge = { "content-type": "application/merge-patch+json" };
    const spec = await api.call("PATCH", `${WIDGET}/gen`, { spec: { replicas: 2 }, status: { replicas: 9 } }, merge);
    expect(at(spec.body, "metadata", "generation")).toBe(2);
    expect(spec.body["status"]).toBeUndefined();
    const status = await api.call(
      "PATCH",
      `${WIDGET}/gen/status`,
      { spec: { replicas: 5 }, status: { replicas: 2 } },
      merge,
    );
    expect(at(status.body, "metadata", "generation")).toBe(2);
    expect(status.body).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 2 } });
  });
});

describe("the endpoint for patches", () => {
  test.each([
    ["json-patch", [{ op: "add", path: "/data", value: { a: "json" } }], "json"],
    ["merge-patch", { data: { a: "merge" } }, "merge"],
    ["strategic-merge-patch", { data: { a: "strategic" } }, "strategic"],
  ])("takes a %s", async (type, patch, value) => {
    await api.call("POST", MAPS, map(`p-${type}`));
    const patched = await api.call("PATCH", `${MAPS}/p-${type}`, patch, { "content-type": `application/${type}+json` });
    expect(patched.body).toMatchObject({ data: { a: value } });
  });

  test("applies: creates, owns fields, and refuses what others own", async () => {
    const apply = (manager: string, replicas: number, force = false) =>
      api.call(
        "PATCH",
        `${WIDGET}/applied?fieldManager=${manager}&force=${force}`,
        widget("applied", { size: "big", replicas }),
        {
          "content-type": "application/apply-patch+yaml",
        },
      );
    expect((await apply("one", 2)).code).toBe(201);
    expect((await apply("one", 2)).code).toBe(200);
    const refused = await apply("two", 3);
    expect(refused.body).toMatchObject({ code: 409, reason: "Conflict" });
    expect(at(refused.body, "details", "causes")).toMatchObject([
      { reason: "FieldManagerConflict", field: ".spec.replicas" },
    ]);
    expect((await apply("two", 3, true)).body).toMatchObject({ spec: { replicas: 3 } });
  });

  test("changes replicas through autoscaling/v1 Scale", async () => {
    await api.call("POST", WIDGET, widget("scaled"));
    const scaled = await api.call(
      "PATCH",
      `${WIDGET}/scaled/scale`,
      { spec: { replicas: 7 } },
      {
        "content-type": "application/merge-patch+json",
      },
    );
    expect(scaled.body).toMatchObject({ kind: "Scale", spec: { replicas: 7 } });
    expect((await api.call("GET", `${WIDGET}/scaled`)).body).toMatchObject({ spec: { replicas: 7 } });
  });
});

describe("a list", () => {
  test("pages at one revision, and counts what is left", async () => {
    await api.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "paged" } });
    const path = "/api/v1/namespaces/paged/secrets";
    for (const name of ["a", "b", "c"])
      await api.call("POST", path, { apiVersion: "v1", kind: "Secret", metadata: { name } });
    const first = await api.call("GET", `${path}?limit=2`);
    expect(names(first.body)).toEqual(["a", "b"]);
    expect(first.body["metadata"]).toMatchObject({ remainingItemCount: 1 });
    await api.call("POST", path, { apiVersion: "v1", kind: "Secret", metadata: { name: "d" } });
    const token = String(at(first.body, "metadata", "continue"));
    const second = await api.call("GET", `${path}?limit=2&continue=${token}`);
    expect(names(second.body)).toEqual(["c"]);
    expect(at(second.body, "metadata", "resourceVersion")).toBe(at(first.body, "metadata", "resourceVersion"));
  });

  test.each([
    ["labelSelector=tier in (gold),!gone", ["sel-a"]],
    ["labelSelector=tier!=gold,tier", ["sel-b"]],
    ["fieldSelector=metadata.name=sel-b", ["sel-b"]],
  ])("chooses by %s", async (query, expected) => {
    for (const [name, tier] of [
      ["sel-a", "gold"],
      ["sel-b", "iron"],
    ] as const) {
      await api.call("POST", MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { tier } } });
    }
    const found = await api.call("GET", `${MAPS}?${encodeURI(query)}`);
    expect(names(found.body)).toEqual(expected);
  });

  test("refuses selectors that the kind does not know, and revisions still to come", async () => {
    const field = await api.call("GET", `${MAPS}?fieldSelector=data.a=b`);
    expect(field.body).toMatchObject({
      code: 400,
      message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    });
    const future = await api.call("GET", `${MAPS}?resourceVersion=999999999`);
    expect(future.body).toMatchObject({ code: 504, reason: "Timeout" });
  });

  test("answers Tables with the CRD's columns", async () => {
    await api.call("POST", WIDGET, widget("shown"));
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const shown = await api.call("GET", `${WIDGET}/shown`, undefined, { accept });
    expect(shown.body).toMatchObject({ kind: "Table", rows: [{ cells: ["shown", 1] }] });
  });
});

describe("a watch", () => {
  test("reports changes after a revision, and objects that enter and leave a selection", async () => {
    const { body } = await api.call("GET", MAPS);
    const from = String(at(body, "metadata", "resourceVersion"));
    const merge = { "content-type": "application/merge-patch+json" };
    await api.call("POST", MAPS, map("seen"));
    await api.call("PATCH", `${MAPS}/seen`, { metadata: { labels: { watched: "yes" } } }, merge);
    await api.call("PATCH", `${MAPS}/seen`, { metadata: { labels: { watched: null } } }, merge);
    await api.call("DELETE", `${MAPS}/seen`);
    const all = await api.events(`${MAPS}?watch=1&resourceVersion=${from}`, 4);
    expect(all.map((e) => e["type"])).toEqual(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]);
    const chosen = await api.events(`${MAPS}?watch=1&resourceVersion=${from}&labelSelector=watched`, 2);
    expect(chosen.map((e) => e["type"])).toEqual(["ADDED", "DELETED"]);
  });

  test("sends what exists first, then a marked bookmark, when initial events are requested", async () => {
    const path = `${WIDGET}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
    const count = ((await api.call("GET", WIDGET)).body["items"] as Json[]).length;
    const events = await api.events(path, count + 1);
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "BOOKMARK", object: { kind: "Widget" } });
    expect(at(last, "object", "metadata", "annotations")).toEqual({ "k8s.io/initial-events-end": "true" });
  });

  test("ends at timeoutSeconds with a bookmark", async () => {
    const [last] = await api.events(
      "/api/v1/namespaces/kube-public/pods?watch=1&timeoutSeconds=3&resourceVersion=1&allowWatchBookmarks=1",
      1,
    );
    expect(last?.["type"]).toBe("BOOKMARK");
  });
});

describe("a deletion", () => {
  test("waits for finalizers, and takes no new ones", async () => {
    const merge = { "content-type": "application/merge-patch+json" };
    await api.call("POST", MAPS, { ...map("held"), metadata: { name: "held", finalizers: ["example.com/hold"] } });
    const marked = await api.call("DELETE", `${MAPS}/held`);
    expect(at(marked.body, "metadata", "deletionTimestamp")).toEqual(expect.any(String));
    const more = { metadata: { finalizers: ["example.com/hold", "example.com/more"] } };
    expect((await api.call("PATCH", `${MAPS}/held`, more, merge)).code).toBe(422);
    await api.call("PATCH", `${MAPS}/held`, { metadata: { finalizers: null } }, merge);
    expect((await api.call("GET", `${MAPS}/held`)).code).toBe(404);
  });

  test("answers Success with the uid, and minds preconditions", async () => {
    const { body } = await api.call("POST", MAPS, map("gone"));
    const wrong = await api.call("DELETE", `${MAPS}/gone`, { preconditions: { uid: "other" } });
    expect(wrong.code).toBe(409);
    const right = await api.call("DELETE", `${MAPS}/gone`);
    expect(right.body).toMatchObject({ status: "Success", details: { uid: at(body, "metadata", "uid") } });
  });

  test.each([
    ["Background", true],
    ["Foreground", true],
    ["Orphan", false],
  ])("with policy %s takes dependents along: %s", async (propagationPolicy, taken) => {
    const { body } = await api.call("POST", MAPS, map(`owner-${propagationPolicy.toLowerCase()}`));
    const { name, uid } = body["metadata"] as Json;
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true }];
    const child = `child-${propagationPolicy.toLowerCase()}`;
    await api.call("POST", MAPS, { ...map(child), metadata: { name: child, ownerReferences } });
    await api.call("DELETE", `${MAPS}/${String(name)}`, { propagationPolicy });
    await eventually(async () => ((await api.call("GET", `${MAPS}/${String(name)}`)).code === 404 ? true : undefined));
    const left = await eventually(async () => {
      const found = await api.call("GET", `${MAPS}/${child}`);
      if (taken) return found.code === 404 ? found : undefined;
      return at(found.body, "metadata", "ownerReferences") === undefined ? found : undefined;
    });
    expect(left.code).toBe(taken ? 404 : 200);
  });

  test("of a namespace takes its contents along", async () => {
    await api.call("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "leaving" },
    });
    await api.call("POST", "/api/v1/namespaces/leaving/configmaps", map("inside"));
    const marked = await api.call("DELETE", "/api/v1/namespaces/leaving");
    expect(at(marked.body, "status", "phase")).toBe("Terminating");
    await eventually(async () =>
      (await api.call("GET", "/api/v1/namespaces/leaving")).code === 404 ? true : undefined,
    );
    expect((await api.call("DELETE", "/api/v1/namespaces/default")).code).toBe(403);
  });

  test("of a namespace reports in its conditions what a finalizer holds", async () => {
    const path = "/api/v1/namespaces/held";
    await api.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "held" } });
    await api.call("POST", `${path}/configmaps`, {
      ...map("kept"),
      metadata: { name: "kept", finalizers: ["example.com/keep"] },
    });
    await api.call("DELETE", path);
    const conditions = await eventually(async () => {
      const found = at((await api.call("GET", path)).body, "status", "conditions");
      return Array.isArray(found) ? (found as Json[]) : undefined;
    });
    expect(conditions.map(({ type, status }) => [type, status])).toEqual([
      ["NamespaceDeletionDiscoveryFailure", "False"],
      ["NamespaceDeletionGroupVersionParsingFailure", "False"],
      ["NamespaceDeletionContentFailure", "False"],
      ["NamespaceContentRemaining", "True"],
      ["NamespaceFinalizersRemaining", "True"],
    ]);
    expect(conditions[3]?.["message"]).toContain("configmaps. has 1 resource instances");
    expect(conditions[4]?.["message"]).toContain("example.com/keep in 1 resource instances");
    await api.call(
      "PATCH",
      `${path}/configmaps/kept`,
      { metadata: { finalizers: null } },
      {
        "content-type": "application/merge-patch+json",
      },
    );
    await eventually(async () => ((await api.call("GET", path)).code === 404 ? true : undefined));
  });

  test("of a CRD takes its objects along", async () => {
    const spec = { ...WIDGETS.spec, group: "other.example.com" };
    await api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      ...WIDGETS,
      metadata: { name: "widgets.other.example.com" },
      spec,
    });
    const path = "/apis/other.example.com/v1/namespaces/default/widgets";
    expect((await api.call("POST", path, { ...widget("w"), apiVersion: "other.example.com/v1" })).code).toBe(201);
    await api.call("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.other.example.com");
    await eventually(async () => ((await api.call("GET", path)).code === 404 ? true : undefined));
  });
});
