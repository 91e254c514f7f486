import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAXIMUM_DEPTH } from "./bounds.ts";
import type { ApiServer } from "./interface.ts";
import { startApiServer } from "./start.ts";
import { rawClient, type Raw } from "./testing/client.ts";

const PATHS = "/apis/levels.example.com/v1/namespaces/default/nests";
const TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;
/** Levels below `spec`: what managedFields add to an object fits below the limit, so that it can be written back. */
const LEVELS = MAXIMUM_DEPTH - 10;

function nested(levels: number, leaf: unknown): unknown {
  let value = leaf;
  for (let i = 0; i < levels; i += 1) value = i % 2 === 0 ? { a: value } : [value];
  return value;
}

/** A schema of as many levels as a body may have. */
function schemaOf(levels: number): object {
  let schema: object = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  for (let i = 0; i < levels; i += 1) schema = { type: "object", properties: { a: schema } };
  return schema;
}

describe("objects of as many levels as bodies may have", () => {
  let server: ApiServer;
  let raw: Raw;
  beforeAll(async () => {
    const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { s: schemaOf(200) } };
    const crd = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "nests.levels.example.com" },
      spec: {
        group: "levels.example.com",
        names: { plural: "nests", kind: "Nest" },
        scope: "Namespaced",
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
          },
        ],
      },
    };
    server = await startApiServer({ crds: [crd] });
    raw = await rawClient(server.management);
  });
  afterAll(async () => {
    raw.close();
    await server.close();
  });

  const nest = (name: string, value: unknown) => ({
    apiVersion: "levels.example.com/v1",
    kind: "Nest",
    metadata: { name },
    spec: { x: value },
  });

  it("are created, read, replaced, patched and applied", async () => {
    const made = await raw.call("POST", PATHS, nest("a", nested(LEVELS, 1)));
    expect(made.code, JSON.stringify(made.body).slice(0, 300)).toBe(201);
    const read = await raw.call("GET", `${PATHS}/a`);
    expect((await raw.call("PUT", `${PATHS}/a`, read.body)).code).toBe(200);
    const patch = (type: keyof typeof TYPES, body: unknown) =>
      raw.call("PATCH", `${PATHS}/a?fieldManager=x${type === "apply" ? "&force=true" : ""}`, body, {
        "content-type": TYPES[type],
      });
    expect((await patch("merge", { spec: { x: nested(LEVELS, 2) } })).code).toBe(200);
    const added = await patch("json", [{ op: "add", path: "/spec/y", value: nested(LEVELS - 5, 3) }]);
    expect(added.code, JSON.stringify(added.body).slice(0, 500)).toBe(200);
    expect((await patch("apply", nest("a", nested(LEVELS, 4)))).code).toBe(200);
    const yaml = await raw.call("GET", `${PATHS}/a`, undefined, { accept: "application/yaml" });
    expect(yaml.code).toBe(200);
  });

  it("in a schema of hundreds of levels are validated", async () => {
    let value: unknown = {};
    for (let i = 0; i < 200; i += 1) value = { a: value };
    const made = await raw.call("POST", PATHS, { ...nest("b", 1), spec: { s: value } });
    expect(made.code, JSON.stringify(made.body).slice(0, 300)).toBe(201);
  });

  it("have their unknown fields reported in built-in kinds", async () => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" }, x: nested(LEVELS, 1) };
    const path = "/api/v1/namespaces/default/configmaps";
    expect((await raw.call("POST", `${path}?fieldValidation=Strict`, body)).code).toBe(400);
    expect((await raw.call("POST", path, body)).code).toBe(201);
    const refused = await raw.call("POST", path, { ...body, data: nested(LEVELS, 1) });
    expect(refused.code).toBe(400);
  });
});
