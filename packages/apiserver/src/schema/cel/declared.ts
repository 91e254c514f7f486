import { isDeepStrictEqual } from "node:util";
import type { SchemaNode } from "../node.ts";
import { createBaseEnvironment } from "./environment.ts";
import type { CelEnvironment } from "./cel-environment.ts";
import { escapeName } from "./values.ts";

/** What a schema declares to rules: the type of a value, and how large it may become. */
export interface Declared {
  /** As the CEL library names it. */
  readonly type: string;
  readonly fields?: ReadonlyMap<string, Declared>;
  /** Of lists and maps. */
  readonly element?: Declared;
  /** The fewest bytes that it takes in a request. */
  readonly minBytes: number;
  /** The most bytes of a string, the most entries of a list or map; 0 where size does not matter. */
  readonly most: number;
}

/** The largest request that is read, in bytes. */
export const REQUEST = 3 * 1024 * 1024;

const TEXT: Declared = { type: "string", minBytes: 2, most: REQUEST - 2 };

/** What rules see of a value, and undefined where rules see nothing of it. Source: KEP-2876. */
export function declare(node: SchemaNode, isObjectRoot: boolean): Declared | undefined {
  return declareAs(node, isObjectRoot || node.embedded, "Self");
}

function declareAs(node: SchemaNode, isObjectRoot: boolean, name: string): Declared | undefined {
  if (node.intOrString) return { type: "dyn", minBytes: 1, most: longest(node, REQUEST - 2) };
  switch (node.type) {
    case "array":
      return declareList(node, name);
    case "object":
      return declareObject(node, isObjectRoot, name);
    case "string":
      return declareText(node);
    case "boolean":
      return { type: "bool", minBytes: 4, most: 0 };
    case "number":
      return { type: "double", minBytes: 1, most: 0 };
    case "integer":
      return { type: "int", minBytes: 1, most: 0 };
    default:
      return undefined;
  }
}

function declareList(node: SchemaNode, name: string): Declared | undefined {
  const { items } = node;
  const element = items && declareAs(items, items.embedded, `${name}.@item`);
  if (!element) return undefined;
  const most = node.maxItems ?? Math.floor((REQUEST - 2) / (element.minBytes + 1));
  return { type: `list<${element.type}>`, element, minBytes: 2, most: Math.max(0, most) };
}

function declareObject(node: SchemaNode, isObjectRoot: boolean, name: string): Declared | undefined {
  const { additional } = node;
  if (typeof additional === "object" && !isObjectRoot) {
    const element = declareAs(additional, additional.embedded, `${name}.@value`);
    if (!element) return undefined;
    const most = node.maxProperties ?? Math.floor((REQUEST - 2) / (element.minBytes + 6));
    return { type: `map<string, ${element.type}>`, element, minBytes: 2, most: Math.max(0, most) };
  }
  const fields = new Map<string, Declared>();
  let minBytes = 2;
  for (const [property, child] of node.properties) {
    const declared = declareAs(child, child.embedded, `${name}.${property}`);
    if (!declared) continue;
    fields.set(escapeName(property), declared);
    if (node.required.includes(property) && child.default === undefined) {
      minBytes += property.length + declared.minBytes + 4;
    }
  }
  if (isObjectRoot) {
    for (const field of ["kind", "apiVersion"]) fields.set(field, TEXT);
    const metadata = new Map([
      ["name", TEXT],
      ["generateName", TEXT],
    ]);
    fields.set("metadata", { type: `${name}.metadata`, fields: metadata, minBytes: 2, most: 0 });
  }
  return { type: name, fields, minBytes, most: 0 };
}

function declareText(node: SchemaNode): Declared {
  switch (node.format) {
    case "byte":
      return { type: "bytes", minBytes: 2, most: node.maxLength ?? REQUEST - 2 };
    case "duration":
      return { type: "google.protobuf.Duration", minBytes: 3, most: 32 };
    case "date":
      return { type: "google.protobuf.Timestamp", minBytes: 12, most: 12 };
    case "date-time":
      return { type: "google.protobuf.Timestamp", minBytes: 21, most: 32 };
    default: {
      const values = node.enum?.map((v) => (typeof v === "string" ? Buffer.byteLength(v) : 0));
      return { ...TEXT, most: longest(node, values && values.length > 0 ? Math.max(...values) : TEXT.most) };
    }
  }
}

/** Lengths count characters, of which each may take four bytes. */
function longest(node: SchemaNode, otherwise: number): number {
  return node.maxLength === undefined ? otherwise : Math.max(0, node.maxLength) * 4;
}

/** An environment in which `self` and `oldSelf` have the types that the schema declares. */
export function typedEnvironment(self: Declared, optionalOldSelf: boolean): CelEnvironment {
  const environment = createBaseEnvironment();
  register(environment, self, new Set());
  const type = nameOf(self.type);
  return environment
    .registerVariable("self", type)
    .registerVariable("oldSelf", optionalOldSelf ? `optional<${type}>` : type);
}

function register(environment: CelEnvironment, declared: Declared, known: Set<string>): void {
  if (declared.element) register(environment, declared.element, known);
  if (!declared.fields || known.has(declared.type)) return;
  known.add(declared.type);
  for (const child of declared.fields.values()) register(environment, child, known);
  const fields = [...declared.fields].map(([name, child]) => [name, nameOf(child.type)] as const);
  const type = nameOf(declared.type);
  environment.registerType(type, { fields: Object.fromEntries(fields) });
  environment.registerOperator(`${type} == ${type}`, (one: unknown, other: unknown) => isDeepStrictEqual(one, other));
}

/** Names of types are paths; the library wants identifiers. */
function nameOf(type: string): string {
  return type.replaceAll(/Self[^<>, ]*/g, (name) => name.replaceAll(/[^\w.]/g, "_"));
}
