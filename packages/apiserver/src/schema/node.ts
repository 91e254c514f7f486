import { extentOf } from "../bounds.ts";
import { isList, isObject, type Json, type JsonObject, own } from "../json/values.ts";

/** One entry of x-kubernetes-validations. */
export interface CelRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** A property that gets a value where an object leaves it out. */
export interface Defaulted {
  readonly name: string;
  readonly value: Json;
  readonly bytes: number;
}

/** One level of a structural schema, read from wire form once. Absent members mean no restriction. */
export interface SchemaNode {
  readonly type?: string;
  readonly format?: string;
  readonly nullable: boolean;
  readonly intOrString: boolean;
  readonly preserveUnknown: boolean;
  readonly embedded: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** The schema of every member that `properties` does not name; true takes anything. */
  readonly additional?: SchemaNode | true;
  readonly items?: SchemaNode;
  readonly required: readonly string[];
  readonly default?: Json;
  /** Properties that have a default, and about how many bytes each default has. */
  readonly defaults: readonly Defaulted[];
  readonly enum?: readonly Json[];
  /** The strings among the values of `enum`. */
  readonly texts: ReadonlySet<string>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf: readonly SchemaNode[];
  readonly anyOf: readonly SchemaNode[];
  readonly oneOf: readonly SchemaNode[];
  readonly not?: SchemaNode;
  readonly listType?: "atomic" | "set" | "map";
  readonly listKeys: readonly string[];
  readonly mapAtomic: boolean;
  readonly rules: readonly CelRule[];
}

/**
 * Reads a JSONSchemaProps of apiextensions.k8s.io/v1. Members of the wrong type are treated as absent: `validateSchema`
 * reports them.
 */
export function readNode(wire: unknown): SchemaNode {
  const schema: JsonObject = isObject(wire) ? wire : {};
  const properties = readProperties(own(schema, "properties"));
  return {
    nullable: own(schema, "nullable") === true,
    intOrString: own(schema, "x-kubernetes-int-or-string") === true,
    preserveUnknown: own(schema, "x-kubernetes-preserve-unknown-fields") === true,
    embedded: own(schema, "x-kubernetes-embedded-resource") === true,
    exclusiveMinimum: own(schema, "exclusiveMinimum") === true,
    exclusiveMaximum: own(schema, "exclusiveMaximum") === true,
    mapAtomic: own(schema, "x-kubernetes-map-type") === "atomic",
    properties,
    defaults: [...properties].flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [{ name, value, bytes: extentOf(value).bytes }],
    ),
    required: strings(own(schema, "required")),
    listKeys: strings(own(schema, "x-kubernetes-list-map-keys")),
    allOf: nodes(own(schema, "allOf")),
    anyOf: nodes(own(schema, "anyOf")),
    oneOf: nodes(own(schema, "oneOf")),
    rules: readRules(own(schema, "x-kubernetes-validations")),
    texts: new Set(strings(own(schema, "enum"))),
    ...children(schema),
    ...numbers(schema),
    ...texts(schema),
    ...(Object.hasOwn(schema, "default") ? { default: schema["default"] ?? null } : {}),
    ...(isList(own(schema, "enum")) ? { enum: own(schema, "enum") as readonly Json[] } : {}),
  };
}

function readProperties(wire: Json | undefined): ReadonlyMap<string, SchemaNode> {
  return new Map(isObject(wire) ? Object.entries(wire).map(([name, schema]) => [name, readNode(schema)]) : []);
}

function children(schema: JsonObject): Pick<SchemaNode, "additional" | "items" | "not"> {
  const additional = own(schema, "additionalProperties");
  const items = own(schema, "items");
  const not = own(schema, "not");
  return {
    ...(additional === true ? { additional } : isObject(additional) ? { additional: readNode(additional) } : {}),
    ...(isObject(items) ? { items: readNode(items) } : {}),
    ...(isObject(not) ? { not: readNode(not) } : {}),
  };
}

const NUMBERS = [
  "minimum",
  "maximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const;

function numbers(schema: JsonObject): Partial<Record<(typeof NUMBERS)[number], number>> {
  return Object.fromEntries(
    NUMBERS.flatMap((name) => {
      const value = own(schema, name);
      return typeof value === "number" ? [[name, value]] : [];
    }),
  );
}

function texts(schema: JsonObject): Pick<SchemaNode, "type" | "format" | "pattern" | "listType"> {
  const text = (name: string): string | undefined => {
    const value = own(schema, name);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const [type, format, pattern] = [text("type"), text("format"), text("pattern")];
  const listType = text("x-kubernetes-list-type");
  return {
    ...(type === undefined ? {} : { type }),
    ...(format === undefined ? {} : { format }),
    ...(pattern === undefined ? {} : { pattern }),
    ...(listType === "atomic" || listType === "set" || listType === "map" ? { listType } : {}),
  };
}

function readRules(wire: Json | undefined): CelRule[] {
  if (!isList(wire)) return [];
  return wire.filter(isObject).map((rule) => {
    const text = (name: string): string | undefined => {
      const value = own(rule, name);
      return typeof value === "string" && value !== "" ? value : undefined;
    };
    const optional = Object.fromEntries(
      ["message", "messageExpression", "reason", "fieldPath"].flatMap((name) => {
        const value = text(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const optionalOldSelf = own(rule, "optionalOldSelf") === true;
    return { rule: text("rule") ?? "", ...optional, ...(optionalOldSelf ? { optionalOldSelf } : {}) };
  });
}

function nodes(wire: Json | undefined): SchemaNode[] {
  return isList(wire) ? wire.map(readNode) : [];
}

function strings(wire: Json | undefined): string[] {
  return isList(wire) ? wire.filter((item) => typeof item === "string") : [];
}
