import { isRecord } from "../json/json.ts";

/** How a member of an OpenAPI v2 document is written: a plain value, or a message with members of its own. */
type Form = "text" | "texts" | "bool" | "whole" | "real" | "any" | "anys" | Write;
type Write = (value: unknown) => Buffer[];
type Members = Readonly<Record<string, readonly [number: number, form: Form]>>;

/** The media type that clients ask for, and, since "@" may not be in one, the type of the answer. */
export const OPENAPI_PROTOBUF = {
  asked: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  answered: "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
} as const;

/**
 * An OpenAPI v2 document in the protobuf form that kubectl and client-go read. Members that the form does not know are
 * left out. Source: the message definitions of github.com/google/gnostic-models, openapiv2/OpenAPIv2.proto.
 */
export function writeOpenApiV2(document: unknown): Buffer {
  return Buffer.concat(members(document, DOCUMENT));
}

const schema: Write = (value) => members(value, SCHEMA, 31);
const namedSchemas: Write = (value) => named(value, 1, schema);

const SCHEMA: Members = {
  $ref: [1, "text"],
  format: [2, "text"],
  title: [3, "text"],
  description: [4, "text"],
  default: [5, "any"],
  multipleOf: [6, "real"],
  maximum: [7, "real"],
  exclusiveMaximum: [8, "bool"],
  minimum: [9, "real"],
  exclusiveMinimum: [10, "bool"],
  maxLength: [11, "whole"],
  minLength: [12, "whole"],
  pattern: [13, "text"],
  maxItems: [14, "whole"],
  minItems: [15, "whole"],
  uniqueItems: [16, "bool"],
  maxProperties: [17, "whole"],
  minProperties: [18, "whole"],
  required: [19, "texts"],
  enum: [20, "anys"],
  additionalProperties: [21, (v) => (typeof v === "boolean" ? field(2, "bool", v) : field(1, schema, v))],
  type: [22, (v) => field(1, "texts", [v].flat())],
  items: [23, (v) => field(1, schema, v)],
  allOf: [24, (v) => schema(v)],
  properties: [25, namedSchemas],
  example: [30, "any"],
};

const QUERY: Members = {
  required: [1, "bool"],
  in: [2, "text"],
  description: [3, "text"],
  name: [4, "text"],
  type: [6, "text"],
  uniqueItems: [20, "bool"],
};

const OPERATION: Members = {
  description: [3, "text"],
  operationId: [5, "text"],
  produces: [6, "texts"],
  consumes: [7, "texts"],
  // A parameter is one that is not a body, and that of a query.
  parameters: [8, (v) => field(1, (p) => field(2, (q) => field(3, (r) => members(r, QUERY), q), p), v)],
  responses: [9, (v) => named(v, 1, (r) => field(1, (s) => members(s, { description: [1, "text"] }), r))],
};

const operation: Write = (value) => members(value, OPERATION, 13);

const PATH: Members = {
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  patch: [8, operation],
};

const DOCUMENT: Members = {
  swagger: [1, "text"],
  info: [2, (v) => members(v, { title: [1, "text"], version: [2, "text"] })],
  paths: [8, (v) => named(v, 2, (path) => members(path, PATH))],
  definitions: [9, namedSchemas],
};

/** The members of a record; extensions ("x-…") go into the field of that number. */
function members(value: unknown, known: Members, extensions?: number): Buffer[] {
  const out: Buffer[] = [];
  for (const [name, member] of Object.entries(isRecord(value) ? value : {})) {
    const [number, form] = known[name] ?? [];
    if (number !== undefined && form !== undefined) {
      // Lists of messages are repeated fields.
      const each = typeof form === "function" && Array.isArray(member) && name !== "type" ? member : [member];
      for (const one of each) out.push(...field(number, form, one));
    } else if (extensions !== undefined && name.startsWith("x-")) {
      out.push(...entry(extensions, name, field(2, "any", member)));
    }
  }
  return out;
}

/** A map: each entry a message of a name and a value, in the repeated field of that number. */
function named(value: unknown, number: number, write: Write): Buffer[] {
  const entries = Object.entries(isRecord(value) ? value : {});
  return entries.flatMap(([name, one]) => entry(number, name, field(2, write, one)));
}

function entry(number: number, name: string, value: readonly Buffer[]): Buffer[] {
  return delimited(number, Buffer.concat([...field(1, "text", name), ...value]));
}

function field(number: number, form: Form, value: unknown): Buffer[] {
  if (typeof form === "function") return delimited(number, Buffer.concat(form(value)));
  switch (form) {
    case "text":
      return delimited(number, Buffer.from(String(value)));
    case "texts":
      return [value].flat().flatMap((one) => field(number, "text", one));
    case "bool":
      return value === true ? [varint(number << 3), varint(1)] : [];
    case "whole":
      return [varint(number << 3), varint(Number(value))];
    case "real": {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(Number(value));
      return [varint((number << 3) | 1), bytes];
    }
    case "any":
      // An Any holds YAML, of which JSON is a part.
      return delimited(number, Buffer.concat(field(2, "text", JSON.stringify(value))));
    case "anys":
      return [value].flat().flatMap((one) => field(number, "any", one));
  }
}

function delimited(number: number, bytes: Buffer): Buffer[] {
  return [varint((number << 3) | 2), varint(bytes.length), bytes];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest % 128) | 0x80);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}
