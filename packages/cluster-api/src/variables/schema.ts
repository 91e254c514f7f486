import { isRecord } from "@causeway/foundation";

/** The part of OpenAPI v3 that schemas of variables may use. */
export interface VariableSchema {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly items?: VariableSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, VariableSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: VariableSchema | boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly VariableSchema[];
  readonly anyOf?: readonly VariableSchema[];
  readonly oneOf?: readonly VariableSchema[];
  readonly not?: VariableSchema;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-validations"?: readonly unknown[];
}

/** Schemas come from users who may write a ClusterClass: how deep one may be, and how many schemas it may have. */
export const SCHEMA_DEPTH = 32;
/** Schemas in one definition, the outermost included. */
export const SCHEMA_SIZE = 2_000;

/** The schemas directly inside a schema, with the place of each. */
export function partsOf(schema: VariableSchema): readonly (readonly [string, unknown])[] {
  const lists = (["allOf", "anyOf", "oneOf"] as const).flatMap((name) =>
    (Array.isArray(schema[name]) ? schema[name] : []).map((part, at) => [`${name}[${at}]`, part] as const),
  );
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  return [
    ...properties.map(([name, part]) => [`properties[${name}]`, part] as const),
    ...(schema.items === undefined ? [] : [["items", schema.items] as const]),
    ...(isRecord(schema.additionalProperties) ? [["additionalProperties", schema.additionalProperties] as const] : []),
    ...(schema.not === undefined ? [] : [["not", schema.not] as const]),
    ...lists,
  ];
}

/** A value with the defaults of its schema in all places that are missing. The value given is not changed. */
export function withDefaults(value: unknown, schema: VariableSchema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((item) => withDefaults(item, items)) : value;
  }
  if (!isRecord(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const named = Object.entries(value).map(([name, inner]): [string, unknown] => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const part = own ?? (isRecord(additionalProperties) ? additionalProperties : undefined);
    return [name, part ? withDefaults(inner, part) : inner];
  });
  const missing = Object.entries(properties).flatMap(([name, part]): [string, unknown][] =>
    Object.hasOwn(value, name) || part.default === undefined ? [] : [[name, withDefaults(part.default, part)]],
  );
  return Object.fromEntries([...named, ...missing]);
}
