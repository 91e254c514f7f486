import { bodyOf, textAt } from "../../kernel/json.ts";
import { pythonRepr } from "../../kernel/python.ts";
import {
  administer,
  placementError,
  standardClasses,
  unfit,
  type PlacementApp,
  type PlacementState,
} from "../model.ts";

/** Resource classes: the standard ones, and those that an administrator adds. */
export function mountResourceClasses(app: PlacementApp, { classes, providers }: PlacementState): void {
  const view = (name: string) => ({ name, links: [{ rel: "self", href: `/resource_classes/${name}` }] });
  const refused = (name: string) => {
    const pattern = "^CUSTOM_[A-Z0-9_]+$";
    const schema = { maxLength: 255, pattern, type: "string" };
    return unfit({
      given: name,
      why: `${pythonRepr(name)} does not match '${pattern}'`,
      rule: "pattern",
      at: ["name"],
      schema,
    });
  };
  app.post("/resource_classes", async (c) => {
    const name = textAt(await bodyOf(c.req), "name") ?? "";
    administer(c, "resource_classes:create");
    if (!/^CUSTOM_[A-Z0-9_]+$/.test(name)) throw refused(name);
    if (classes.get(name)) throw placementError(409, `Conflicting resource class already exists: ${name}`);
    classes.insert({ id: name });
    return c.body(null, 201, { location: `${new URL(c.req.url).origin}/placement/resource_classes/${name}` });
  });
  const all = (): readonly string[] => [...standardClasses, ...classes.all().map(({ id }) => id)];
  app.get("/resource_classes", (c) => {
    administer(c, "resource_classes:list");
    return c.json({ resource_classes: all().map(view) });
  });
  app.get("/resource_classes/:name", (c) => {
    administer(c, "resource_classes:show");
    if (!all().includes(c.req.param("name")))
      throw placementError(404, `No such resource class ${c.req.param("name")}.`);
    return c.json(view(c.req.param("name")));
  });
  app.put("/resource_classes/:name", (c) => {
    administer(c, "resource_classes:update");
    const name = c.req.param("name");
    if (!/^CUSTOM_[A-Z0-9_]+$/.test(name))
      throw placementError(400, `JSON does not validate: '${name}' does not match '^CUSTOM\\\\_[A-Z0-9_]+$'`);
    if (classes.get(name)) return c.body(null, 204);
    classes.insert({ id: name });
    return c.body(null, 201);
  });
  app.delete("/resource_classes/:name", (c) => {
    administer(c, "resource_classes:delete");
    const name = c.req.param("name");
    if (!classes.get(name)) {
      const standard: readonly string[] = standardClasses;
      if (standard.includes(name)) {
        const why = `Cannot delete standard resource class ${name}.`;
        throw placementError(400, `Error in delete resource class: ${why}`);
      }
      throw placementError(404, `No such resource class ${name}.`);
    }
    if (providers.all().some((row) => row.inventories[name])) {
      throw placementError(409, `Resource class ${name} is in use in inventory`);
    }
    classes.remove(name);
    return c.body(null, 204);
  });
}
