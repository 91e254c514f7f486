import type { Service } from "../../kernel/interface.ts";
import { account, containerOf, LIMITS, plain, type ObjectStore } from "../model.ts";

/** The containers of a project's account, and the lists of their objects. */
export function mountContainers(app: Service["app"], store: ObjectStore): void {
  const { containers, objects } = store;
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
    const { id } = containerOf(store, c);
    if (objects.count("container", id) > 0)
      throw plain(409, "There was a conflict when trying to complete your request.");
    containers.remove(id);
    return c.body(null, 204);
  });
  app.get("/v1/:account/:container", (c) => {
    const { prefix = "", marker = "", limit = String(LIMITS.page) } = c.req.query();
    if (!/^\d+$/.test(limit) || Number(limit) > LIMITS.page) throw plain(412, `Maximum limit is ${LIMITS.page}`);
    const found = objects
      .by("container", containerOf(store, c).id)
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
}

/** Listings are in the order of the names' bytes. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
