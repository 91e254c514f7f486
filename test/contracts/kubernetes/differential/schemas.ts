import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";
import { rulesFor } from "./rules.ts";

const NAMES = ["alpha", "beta", "gamma", "delta"] as const;
const FORMATS = [
  "date-time",
  "byte",
  "uuid",
  "ipv4",
  "duration",
  "email",
  "date",
  "uri",
  "hostname",
  "ipv6",
  "cidr",
] as const;

/** The root of a custom kind: spec and status, each of random structure. */
export function rootSchema(c: Choices): Json {
  return {
    type: "object",
    properties: {
      spec: withRules(c, { ...object(c, 3), ...(c.chance(15) ? { default: {} } : {}) }),
      status: { ...object(c, 2), ...(c.chance(20) ? { "x-kubernetes-preserve-unknown-fields": true } : {}) },
    },
    ...(c.chance(15) ? { required: ["spec"] } : {}),
  };
}

function node(c: Choices, depth: number): Json {
  const made =
    depth <= 0 ? scalar(c) : c.pick([scalar, scalar, object, array, map, scalar, free, array, embedded])(c, depth);
  const nullable = c.chance(12) ? { nullable: true } : {};
  return withRules(c, { ...made, ...nullable });
}

function withRules(c: Choices, schema: Json): Json {
  if (!c.chance(15)) return schema;
  const rules = rulesFor(c, schema);
  return rules.length === 0 ? schema : { ...schema, "x-kubernetes-validations": rules };
}

export function scalar(c: Choices): Json {
  switch (c.below(7)) {
    case 0:
      return string(c);
    case 1:
      return integer(c);
    case 2:
      return { type: "boolean", ...(c.chance(20) ? { default: true } : {}) };
    case 3:
      return { "x-kubernetes-int-or-string": true, ...(c.chance(20) ? { default: c.pick<unknown>([1, "50%"]) } : {}) };
    case 4:
      return { type: "number", ...c.fields(20, { minimum: () => 0.5, maximum: () => 10.25, default: () => 1.5 }) };
    case 5:
      return { type: "string", format: c.pick(FORMATS as unknown as [string, ...string[]]) };
    default:
      return string(c);
  }
}

function string(c: Choices): Json {
  if (c.chance(25)) {
    return { type: "string", enum: ["a", "b", "c"], ...(c.chance(25) ? { default: "b" } : {}) };
  }
  return {
    type: "string",
    ...c.fields(20, {
      minLength: () => c.pick([1, 0, 2]),
      maxLength: () => c.pick([3, 10]),
      pattern: () => c.pick(["^[a-z]*$", "^a", "[0-9]"]),
      ...(c.chance(40) ? { default: () => "a" } : {}),
    }),
  };
}

function integer(c: Choices): Json {
  return {
    type: "integer",
    ...c.fields(20, {
      format: () => c.pick(["int32", "int64"]),
      minimum: () => c.pick([0, 1]),
      maximum: () => c.pick([10, 3]),
      multipleOf: () => 2,
      ...(c.chance(60) ? { default: () => 2 } : {}),
    }),
    ...(c.chance(8) ? { maximum: 10, exclusiveMaximum: true } : {}),
  };
}

function object(c: Choices, depth: number): Json {
  const names = NAMES.filter((_, i) => i === 0 || c.chance(65));
  const properties = Object.fromEntries(names.map((name) => [name, node(c, depth - 1)]));
  return {
    type: "object",
    properties,
    ...(c.chance(15) ? { required: [names.at(-1)] } : {}),
    ...(c.chance(8) ? { "x-kubernetes-map-type": c.pick(["atomic", "granular"]) } : {}),
    ...(c.chance(8) ? { "x-kubernetes-preserve-unknown-fields": true } : {}),
    ...(c.chance(5) ? { oneOf: [{ required: ["alpha"] }, { required: ["beta"] }] } : {}),
    ...(depth < 3 && c.chance(12) ? { default: {} } : {}),
  };
}

function map(c: Choices, depth: number): Json {
  return {
    type: "object",
    additionalProperties: node(c, depth - 1),
    ...c.fields(15, { maxProperties: () => 3, minProperties: () => 1 }),
    ...(c.chance(10) ? { "x-kubernetes-map-type": c.pick(["atomic", "granular"]) } : {}),
  };
}

function array(c: Choices, depth: number): Json {
  const bounds = c.fields(20, { maxItems: () => c.pick([3, 2]), minItems: () => 1 });
  switch (c.below(4)) {
    case 0:
      return { type: "array", items: node(c, depth - 1), ...bounds };
    case 1:
      return { type: "array", items: plain(c), "x-kubernetes-list-type": "set", ...bounds };
    case 2:
      return keyed(c, depth, bounds);
    default:
      return { type: "array", items: node(c, depth - 1), "x-kubernetes-list-type": "atomic", ...bounds };
  }
}

function plain(c: Choices): Json {
  return c.pick<Json>([{ type: "string" }, { type: "integer" }, { type: "string", maxLength: 5 }, { type: "boolean" }]);
}

/** A list of type map, by one key or two; the second may have a default. */
function keyed(c: Choices, depth: number, bounds: Json): Json {
  const two = c.chance(30);
  const properties: Json = { name: { type: "string" } };
  if (two) properties["port"] = { type: "integer", ...(c.chance(60) ? { default: 80 } : {}) };
  for (const name of NAMES.slice(0, 2)) if (c.chance(60)) properties[name] = node(c, depth - 1);
  const hasDefault = !two || (properties["port"] as Json)["default"] !== undefined;
  return {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": two ? ["name", "port"] : ["name"],
    items: { type: "object", properties, required: hasDefault ? ["name"] : ["name", "port"] },
    ...bounds,
  };
}

function free(c: Choices): Json {
  return { ...(c.chance(60) ? { type: "object" } : {}), "x-kubernetes-preserve-unknown-fields": true };
}

function embedded(c: Choices): Json {
  if (!c.chance(40)) return string(c);
  return { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true };
}
