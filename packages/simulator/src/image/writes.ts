import { htmlError } from "../compute/model.ts";
import type { Kernel, Service } from "../kernel/interface.ts";
import { bodyOf, isObject, type JsonObject } from "../kernel/json.ts";
import { imageFor, imageView, ownImage, type Image, type ImageTables } from "./model.ts";

const diskFormats = ["ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop"];
const containerFormats = ["ami", "ari", "aki", "bare", "ovf", "ova", "docker", "compressed"];
const visibilities = ["community", "public", "private", "shared"];
const readOnly = ["status", "size", "checksum", "os_hash_algo", "os_hash_value", "owner", "created_at", "updated_at"];
const numbers = ["min_disk", "min_ram"] as const;

/** What a writer may set by name; everything else is a property. */
type Writable = Pick<
  Image,
  | "name"
  | "visibility"
  | "disk_format"
  | "container_format"
  | "protected"
  | "os_hidden"
  | "min_disk"
  | "min_ram"
  | "tags"
>;

/** Creating, patching and deleting images, and their tags. */
export function addImageWriteRoutes(app: Service["app"], kernel: Kernel, tables: ImageTables): void {
  app.post("/v2/images", async (c) => {
    const given = await bodyOf(c.req);
    if (!isObject(given)) throw htmlError(400, "Bad Request", "Malformed JSON in request body.");
    const { fields, properties } = divided(given);
    refusePublic(fields.visibility, c.get("caller").isAdmin);
    const id = typeof given["id"] === "string" ? given["id"] : kernel.newId();
    if (tables.images.get(id)) throw htmlError(409, "Conflict", `Image ID ${id} already exists!`);
    const now = kernel.timestamp();
    const image = tables.images.insert({
      id,
      name: "",
      status: "queued",
      visibility: "shared",
      owner: c.get("caller").projectId,
      disk_format: null,
      container_format: null,
      size: null,
      virtual_size: null,
      checksum: null,
      os_hash_algo: null,
      os_hash_value: null,
      protected: false,
      os_hidden: false,
      min_ram: 0,
      min_disk: 0,
      created_at: now,
      updated_at: now,
      tags: [],
      ...fields,
      properties,
    });
    return c.json(imageView(image), 201, { location: `${new URL(c.req.url).origin}/image/v2/images/${id}` });
  });
  app.patch("/v2/images/:id", async (c) => {
    if (!/^application\/openstack-images-v2\.[01]-json-patch$/.test(c.req.header("content-type") ?? "")) {
      throw htmlError(415, "Unsupported Media Type", "Unsupported Content-Type");
    }
    const image = ownImage(tables, c.get("caller"), c.req.param("id"));
    const change = patched(image, await bodyOf(c.req));
    if (change.visibility !== image.visibility) refusePublic(change.visibility, c.get("caller").isAdmin);
    return c.json(imageView(tables.images.update(image.id, { ...change, updated_at: kernel.timestamp() })));
  });
  app.delete("/v2/images/:id", (c) => {
    const { caller } = c.var;
    const image = imageFor(tables, caller, c.req.param("id"));
    if (image.owner !== caller.projectId && !caller.isAdmin) {
      throw htmlError(403, "Forbidden", "You do not own this image");
    }
    if (image.protected) {
      throw htmlError(403, "Forbidden", `Image ${image.id} is protected and cannot be deleted.`);
    }
    tables.images.remove(image.id);
    tables.data.remove(image.id);
    for (const m of tables.members.by("image_id", image.id)) tables.members.remove(m.id);
    return c.body(null, 204);
  });
  app.put("/v2/images/:id/tags/:tag", (c) => {
    const { id, tags } = ownImage(tables, c.get("caller"), c.req.param("id"));
    tables.images.update(id, { tags: [...new Set([...tags, c.req.param("tag")])] });
    return c.body(null, 204);
  });
  app.delete("/v2/images/:id/tags/:tag", (c) => {
    const { id, tags } = ownImage(tables, c.get("caller"), c.req.param("id"));
    const tag = c.req.param("tag");
    if (!tags.includes(tag)) throw htmlError(404, "Not Found", "The resource could not be found.");
    tables.images.update(id, { tags: tags.filter((t) => t !== tag) });
    return c.body(null, 204);
  });
}

function refusePublic(visibility: string | undefined, isAdmin: boolean): void {
  if (visibility === "public" && !isAdmin) {
    throw htmlError(403, "Forbidden", "You are not authorized to complete publicize_image action.");
  }
}

function divided(given: JsonObject): { fields: Partial<Writable>; properties: Record<string, string> } {
  const fields: Partial<Record<string, unknown>> = {};
  const properties: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === "id") continue;
    if (readOnly.includes(name)) throw htmlError(403, "Forbidden", `Attribute '${name}' is read-only.`);
    if (isField(name)) fields[name] = checked(name, value);
    else properties[name] = property(name, value);
  }
  return { fields: fields as Partial<Writable>, properties };
}

const fieldNames = [
  "name",
  "visibility",
  "disk_format",
  "container_format",
  "protected",
  "os_hidden",
  "min_disk",
  "min_ram",
  "tags",
];
const isField = (name: string): name is keyof Writable => fieldNames.includes(name);

function property(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  const why = `Provided object does not match schema 'image': ${JSON.stringify(value)} is not of type 'string'.`;
  throw htmlError(400, "Bad Request", `${why} Property: ${name}`);
}

function checked(name: keyof Writable, value: unknown): unknown {
  const oneOf: Partial<Record<keyof Writable, readonly string[]>> = {
    disk_format: diskFormats,
    container_format: containerFormats,
    visibility: visibilities,
  };
  const allowed = oneOf[name];
  const isRight =
    allowed === undefined
      ? typeof value === typeOf(name) || (name === "tags" && Array.isArray(value))
      : value === null || (typeof value === "string" && allowed.includes(value));
  if (isRight) return name === "tags" ? [...new Set((value as unknown[]).map(String))] : value;
  const list = allowed?.map((a) => `'${a}'`).join(", ") ?? "";
  const why = allowed
    ? `${JSON.stringify(value)} is not one of [None, ${list}]`
    : `${JSON.stringify(value)} is not right`;
  throw htmlError(400, "Bad Request", `Provided object does not match schema 'image': ${why}`);
}

function typeOf(name: keyof Writable): string {
  if (name === "protected" || name === "os_hidden") return "boolean";
  return (numbers as readonly string[]).includes(name) ? "number" : "string";
}

/** The fields after a patch: RFC 6902's add, replace and remove of one attribute. */
function patched(image: Image, body: unknown): Partial<Image> {
  if (!Array.isArray(body))
    throw htmlError(400, "Bad Request", "Request body must be a JSON array of operation objects.");
  let properties: Readonly<Record<string, string>> = image.properties;
  const change: Record<string, unknown> = {};
  for (const step of body as readonly unknown[]) {
    const { op, name, value } = operation(step);
    if (readOnly.includes(name) || name === "id") {
      throw htmlError(403, "Forbidden", `Attribute '${name}' is read-only.`);
    }
    if (isField(name)) {
      if (op === "remove") throw htmlError(403, "Forbidden", `Property ${name} may not be removed.`);
      if ((name === "disk_format" || name === "container_format") && image.status !== "queued") {
        throw htmlError(403, "Forbidden", `Attribute ${name} can be only replaced for a queued image.`);
      }
      change[name] = checked(name, value);
    } else if (op === "remove" || op === "replace") {
      if (properties[name] === undefined) throw htmlError(409, "Conflict", `Property ${name} does not exist.`);
      const { [name]: _old, ...rest } = properties;
      properties = op === "remove" ? rest : { ...rest, [name]: property(name, value) };
    } else properties = { ...properties, [name]: property(name, value) };
  }
  return { ...change, properties };
}

function operation(step: unknown): { op: string; name: string; value: unknown } {
  const { op, path, value } = isObject(step) ? step : {};
  if (typeof op !== "string" || !["add", "replace", "remove"].includes(op)) {
    throw htmlError(400, "Bad Request", `Operations must be one of add, remove, replace.`);
  }
  if (typeof path !== "string" || !/^\/[^/]+$/.test(path)) {
    throw htmlError(400, "Bad Request", `Invalid JSON pointer for this resource: '${String(path)}'`);
  }
  return { op, name: path.slice(1).replaceAll("~1", "/").replaceAll("~0", "~"), value };
}
