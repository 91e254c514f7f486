import { createHash } from "node:crypto";
import { Hono, type Context } from "hono";
import type { Caller, Kernel, Service } from "../kernel/interface.ts";
import { ServiceError } from "../kernel/service-error.ts";

interface Container {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
}

interface StoredObject {
  readonly id: string;
  readonly container: string;
  readonly name: string;
  readonly bytes: number;
  readonly hash: string;
  readonly content_type: string;
  readonly last_modified: string;
}

type SwiftContext = Context<{ Variables: { caller: Caller } }>;

/** Swift's default limits: names in bytes, one object, one page of a listing. */
const LIMITS = { container: 256, object: 1024, size: 5 * 2 ** 30, page: 10_000 };

/**
 * Swift v1, https://docs.openstack.org/api-ref/object-store/ : containers of a project's account, and objects with
 * their checksums. No large objects in segments, access lists, versions or temporary URLs.
 */
export function createObjectStoreService(kernel: Kernel): Service {
  const containers = kernel.table<Container>("container", ["project_id"]);
  const objects = kernel.table<StoredObject>("object", ["container"]);
  const contents = kernel.table<{ id: string; base64: string }>("_object_content");
  const app: Service["app"] = new Hono();
  const account = (c: SwiftContext): string => {
    const { projectId, roles } = c.get("caller");
    if (c.req.param("account") !== `AUTH_${projectId}` || roles.length === 0)
      throw plain(403, "Access was denied to this resource.");
    return projectId;
  };
  const containerOf = (c: SwiftContext): Container => {
    const found = containers.get(`${account(c)}/${c.req.param("container")}`);
    if (!found) throw plain(404, "The resource could not be found.");
    return found;
  };
  const keyOf = (c: SwiftContext): string => `${containerOf(c).id}/${c.req.param("object")}`;

  app.get("/v1/:account", (c) => {
    const own = containers.by("project_id", account(c));
    return c.json(
      own.map(({ id, name }) => {
        const all = objects.by("container", id);
        return { name, count: all.length, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) };
      }),
    );
  });
  app.put("/v1/:account/:container", (c) => {
    const [project, name] = [account(c), c.req.param("container")];
    if (Buffer.byteLength(name) > LIMITS.container)
      throw plain(400, `Container name length of ${Buffer.byteLength(name)} longer than ${LIMITS.container}`);
    const id = `${project}/${name}`;
    if (containers.get(id)) return c.body(null, 202);
    containers.insert({ id, project_id: project, name });
    return c.body(null, 201);
  });
  app.delete("/v1/:account/:container", (c) => {
    const { id } = containerOf(c);
    if (objects.count("container", id) > 0)
      throw plain(409, "There was a conflict when trying to complete your request.");
    containers.remove(id);
    return c.body(null, 204);
  });
  app.get("/v1/:account/:container", (c) => {
    const { prefix = "", marker = "", limit = String(LIMITS.page) } = c.req.query();
    if (!/^\d+$/.test(limit) || Number(limit) > LIMITS.page) throw plain(412, `Maximum limit is ${LIMITS.page}`);
    const found = objects
      .by("container", containerOf(c).id)
      .filter(({ name }) => name.startsWith(prefix) && compareBytes(name, marker) > 0)
      .toSorted((a, b) => compareBytes(a.name, b.name))
      .slice(0, Number(limit));
    if (c.req.query("format") !== "json") return c.text(found.map(({ name }) => `${name}\n`).join(""));
    return c.json(
      found.map(({ name, bytes, hash, content_type, last_modified }) => ({
        name,
        bytes,
        hash,
        content_type,
        last_modified,
      })),
    );
  });
  app.put("/v1/:account/:container/:object{.+}", async (c) => {
    const bytes = Buffer.from(await c.req.arrayBuffer());
    const [{ id: container }, name, id] = [containerOf(c), c.req.param("object"), keyOf(c)];
    if (Buffer.byteLength(name) > LIMITS.object)
      throw plain(400, `Object name length of ${Buffer.byteLength(name)} longer than ${LIMITS.object}`);
    if (bytes.length > LIMITS.size) throw plain(413, "The body of your request was too large for this server.");
    const hash = createHash("md5").update(bytes).digest("hex");
    const said = c.req.header("etag")?.replaceAll('"', "");
    if (said !== undefined && said !== hash) throw plain(422, "Unable to process the contained instructions");
    const content_type = c.req.header("content-type") ?? "application/octet-stream";
    const last_modified = new Date(kernel.clock.now()).toISOString().replace("Z", "000");
    kernel.atomic(() => {
      objects.remove(id);
      contents.remove(id);
      objects.insert({ id, container, name, bytes: bytes.length, hash, content_type, last_modified });
      contents.insert({ id, base64: bytes.toString("base64") });
    });
    return c.body(null, 201, { etag: hash });
  });
  app.get("/v1/:account/:container/:object{.+}", (c) => {
    const found = objects.get(keyOf(c));
    const content = found && contents.get(found.id);
    if (!found || !content) throw plain(404, "The resource could not be found.");
    return c.body(Buffer.from(content.base64, "base64"), 200, { "content-type": found.content_type, etag: found.hash });
  });
  app.delete("/v1/:account/:container/:object{.+}", (c) => {
    const id = keyOf(c);
    if (!objects.get(id)) throw plain(404, "The resource could not be found.");
    kernel.atomic(() => {
      objects.remove(id);
      contents.remove(id);
    });
    return c.body(null, 204);
  });
  return { type: "object-store", name: "swift", catalogPath: "/v1/AUTH_{project_id}", app };
}

function plain(status: number, message: string): ServiceError {
  const body = `<html><h1>${message}</h1></html>`;
  return new ServiceError(status, body, { "content-type": "text/html; charset=UTF-8" });
}

/** Listings are in the order of the names' bytes. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
