import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import { startApiServer } from "../start.ts";
import type { ApiServer } from "../interface.ts";
import { at, fields, record, text, type Json } from "../json/json.ts";
import { rawClient, type Raw } from "../testing/client.ts";
import { renaming } from "../contract/converter.ts";
import { createForms } from "../contract/forms.ts";
import { registeredConverter } from "./registered.ts";
import type { KindConversion } from "../contract/converter.ts";
import { compileSchema } from "../schema/index.ts";

const GROUP = "lengths.example.com";
const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const version = (name: string, storage: boolean, spec: Json): Json => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec, status: open } } },
  subresources: { status: {} },
});
const INCHES = { type: "object", properties: { inches: { type: "number" } } };
const METRES = { type: "object", properties: { metres: { type: "number" }, unit: { type: "string", default: "m" } } };
const FEET = { type: "object", properties: { feet: { type: "number" } } };
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `lengths.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Cluster",
    names: { plural: "lengths", kind: "Length" },
    versions: [version("v2", true, METRES), version("v1", false, INCHES), version("v1beta1", false, FEET)],
  },
};

function respelled(object: KubeObject, spec: Json): KubeObject {
  return { ...object, spec } as KubeObject;
}

function spoke(name: string, perMetre: number): KindConversion["spokes"][string] {
  return {
    toHub: (object) => respelled(object, { metres: Number(at(object, "spec", name)) / perMetre, unit: "m" }),
    fromHub: (object) => respelled(object, { [name]: Number(at(object, "spec", "metres")) * perMetre }),
  };
}

const LENGTHS: KindConversion = {
  group: GROUP,
  kind: "Length",
  hub: "v2",
  spokes: { v1: spoke("inches", 32), v1beta1: spoke("feet", 4) },
};

function length(apiVersion: string, spec: Json, more: Json = {}): KubeObject {
  return { apiVersion: `${GROUP}/${apiVersion}`, kind: "Length", metadata: { name: "a" }, spec, ...more } as KubeObject;
}

describe("a conversion of this process", () => {
  let server: ApiServer;
  let api: Raw;
  const path = (v: string, rest = "/a"): string => `/apis/${GROUP}/${v}/lengths${rest}`;

  beforeEach(async () => {
    server = await startApiServer({ crds: [DEFINITION], conversions: [LENGTHS] });
    api = await rawClient(server.management);
  });
  afterEach(async () => {
    api.close();
    await server.close();
  });

  it("shows an object in every version, through the hub", async () => {
    expect((await api.call("POST", path("v1", ""), length("v1", { inches: 64 }))).code).toBe(201);
    expect((await api.call("GET", path("v2"))).body["spec"]).toEqual({ metres: 2, unit: "m" });
    expect((await api.call("GET", path("v1beta1"))).body["spec"]).toEqual({ feet: 8 });
    const listed = (await api.call("GET", path("v1beta1", ""))).body["items"] as Json[];
    expect(listed.map((i) => i["spec"])).toEqual([{ feet: 8 }]);
  });

  it("takes a merge patch in any version", async () => {
    await api.call("POST", path("v2", ""), length("v2", { metres: 1 }));
    const type = { "content-type": "application/merge-patch+json" };
    const patched = await api.call("PATCH", path("v1beta1"), { spec: { feet: 12 } }, type);
    expect(patched.body["spec"]).toEqual({ feet: 12 });
    expect((await api.call("GET", path("v2"))).body["spec"]).toMatchObject({ metres: 3 });
  });

  it("reports the owners of fields to an applier of another version", async () => {
    const apply = { "content-type": "application/apply-patch+yaml" };
    await api.call("PATCH", `${path("v1")}?fieldManager=one`, length("v1", { inches: 64 }), apply);
    const refused = await api.call("PATCH", `${path("v2")}?fieldManager=two`, length("v2", { metres: 3 }), apply);
    expect(refused.body["message"]).toBe('Apply failed with 1 conflict: conflict with "one": .spec.inches');
  });

  it("is not called by other clusters, whose kinds are their own", async () => {
    const other = await rawClient(await server.ensureCluster("other"));
    await other.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION);
    await other.call("POST", path("v2", ""), length("v2", { metres: 1 }));
    expect((await other.call("GET", path("v1"))).body["spec"]).toEqual({});
    other.close();
  });

  it("says which conversion fails", async () => {
    const broken = registeredConverter({ ...LENGTHS, spokes: { v1: { toHub: () => fail("no"), fromHub: (o) => o } } });
    expect(() => broken.convert([length("v1", {})], `${GROUP}/v2`)).toThrow(
      "Length cannot be converted to lengths.example.com/v2: no",
    );
    expect(() => broken.convert([length("v3", {})], `${GROUP}/v2`)).toThrow(
      "no conversion of this version is registered",
    );
  });

  it("may change labels and annotations, and no other metadata", () => {
    const change = (metadata: Json): unknown => {
      const toHub = (o: KubeObject): KubeObject => ({ ...o, metadata: { ...o.metadata, ...metadata } });
      const converter = registeredConverter({ ...LENGTHS, spokes: { v1: { toHub, fromHub: (o) => o } } });
      const [made] = converter.convert(
        [length("v1", {}, { metadata: { name: "a", uid: "1" } })],
        `${GROUP}/v2`,
      ) as KubeObject[];
      return made?.metadata;
    };
    expect(change({ labels: { a: "b" }, generation: 7 })).toEqual({ name: "a", uid: "1", labels: { a: "b" } });
    expect(() => change({ name: "b" })).toThrow("must have the same name: a != b");
    expect(() => change({ labels: { a: 1 } })).toThrow(
      "metadata.labels[a] must be a string, but is int64 in converted object",
    );
  });
});

function fail(message: string): never {
  throw new Error(message);
}

describe("forms of stored objects", () => {
  const schemas = new Map([
    [`${GROUP}/v1`, () => compileSchema({ type: "object", properties: { spec: INCHES } })],
    [`${GROUP}/v2`, () => compileSchema({ type: "object", properties: { spec: METRES } })],
  ]);
  const forms = createForms({ storedAs: `${GROUP}/v2`, schemas, since: 5, converter: registeredConverter(LENGTHS) });
  const stored = (metres: number, revision: number): KubeObject =>
    length("v2", { metres }, { metadata: { name: "a", resourceVersion: String(revision) } });

  it("hands on the very objects that need nothing", () => {
    const objects = [stored(1, 6), stored(2, 7)];
    expect(forms.seen(objects, `${GROUP}/v2`)).toBe(objects);
  });

  it("brings what is older than its CRD up to date", () => {
    const [seen] = forms.seen(
      [{ ...stored(1, 5), spec: { metres: 1, old: true } } as KubeObject],
      `${GROUP}/v2`,
    ) as KubeObject[];
    expect(fields(seen!)["spec"]).toEqual({ metres: 1, unit: "m" });
  });

  it("converts each object once for all who read it", () => {
    const object = stored(1, 6);
    const first = forms.seen([object], `${GROUP}/v1`) as KubeObject[];
    expect((forms.seen([object], `${GROUP}/v1`) as KubeObject[])[0]).toBe(first[0]);
  });

  it("refuses versions that the CRD does not have", () => {
    const odd = length("v9", {}, { metadata: { name: "a" } });
    expect(() => forms.seen([odd], `${GROUP}/v2`)).toThrow(
      `request to convert CR from an invalid group/version: ${GROUP}/v9`,
    );
  });

  it("comes back from the store as it went in, whatever it is", () => {
    const converter = registeredConverter(LENGTHS);
    const both = createForms({ storedAs: `${GROUP}/v2`, schemas, since: 0, converter });
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), (inches) => {
        const object = length("v1", { inches }, { metadata: { name: "a", labels: { a: "b" } } });
        const kept = both.stored(object as never) as KubeObject;
        const [seen] = both.seen([kept], `${GROUP}/v1`) as KubeObject[];
        expect(seen).toEqual(object);
      }),
    );
  });

  it("changes nothing but the name of the version where that is all that differs", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (spec) => {
        const [renamed] = renaming.convert([length("v1", record(spec))], `${GROUP}/v2`) as KubeObject[];
        expect(renamed).toEqual(length("v2", record(spec)));
        expect(text(renamed?.apiVersion)).toBe(`${GROUP}/v2`);
      }),
    );
  });
});
