import type { Json } from "../interface.ts";
import { Choices } from "./choices.ts";
import { rulesFor } from "./rules.ts";
import { rootSchema } from "./schemas.ts";

type Change = (c: Choices, definition: Json) => void;

/** A random CRD in a group: mostly a good one with one or two things odd about it. */
export function randomDefinition(number: number, group: string): Json {
  const c = Choices.seeded(number, 4000);
  const definition = goodDefinition(c, group);
  for (const change of c.several(0, 2, () => c.pick(CHANGES as [Change, ...Change[]]))) change(c, definition);
  return definition;
}

function goodDefinition(c: Choices, group: string): Json {
  const names = c.chance(30) ? ["v1", "v1beta1"] : ["v1"];
  const versions = names.map((name, i) => ({
    name,
    served: true,
    storage: i === 0,
    schema: { openAPIV3Schema: rootSchema(c) },
    ...c.fields(30, {
      subresources: () => c.fields(60, { status: () => ({}), scale: () => scaleOf(c) }),
      additionalPrinterColumns: () => c.several(0, 2, () => columnOf(c)),
      selectableFields: () =>
        c.several(0, 2, () => ({ jsonPath: c.pick([".spec.alpha", ".spec.beta", ".spec.alpha.beta"]) })),
    }),
  }));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
  };
}

function scaleOf(c: Choices): Json {
  return {
    specReplicasPath: c.pick([".spec.alpha", ".spec.replicas", "spec.replicas", ".status.replicas", ".spec[0]", ""]),
    statusReplicasPath: c.pick([".status.alpha", ".status.replicas", ".spec.replicas", ".replicas"]),
    ...c.fields(30, {
      labelSelectorPath: () => c.pick([".status.selector", ".spec.selector", ".metadata.labels", "x"]),
    }),
  };
}

function columnOf(c: Choices): Json {
  return {
    name: c.pick(["Alpha", "", "Beta"]),
    type: c.pick(["string", "integer", "date", "text", "number", "boolean"]),
    jsonPath: c.pick([
      ".spec.alpha",
      ".spec['alpha']",
      ".metadata.name",
      "spec.alpha",
      "",
      ".spec.alpha[",
      '.spec.list[?(@.type=="a")].b',
    ]),
    ...c.fields(25, {
      priority: () => c.pick([0, 1, -1]),
      format: () => c.pick(["int32", "date-time", "odd"]),
      description: () => "d",
    }),
  };
}

const at = (object: Json | undefined | null, name: string): Json => (object?.[name] ?? {}) as Json;

const version = (c: Choices, definition: Json): Json => {
  const versions = (at(definition, "spec")["versions"] ?? []) as Json[];
  return versions[c.below(versions.length)] ?? {};
};

/** Any schema within the schema of one version. */
function schemaIn(c: Choices, definition: Json): Json {
  const root = at(at(version(c, definition), "schema"), "openAPIV3Schema");
  const all = schemasIn(root);
  return all[c.below(all.length)] ?? root;
}

function schemasIn(schema: Json): Json[] {
  const {
    properties = {},
    items,
    additionalProperties,
  } = schema as { properties?: Record<string, Json>; items?: Json; additionalProperties?: Json };
  const inner = [...Object.values(properties), items, additionalProperties].filter(
    (s) => typeof s === "object" && s !== null,
  );
  return [schema, ...inner.flatMap((s) => schemasIn(s as Json))];
}

/** Members that schemas have, with values that are right in some of them. */
const MEMBERS: readonly [string, ...unknown[]][] = [
  ["type", "text", "object", "array", "string", "integer", ""],
  ["nullable", true],
  ["default", 1, "a", {}, [], null, true, { alpha: 1 }, { extra: 1 }, ["a", "a"]],
  ["enum", ["a"], [1, "a"], [], [null]],
  ["format", "date-time", "odd", "int32", "ipv4"],
  ["pattern", "(", "^a", "a{1,2000}", "\\p{L}+", "(?=a)"],
  ["minimum", 1, 5.5],
  ["maxLength", -1, 3],
  ["minItems", 1],
  ["maxProperties", 2],
  ["uniqueItems", true, false],
  ["required", ["nosuch"], []],
  ["properties", {}, { gamma: { type: "string" } }, { gamma: {} }],
  ["additionalProperties", true, false, { type: "string" }, {}],
  ["items", { type: "string" }, {}, [{ type: "string" }]],
  ["allOf", [{ minLength: 1 }], [{ type: "string" }], [{ properties: { nosuch: { minLength: 1 } } }]],
  [
    "anyOf",
    [{ required: ["alpha"] }],
    [{ default: 1 }],
    [{ type: "integer" }, { type: "string" }],
    [{ "x-kubernetes-list-type": "set" }],
  ],
  ["oneOf", [{ nullable: true }], [{ additionalProperties: { type: "string" } }]],
  ["not", { enum: ["a"] }, { description: "d" }, { items: { type: "string" } }],
  ["x-kubernetes-preserve-unknown-fields", true, false],
  ["x-kubernetes-int-or-string", true],
  ["x-kubernetes-embedded-resource", true],
  ["x-kubernetes-list-type", "map", "set", "atomic", "odd", ""],
  ["x-kubernetes-list-map-keys", ["name"], ["nosuch"], ["name", "name"], []],
  ["x-kubernetes-map-type", "atomic", "granular", "odd"],
  ["description", "d"],
  ["title", "t"],
  ["example", 1],
  ["externalDocs", { url: "https://example.com" }],
  ["id", "a"],
  ["definitions", { a: { type: "string" } }],
  ["dependencies", { a: ["b"] }],
  ["extra", 1],
];

const RULES: readonly Json[] = [
  { rule: "true" },
  { rule: "" },
  { rule: "self.nosuch == 1" },
  { rule: "self" },
  { rule: "1 + 'a' == 2" },
  { rule: "has(self.alpha)" },
  { rule: "self == oldSelf", optionalOldSelf: true },
  { rule: "oldSelf.hasValue()", optionalOldSelf: true },
  { rule: "true", optionalOldSelf: true },
  { rule: "true", message: "" },
  { rule: "true", message: " " },
  { rule: "true", message: "a\nb" },
  { rule: "true", reason: "FieldValueOdd" },
  { rule: "true", reason: "FieldValueDuplicate" },
  { rule: "true", fieldPath: ".alpha" },
  { rule: "true", fieldPath: ".nosuch" },
  { rule: "true", fieldPath: "alpha" },
  { rule: "true", fieldPath: ".alpha[0]" },
  { rule: "true", messageExpression: "1" },
  { rule: "true", messageExpression: "'a' + string(1)" },
  { rule: "true", messageExpression: "self.nosuch" },
  { rule: "true", messageExpression: " " },
  { rule: "self.all(x, self.all(y, x == y))" },
  { rule: "size(self) > 0" },
  { rule: "self.exists(k, k == 'a')" },
  { rule: "self.alpha.startsWith('a')" },
];

const NAMES: readonly [string, ...unknown[]][] = [
  ["plural", "Things", "others", "", "thing"],
  ["singular", "thing", "Thing", "a b", ""],
  ["kind", "thing", "Thing2", "a-b", "", "ThingList"],
  ["listKind", "ThingList", "Thing", "things", "1"],
  ["shortNames", ["th"], ["Th"], ["a b"], [""], ["th", "th"]],
  ["categories", ["all"], ["All"], ["a b"]],
];

const SPECS: readonly [string, ...unknown[]][] = [
  ["scope", "Cluster", "Odd", ""],
  ["group", "Odd Group", "", "other.example.com", "short"],
  ["preserveUnknownFields", true, false],
  [
    "conversion",
    { strategy: "None" },
    { strategy: "Webhook" },
    { strategy: "Odd" },
    { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } },
  ],
  [
    "conversion",
    ...[["v1"], ["odd"], [], ["v1", "v1"]].map((reviews) => ({
      strategy: "Webhook",
      webhook: { conversionReviewVersions: reviews, clientConfig: { url: "https://example.com/a?b" } },
    })),
  ],
  ["versions", []],
  ["extra", 1],
];

const VERSIONS: readonly [string, ...unknown[]][] = [
  ["name", "V1", "", "v1", "v1beta1", "a.b"],
  ["served", false],
  ["storage", true, false],
  ["schema", null, {}, { openAPIV3Schema: null }, { openAPIV3Schema: {} }],
  ["deprecated", true],
  ["deprecationWarning", "old", "", "x".repeat(300)],
  ["subresources", {}, { status: {} }, { scale: {} }, { status: { a: 1 } }],
  [
    "selectableFields",
    [{ jsonPath: ".spec.nosuch" }],
    [{ jsonPath: "" }],
    [{ jsonPath: ".metadata.name" }],
    [{ jsonPath: ".spec.alpha" }, { jsonPath: ".spec.alpha" }],
    [{ jsonPath: ".spec[0]" }],
  ],
];

function set(c: Choices, holder: Json, members: readonly [string, ...unknown[]][]): void {
  const [name, ...values] = members[c.below(members.length)] ?? ["extra"];
  if (c.chance(15)) delete holder[name];
  else holder[name] = structuredClone(values[c.below(values.length)]);
}

const CHANGES: readonly Change[] = [
  (c, d) => set(c, schemaIn(c, d), MEMBERS),
  (c, d) => set(c, schemaIn(c, d), MEMBERS),
  (c, d) => set(c, schemaIn(c, d), MEMBERS),
  (c, d) => {
    schemaIn(c, d)["x-kubernetes-validations"] = c.several(1, 2, () => ({ ...RULES[c.below(RULES.length)] }));
  },
  (c, d) => {
    const schema = schemaIn(c, d);
    schema["x-kubernetes-validations"] = rulesFor(c, schema);
  },
  (c, d) => set(c, version(c, d), VERSIONS),
  (c, d) => set(c, at(at(d, "spec"), "names"), NAMES),
  (c, d) => set(c, at(d, "spec"), SPECS),
  (c, d) => {
    const { group } = at(d, "spec");
    at(d, "metadata")["name"] = c.pick(["things", `other.${String(group)}`, "Odd"]);
  },
];
