import type { AdmissionRequest, AdmissionRules } from "@causeway/kubernetes";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startApiServer } from "../start.ts";
import type { ApiServer } from "../interface.ts";
import { at, type Json } from "../json/json.ts";
import { rawClient, type Raw } from "../testing/client.ts";

const GROUP = "sizes.example.com";
const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const version = (name: string, storage: boolean): Json => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } },
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
});
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `sizes.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "sizes", kind: "Size" },
    versions: [version("v2", true), version("v1", false)],
  },
};

let asked: AdmissionRequest[];
/** False: as before there were defaults. */
let hasDefaults = true;
/** No more than three, in the words of v2, and none is deleted that is kept. */
const rules: AdmissionRules = {
  version: "v2",
  defaults: {
    writes: { [GROUP]: ["sizes"] },
    of: (object) =>
      hasDefaults && at(object, "spec", "unit") === "metre" ? [{ path: ["spec", "unit"], value: "m" }] : [],
  },
  writes: { [GROUP]: ["sizes", "sizes/scale"] },
  deletions: { [GROUP]: ["sizes"] },
  refusals(request) {
    asked.push(request);
    const { operation, object, previous } = request;
    if (operation === "DELETE") return Promise.resolve(at(previous, "spec", "kept") === true ? ["it is kept"] : []);
    return Promise.resolve(
      Number(at(object, "spec", "replicas")) > 3 ? ["spec.replicas: Invalid value: at most 3"] : [],
    );
  },
};

let server: ApiServer;
let api: Raw;
const path = (rest = "", v = "v2"): string => `/apis/${GROUP}/${v}/namespaces/default/sizes${rest}`;
const size = (spec: Json, v = "v2"): Json => ({
  apiVersion: `${GROUP}/${v}`,
  kind: "Size",
  metadata: { name: "a" },
  spec,
});

beforeEach(async () => {
  asked = [];
  hasDefaults = true;
  server = await startApiServer({ crds: [DEFINITION], rules: [rules] });
  api = await rawClient(server.management);
});
afterEach(async () => {
  api.close();
  await server.close();
});

it("the admission of our own resources refuses what the rules refuse, in every version, with the reason, and stores what they allow", async () => {
  const refused = await api.call("POST", path("", "v1"), size({ replicas: 4 }, "v1"));
  expect(refused.code).toBe(422);
  expect(refused.body["message"]).toBe(`sizes.${GROUP} "a" is invalid: spec.replicas: Invalid value: at most 3`);
  expect(asked[0]?.object?.apiVersion).toBe(`${GROUP}/v2`);
  expect((await api.call("POST", path(), size({ replicas: 3 }))).code).toBe(201);
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a", namespace: "default" } };
  expect((await api.call("PUT", path("/a/scale"), { ...scale, spec: { replicas: 5 } })).code).toBe(422);
  expect(asked.at(-1)?.kind).toBe("Scale");
  expect((await api.call("PUT", path("/a/scale"), { ...scale, spec: { replicas: 2 } })).code).toBe(200);
});

it("the admission of our own resources asks about a change of the spec only, and says what was there", async () => {
  await api.call("POST", path(), size({ replicas: 1 }));
  const before = asked.length;
  const labelled = await api.call("GET", path("/a"));
  const metadata = { ...(labelled.body["metadata"] as Json), labels: { a: "b" } };
  expect((await api.call("PUT", path("/a"), { ...labelled.body, metadata })).code).toBe(200);
  expect(asked).toHaveLength(before);
  const now = await api.call("GET", path("/a"));
  expect((await api.call("PUT", path("/a"), { ...now.body, spec: { replicas: 2 } })).code).toBe(200);
  expect(at(asked.at(-1)?.previous, "spec")).toEqual({ replicas: 1 });
});

it("the admission of our own resources refuses a deletion with 403", async () => {
  await api.call("POST", path(), size({ kept: true }));
  const refused = await api.call("DELETE", path("/a"));
  expect([refused.code, refused.body["reason"]]).toEqual([403, "Forbidden"]);
  expect(refused.body["message"]).toContain("it is kept");
});

it("the admission of our own resources stores defaults of each version before rules judge, for create, apply and patch", async () => {
  expect((await api.call("POST", path("", "v1"), size({ unit: "metre" }, "v1"))).body["spec"]).toEqual({ unit: "m" });
  expect(at(asked[0]?.object, "spec", "unit")).toBe("m");
  const patch = { spec: { unit: "metre", replicas: 2 } };
  const patched = await api.call("PATCH", path("/a"), patch, { "content-type": "application/merge-patch+json" });
  expect(patched.body["spec"]).toEqual({ unit: "m", replicas: 2 });
  const apply = { "content-type": "application/apply-patch+yaml" };
  const applied = await api.call(
    "PATCH",
    path("/b?fieldManager=x"),
    { ...size({ unit: "metre" }), metadata: { name: "b" } },
    apply,
  );
  expect([applied.code, applied.body["spec"]]).toEqual([201, { unit: "m" }]);
});

it("the admission of our own resources adds no default when only metadata changes", async () => {
  hasDefaults = false;
  await api.call("POST", path(), size({ unit: "metre" }));
  hasDefaults = true;
  const merge = { "content-type": "application/merge-patch+json" };
  const labelled = await api.call("PATCH", path("/a"), { metadata: { labels: { team: "a" } } }, merge);
  expect([labelled.code, labelled.body["spec"]]).toEqual([200, { unit: "metre" }]);
  expect(asked).toHaveLength(1);
});
