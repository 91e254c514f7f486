import { createHash } from "node:crypto";
import type { Service } from "../../kernel/interface.ts";
import { containerOf, LIMITS, plain, type ObjectStore, type SwiftContext } from "../model.ts";

/** Objects with their checksums. */
export function mountObjects(app: Service["app"], store: ObjectStore): void {
  const { kernel, objects, contents } = store;
  const keyOf = (c: SwiftContext): string => `${containerOf(store, c).id}/${c.req.param("object")}`;
  app.put("/v1/:account/:container/:object{.+}", async (c) => {
    const bytes = Buffer.from(await c.req.arrayBuffer());
    const [{ id: container }, name, id] = [containerOf(store, c), c.req.param("object"), keyOf(c)];
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
}
