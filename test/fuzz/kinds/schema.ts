import type { Generator, Step } from "../input.ts";
import { NAMESPACE, type Tree } from "../objects.ts";
import type { Random } from "../random.ts";
import { anyValue, hostileText, mutated } from "../values.ts";
import { JSON_TYPE } from "./json.ts";
import { patterns } from "./patterns.ts";

/**
 * CRDs with random and hostile schemas in a dry run, and at times created in truth, with resources that the schema is
 * held against.
 */
export const schema: Generator = (random, index) => {
  const root: Tree = { type: "object", properties: { spec: schemaOf(random, random.between(1, 5)) } };
  if (random.chance(0.3)) Object.assign(root, hostileSchema(random));
  const { spec } = (root["properties"] ?? {}) as { spec?: Tree };
  if (random.chance(0.5)) return [dryRun(mutated(random, crd(random, index, root), random.below(3)))];
  const widget = { spec: instanceOf(random, spec ?? {}, 3) };
  return tried(crd(random, index, root), index, [
    mutated(random, resource(index, widget), random.below(3)),
    JSON.stringify(resource(index, {})),
  ]);
};

export function dryRun(body: string): Step {
  return {
    method: "POST",
    path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
    headers: JSON_TYPE,
    body,
  };
}

/** Creates a CRD, sends resources of it in dry runs, and deletes it. */
export function tried(definition: Tree, index: number, bodies: readonly string[]): Step[] {
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const path = `/apis/g${index}.fuzz.example/v1/namespaces/${NAMESPACE}/things`;
  return [
    { method: "POST", path: crds, headers: JSON_TYPE, body: JSON.stringify(definition) },
    ...bodies.map((body): Step => ({
      method: "POST",
      path: `${path}?dryRun=All&fieldValidation=Strict`,
      headers: JSON_TYPE,
      body,
    })),
    { method: "DELETE", path: `${crds}/things.g${index}.fuzz.example`, isPreparation: true },
  ];
}

export function resource(index: number, rest: Tree): Tree {
  return { apiVersion: `g${index}.fuzz.example/v1`, kind: "Thing", metadata: { name: "a" }, ...rest };
}

export function crd(random: Random, index: number, openAPIV3Schema: Tree): Tree {
  const group = `g${index}.fuzz.example`;
  const version = (name: string, storage: boolean): Tree => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema },
    ...(random.chance(0.2) ? { subresources: { status: {} } } : {}),
    ...(random.chance(0.2) ? { additionalPrinterColumns: columns(random) } : {}),
    ...(random.chance(0.1) ? { selectableFields: [{ jsonPath: `.spec.${random.word()}` }] } : {}),
  });
  const versions = [version("v1", true)];
  if (random.chance(0.1)) for (let i = random.below(20); i > 0; i -= 1) versions.push(version(`v1beta${i}`, false));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
  };
}

function columns(random: Random): Tree[] {
  const path = (): string =>
    random.pick([
      ".spec",
      ".spec.a[*].b",
      "..",
      ".spec[?(@.a=='x')]",
      ".a".repeat(random.size(300)),
      "[*]".repeat(random.size(50)),
      `.spec['${"a".repeat(random.size(300))}']`,
      hostileText(random),
    ]);
  return Array.from({ length: random.between(1, 5) }, (_, i) => ({ name: `C${i}`, type: "string", jsonPath: path() }));
}

const TYPES = [
  "object",
  "object",
  "object",
  "array",
  "array",
  "string",
  "string",
  "integer",
  "number",
  "boolean",
] as const;
const FORMATS = [
  "date-time",
  "date",
  "email",
  "uuid",
  "ipv4",
  "ipv6",
  "cidr",
  "hostname",
  "uri",
  "byte",
  "duration",
  "password",
  "mac",
  "int32",
  "int64",
  "isbn",
  "?",
];

function schemaOf(random: Random, depth: number): Tree {
  const type = depth <= 0 ? random.pick(["string", "integer", "boolean"] as const) : random.pick(TYPES);
  const extra: Tree = random.chance(0.2) ? { nullable: true, description: hostileText(random).slice(0, 2000) } : {};
  const inner = (): Tree => schemaOf(random, depth - 1);
  switch (type) {
    case "object":
      return { type, ...extra, ...objectRest(random, inner) };
    case "array":
      return { type, ...extra, items: inner(), ...arrayRest(random) };
    case "string":
      return { type, ...extra, ...stringRest(random) };
    case "integer":
    case "number":
      return {
        type,
        ...extra,
        ...(random.chance(0.4) ? { minimum: 0, maximum: 10, multipleOf: random.pick([1, 3, 0.1, 1e-9]) } : {}),
      };
    case "boolean":
      return { type, ...extra, ...(random.chance(0.3) ? { default: true } : {}) };
  }
}

function objectRest(random: Random, inner: () => Tree): Tree {
  const shape = random.below(10);
  if (shape === 0) return { "x-kubernetes-preserve-unknown-fields": true };
  if (shape === 1) return { "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true };
  if (shape < 4) return { additionalProperties: inner(), ...(random.chance(0.3) ? { maxProperties: 10 } : {}) };
  const properties = Object.fromEntries(Array.from({ length: random.between(1, 4) }, (_, i) => [`p${i}`, inner()]));
  return {
    properties,
    ...(random.chance(0.3) ? { required: [...Object.keys(properties), "p99"] } : {}),
    ...(random.chance(0.2) ? { default: {} } : {}),
    ...(random.chance(0.15)
      ? {
          [random.pick(["anyOf", "allOf", "oneOf"])]: Array.from({ length: random.size(200) }, () => ({
            required: [`p${random.below(4)}`],
          })),
        }
      : {}),
    ...(random.chance(0.05) ? { not: { required: ["p0"] } } : {}),
  };
}

function arrayRest(random: Random): Tree {
  return {
    ...(random.chance(0.3)
      ? { "x-kubernetes-list-type": random.pick(["set", "atomic", "map"]), "x-kubernetes-list-map-keys": ["p0"] }
      : {}),
    ...(random.chance(0.3) ? { maxItems: random.pick([1, 10, 1000, 2 ** 40]), uniqueItems: random.chance(0.1) } : {}),
  };
}

function stringRest(random: Random): Tree {
  return {
    ...(random.chance(0.3) ? { pattern: patterns(random) } : {}),
    ...(random.chance(0.3) ? { format: random.pick(FORMATS) } : {}),
    ...(random.chance(0.2) ? { maxLength: random.pick([1, 100, 100_000]), minLength: random.below(3) } : {}),
    ...(random.chance(0.1) ? { enum: Array.from({ length: random.size(1000) }, (_, i) => `e${i}`) } : {}),
    ...(random.chance(0.1) ? { default: "d".repeat(random.size(10_000)) } : {}),
  };
}

const DEEPEST = 800;

/** Parts of schemas that are known to hurt: growth by defaults, deep nesting, wide alternatives. */
function hostileSchema(random: Random): Tree {
  const n = random.size(3000);
  // The tree is made in memory first; deeper ones are among the shapes of JSON text.
  const deep = Math.min(n, DEEPEST);
  return random.pick<() => Tree>([
    // Every element of an array gets a long default.
    () => ({
      properties: {
        spec: {
          type: "object",
          properties: {
            list: {
              type: "array",
              items: { type: "object", properties: { a: { type: "string", default: "d".repeat(n) } } },
            },
          },
        },
      },
    }),
    () => ({ properties: { spec: amplified(random, random.between(1, 8)) } }),
    () => ({ properties: { spec: nested(deep) } }),
    () => ({ properties: { spec: { type: "array", items: nested(Math.min(n, 300)) } } }),
    () => ({ properties: Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, { type: "string" }])) }),
    () => ({ allOf: Array.from({ length: n }, (_, i) => ({ anyOf: [{ required: [`a${i}`] }, { required: ["b"] }] })) }),
    () => ({
      anyOf: [
        Array.from({ length: Math.min(n, 200) }).reduce<Tree>((inner) => ({ anyOf: [inner, inner] }), {
          required: ["a"],
        }),
      ].slice(0, n > 12 ? 0 : 1),
    }),
    () => ({ not: Array.from({ length: deep }).reduce<Tree>((inner) => ({ not: inner }), { required: ["a"] }) }),
    () => ({ required: Array.from({ length: n }, (_, i) => `r${i}`) }),
    () => ({ $ref: "#/a", definitions: { a: { $ref: "#/a" } } }),
    () => ({ "x-kubernetes-validations": Array.from({ length: n }, (_, i) => ({ rule: "true", message: `m${i}` })) }),
    () => anyValue(random) as Tree,
  ])();
}

/** Each level's default is an object whose defaults are filled in twice below. */
function amplified(random: Random, levels: number): Tree {
  let inner: Tree = { type: "string", default: "d".repeat(random.size(1000)) };
  for (let level = 0; level < levels; level += 1) {
    inner = { type: "object", default: {}, properties: { a: inner, b: inner, c: inner } };
  }
  return inner;
}

function nested(depth: number): Tree {
  let inner: Tree = { type: "string" };
  for (let level = 0; level < depth; level += 1) inner = { type: "object", properties: { a: inner } };
  return inner;
}

/** A value that mostly fits the schema, in places too large. */
function instanceOf(random: Random, of: Tree, depth: number): unknown {
  if (depth < -3 || random.chance(0.03)) return anyValue(random);
  switch (of["type"]) {
    case "object": {
      const properties = Object.entries((of["properties"] ?? {}) as Record<string, Tree>).slice(0, 10);
      const known = properties.map(([name, inner]) => [name, instanceOf(random, inner, depth - 1)] as const);
      const values = (of["additionalProperties"] ?? undefined) as Tree | undefined;
      const size = depth > 1 ? random.size(1000) : random.below(3);
      const free = values
        ? Array.from({ length: size }, (_, i) => [`k${i}`, instanceOf(random, values, depth - 1)] as const)
        : [];
      return Object.fromEntries([...known, ...free]);
    }
    case "array":
      return Array.from({ length: depth > 1 ? random.size(3000) : random.below(3) }, () =>
        instanceOf(random, (of["items"] ?? {}) as Tree, depth - 2),
      );
    case "string":
      return random.pick([
        () => random.word(),
        () => hostileText(random),
        () => `${"a".repeat(random.size(10_000))}!`,
      ])();
    case "integer":
    case "number":
      return random.below(12);
    default:
      return random.chance(0.5);
  }
}
