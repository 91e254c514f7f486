import { htmlPage } from "../../kernel/html-page.ts";
import type { Caller, Kernel, Service } from "../../kernel/interface.ts";
import { bodyOf, isObject, type JsonObject } from "../../kernel/json.ts";
import { listImages } from "../listing.ts";
import { imageFor, imageView, isSeen, ownImage, type Image, type ImageTables } from "../model.ts";
import { changesOf, type PatchStep } from "../rules/patch.ts";
import { checkBySchema } from "../rules/schema-check.ts";
import { imageSchema } from "../rules/schemas.ts";

const readOnly = Object.entries(imageSchema.properties ?? {}).flatMap(([name, of]) => (of.readOnly ? [name] : []));

/** What a writer may set by name; everything else is a property. */
const fieldNames = [
  "name",
  "visibility",
  "owner",
  "disk_format",
  "container_format",
  "protected",
  "os_hidden",
  "min_disk",
  "min_ram",
  "tags",
] as const;
type Writable = Pick<Image, (typeof fieldNames)[number]>;
const isField = (name: string): name is keyof Writable => (fieldNames as readonly string[]).includes(name);

/** Images and their tags: list, show, create, patch and delete. */
export function mountImages(app: Service["app"], kernel: Kernel, tables: ImageTables): void {
  mountReads(app, tables);
  mountWrites(app, kernel, tables);
}

function mountReads(app: Service["app"], tables: ImageTables): void {
  app.get("/v2/images", (c) => {
    const url = new URL(c.req.url);
    const { page, more } = listImages(tables, c.get("caller"), url.searchParams);
    const last = page.at(-1);
    const query = (marker?: string) => {
      const parameters = new URLSearchParams(url.searchParams);
      parameters.delete("marker");
      if (marker !== undefined) parameters.append("marker", marker);
      return parameters.size === 0 ? "/v2/images" : `/v2/images?${parameters.toString()}`;
    };
    return c.json({
      images: page.map((image) => imageView(image, c.get("caller"))),
      first: query(),
      schema: "/v2/schemas/images",
      ...(more && last ? { next: query(last.id) } : {}),
    });
  });
  app.get("/v2/images/:id", (c) =>
    c.json(imageView(imageFor(tables, c.get("caller"), c.req.param("id")), c.get("caller"))),
  );
}

function mountWrites(app: Service["app"], kernel: Kernel, tables: ImageTables): void {
  app.post("/v2/images", async (c) => {
    const given = await bodyOf(c.req);
    if (!isObject(given)) throw htmlPage(400, { explanation: "Malformed JSON in request body." });
    checkBySchema(given, imageSchema);
    const { fields, properties } = divided(given);
    refusePublic(fields.visibility, c.get("caller").isAdmin);
    refuseOwner(fields.owner, c.get("caller"));
    const id = typeof given["id"] === "string" ? given["id"] : kernel.newId();
    if (tables.images.get(id)) throw htmlPage(409, { explanation: `Image ID ${id} already exists!` });
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
    return c.json(imageView(image, c.get("caller")), 201, {
      location: `${new URL(c.req.url).origin}/image/v2/images/${id}`,
    });
  });
  app.patch("/v2/images/:id", async (c) => {
    const steps = changesOf(c.req.header("content-type") ?? "", await bodyOf(c.req));
    for (const step of steps) checkStep(step);
    const image = ownImage(tables, c.get("caller"), c.req.param("id"));
    const change = patched(image, steps, c.get("caller"));
    if (change.visibility !== image.visibility) refusePublic(change.visibility, c.get("caller").isAdmin);
    return c.json(
      imageView(tables.images.update(image.id, { ...change, updated_at: kernel.timestamp() }), c.get("caller")),
    );
  });
  app.delete("/v2/images/:id", (c) => {
    const { caller } = c.var;
    const id = c.req.param("id");
    const image = tables.images.get(id);
    if (!image || !isSeen(tables, caller, image)) {
      throw htmlPage(404, { explanation: `Failed to find image ${id} to delete` });
    }
    if (image.owner !== caller.projectId && !caller.isAdmin) {
      throw htmlPage(403, { explanation: "You do not own this image" });
    }
    if (image.protected) {
      throw htmlPage(403, { explanation: `Image ${image.id} is protected and cannot be deleted.` });
    }
    tables.images.remove(image.id);
    tables.data.remove(image.id);
    tables.staged.remove(image.id);
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
    if (!tags.includes(tag)) throw htmlPage(404, { explanation: "The resource could not be found." });
    tables.images.update(id, { tags: tags.filter((t) => t !== tag) });
    return c.body(null, 204);
  });
}

function refusePublic(visibility: string | undefined, isAdmin: boolean): void {
  if (visibility === "public" && !isAdmin) {
    throw htmlPage(403, { explanation: "You are not authorized to complete publicize_image action." });
  }
}

function refuseOwner(owner: string | undefined, caller: Caller): void {
  if (owner === undefined || owner === caller.projectId || caller.isAdmin) return;
  const explanation = `You are not permitted to create images owned by '${owner}'`;
  throw htmlPage(403, { explanation });
}

function divided(given: JsonObject): { fields: Partial<Writable>; properties: Record<string, string> } {
  const fields: Partial<Record<string, unknown>> = {};
  const properties: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === "id") continue;
    refuseReadOnly(name);
    if (isField(name)) fields[name] = settled(name, value);
    else properties[name] = String(value);
  }
  return { fields: fields as Partial<Writable>, properties };
}

function refuseReadOnly(name: string): void {
  if (readOnly.includes(name)) throw htmlPage(403, { explanation: `Attribute '${name}' is read-only.` });
}

/** A value that its schema allows, as it is kept. */
function settled(name: keyof Writable, value: unknown): unknown {
  if ((name === "min_disk" || name === "min_ram") && Number(value) < 0) {
    const explanation = `Invalid value '${Number(value)}' for parameter '${name}': Cannot be a negative value`;
    throw htmlPage(400, { explanation });
  }
  return name === "tags" ? [...new Set(value as readonly unknown[])].map(String) : value;
}

function checkStep({ op, name, value }: PatchStep): void {
  refuseReadOnly(name);
  if (name === "id") throw htmlPage(403, { explanation: "Attribute 'id' is read-only." });
  if (op !== "remove") checkBySchema({ [name]: value }, imageSchema);
}

/** The fields after a patch: RFC 6902's add, replace and remove of one attribute. */
function patched(image: Image, steps: readonly PatchStep[], caller: Caller): Partial<Image> {
  let properties: Readonly<Record<string, string>> = image.properties;
  const change: Record<string, unknown> = {};
  for (const { op, name, value } of steps) {
    if (isField(name)) {
      if (op === "remove") throw htmlPage(403, { detail: `Property ${name} may not be removed.` });
      if (name === "owner" && !caller.isAdmin) throw htmlPage(403, { detail: "Owner can't be updated by non admin." });
      if ((name === "disk_format" || name === "container_format") && image.status !== "queued") {
        throw htmlPage(403, { explanation: `Attribute ${name} can be only replaced for a queued image.` });
      }
      change[name] = settled(name, value);
    } else if (op === "add") properties = { ...properties, [name]: String(value) };
    else {
      if (properties[name] === undefined) throw htmlPage(409, { detail: `Property ${name} does not exist.` });
      const { [name]: _old, ...others } = properties;
      properties = op === "remove" ? others : { ...properties, [name]: String(value) };
    }
  }
  return { ...change, properties };
}
