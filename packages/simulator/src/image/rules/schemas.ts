/**
 * JSON schemas of what Glance keeps: names, types and limits; its descriptions are not repeated.
 * https://docs.openstack.org/api-ref/image/v2/
 */

/** The parts of JSON schema that Glance's own have. */
export interface Schema {
  readonly name?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: false | Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly (string | null)[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly uniqueItems?: boolean;
  readonly format?: string;
  readonly readOnly?: true;
  readonly writeOnly?: true;
  /** False: known, but no column of an image. */
  readonly is_base?: false;
  readonly links?: readonly { readonly rel: string; readonly href: string }[];
}

/** What `disk_format` may be, as Glance's default configuration permits it. */
export const diskFormats = ["ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop"];
/** What `container_format` may be. */
export const containerFormats = ["ami", "ari", "aki", "bare", "ovf", "ova", "docker", "compressed"];
const statuses = "queued saving active killed deleted uploading importing pending_delete deactivated".split(" ");

const hex = "([0-9a-fA-F])";
const uuid = `^${[8, 4, 4, 4, 12].map((count) => `${hex}{${count}}`).join("-")}$`;
const text: Schema = { type: "string" };
const readOnlyText: Schema = { type: "string", readOnly: true };
const instant: Schema = { type: "string", readOnly: true, format: "date-time" };
const upTo = (maxLength: number): Schema => ({ type: "string", maxLength });
const orNull = (maxLength: number): Schema => ({ type: ["null", "string"], maxLength });
const custom = (schema: Schema): Schema => ({ ...schema, is_base: false });
const flag: Schema = { type: "boolean" };
const count: Schema = { type: "integer" };
const texts: Schema = { type: "array", items: text, uniqueItems: true };

const location: Schema = {
  type: "object",
  properties: {
    url: upTo(255),
    metadata: { type: "object" },
    validation_data: {
      type: "object",
      writeOnly: true,
      additionalProperties: false,
      properties: {
        checksum: { type: "string", minLength: 32, maxLength: 32 },
        os_hash_algo: upTo(64),
        os_hash_value: upTo(128),
      },
      required: ["os_hash_algo", "os_hash_value"],
    },
  },
  required: ["url", "metadata"],
};

/** GET /v2/schemas/image. Further properties of an image are strings. */
export const imageSchema: Schema = {
  name: "image",
  properties: {
    id: { type: "string", pattern: uuid },
    name: orNull(255),
    status: { ...readOnlyText, enum: statuses },
    visibility: { type: "string", enum: ["community", "public", "private", "shared"] },
    protected: flag,
    os_hidden: flag,
    checksum: { ...orNull(32), readOnly: true },
    os_hash_algo: { ...orNull(64), readOnly: true },
    os_hash_value: { ...orNull(128), readOnly: true },
    owner: orNull(255),
    size: { type: ["null", "integer"], readOnly: true },
    virtual_size: { type: ["null", "integer"], readOnly: true },
    container_format: { type: ["null", "string"], enum: [null, ...containerFormats] },
    disk_format: { type: ["null", "string"], enum: [null, ...diskFormats] },
    created_at: readOnlyText,
    updated_at: readOnlyText,
    tags: { type: "array", items: upTo(255) },
    direct_url: readOnlyText,
    min_ram: count,
    min_disk: count,
    self: readOnlyText,
    file: readOnlyText,
    stores: readOnlyText,
    schema: readOnlyText,
    locations: { type: "array", items: location },
    kernel_id: custom({ type: ["null", "string"], pattern: uuid }),
    ramdisk_id: custom({ type: ["null", "string"], pattern: uuid }),
    instance_uuid: custom(text),
    architecture: custom(text),
    os_distro: custom(text),
    os_version: custom(text),
    description: custom(text),
    cinder_encryption_key_id: custom(text),
    cinder_encryption_key_deletion_policy: custom({ type: "string", enum: ["on_image_deletion", "do_not_delete"] }),
  },
  additionalProperties: text,
  links: [
    { rel: "self", href: "{self}" },
    { rel: "enclosure", href: "{file}" },
    { rel: "describedby", href: "{schema}" },
  ],
};

const memberSchema: Schema = {
  name: "member",
  properties: {
    member_id: text,
    image_id: { type: "string", pattern: uuid },
    created_at: text,
    updated_at: text,
    status: { type: "string", enum: ["pending", "accepted", "rejected"] },
    schema: readOnlyText,
  },
};

const property: Readonly<Record<string, Schema>> = {
  name: upTo(80),
  title: text,
  description: text,
  operators: { type: "array", items: text },
  type: { type: "string", enum: ["array", "boolean", "integer", "number", "object", "string", null] },
  required: texts,
  minimum: { type: "number" },
  maximum: { type: "number" },
  maxLength: { type: "integer", minimum: 0 },
  minLength: { type: "integer", minimum: 0 },
  pattern: { type: "string", format: "regex" },
  enum: { type: "array" },
  readonly: flag,
  default: {},
  items: { type: "object", properties: { type: text, enum: { type: "array" } } },
  maxItems: { type: "integer", minimum: 0 },
  minItems: { type: "integer", minimum: 0 },
  uniqueItems: flag,
  additionalItems: flag,
};
const properties: Schema = {
  type: "object",
  additionalProperties: { type: "object", required: ["title", "type"], properties: property },
};
const objectFields = { name: upTo(80), description: text, required: texts, properties };
const nameOnly: Schema = { type: "object", properties: { name: text } };

/** Of metadata definitions, by the name that their documents have. */
export const metadefSchemas = {
  namespace: {
    name: "namespace",
    properties: {
      namespace: upTo(80),
      display_name: upTo(80),
      description: upTo(500),
      visibility: { type: "string", enum: ["public", "private"] },
      protected: flag,
      owner: upTo(255),
      created_at: instant,
      updated_at: instant,
      schema: readOnlyText,
      self: readOnlyText,
      resource_type_associations: {
        type: "array",
        items: { type: "object", properties: { name: text, prefix: text, properties_target: text } },
      },
      properties,
      objects: { type: "array", items: { type: "object", properties: objectFields } },
      tags: { type: "array", items: nameOnly },
    },
    additionalProperties: false,
    required: ["namespace"],
  },
  resource_type: {
    name: "resource_type_association",
    properties: {
      name: upTo(80),
      prefix: upTo(80),
      properties_target: upTo(80),
      created_at: instant,
      updated_at: instant,
    },
    additionalProperties: false,
    required: ["name"],
  },
  object: {
    name: "object",
    properties: { ...objectFields, schema: readOnlyText, self: readOnlyText, created_at: instant, updated_at: instant },
    additionalProperties: false,
    required: ["name"],
  },
  property: {
    name: "property",
    properties: property,
    additionalProperties: false,
    required: ["type", "title", "name"],
  },
  tag: {
    name: "tag",
    properties: { name: upTo(80), created_at: instant, updated_at: instant },
    additionalProperties: false,
    required: ["name"],
  },
} satisfies Readonly<Record<string, Schema>>;

/** A page of elements: `key` is the field that holds them. */
function collection(key: string, items: Schema): Schema {
  return {
    name: key,
    properties: { [key]: { type: "array", items }, first: text, next: text, schema: text },
    links: [
      { rel: "first", href: "{first}" },
      { rel: "next", href: "{next}" },
      { rel: "describedby", href: "{schema}" },
    ],
  };
}

const taskSchema: Schema = {
  name: "task",
  properties: {
    id: { pattern: uuid, type: "string" },
    type: { enum: ["import", "api_image_import"], type: "string" },
    status: { enum: ["pending", "processing", "success", "failure"], type: "string" },
    ...Object.fromEntries(["owner", "image_id", "request_id", "user_id"].map((name) => [name, text])),
    expires_at: { type: ["null", "string"] },
    created_at: text,
    updated_at: text,
    self: { readOnly: true, type: "string" },
    schema: { readOnly: true, type: "string" },
  },
};

/** Every document below /v2/schemas. */
export const schemas: Readonly<Record<string, Schema>> = {
  image: imageSchema,
  images: collection("images", imageSchema),
  member: memberSchema,
  members: collection("members", memberSchema),
  task: {
    ...taskSchema,
    properties: {
      ...taskSchema.properties,
      input: { type: ["null", "object"] },
      result: { type: ["null", "object"] },
      message: text,
    },
  },
  tasks: {
    name: "tasks",
    properties: { tasks: { type: "array", items: taskSchema }, schema: text },
    links: [{ rel: "describedby", href: "{schema}" }],
  },
  "metadefs/namespace": metadefSchemas.namespace,
  "metadefs/namespaces": collection("namespaces", metadefSchemas.namespace),
  "metadefs/resource_type": metadefSchemas.resource_type,
  "metadefs/resource_types": collection("resource_type_associations", metadefSchemas.resource_type),
  "metadefs/object": metadefSchemas.object,
  "metadefs/objects": collection("objects", metadefSchemas.object),
  "metadefs/property": metadefSchemas.property,
  "metadefs/properties": { ...collection("properties", metadefSchemas.property), properties: { properties } },
  "metadefs/tag": metadefSchemas.tag,
  "metadefs/tags": collection("tags", metadefSchemas.tag),
};
