import { administer, hostTraits, placementError, type PlacementApp, type PlacementState } from "../model.ts";

/** Traits: those of hosts, and those that an administrator adds. */
export function mountTraits(app: PlacementApp, { traits, providers }: PlacementState): void {
  const all = () => [...hostTraits, "HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", ...traits.all().map(({ id }) => id)];
  app.get("/traits", (c) => {
    administer(c, "traits:list");
    const asked = c.req.query("name") ?? "";
    const [, how, value = ""] = /^(startswith|in):(.*)$/.exec(asked) ?? [];
    const used = new Set(providers.all().flatMap((row) => row.traits));
    const found = all().filter((name) => (how === "in" ? value.split(",").includes(name) : name.startsWith(value)));
    const associated = c.req.query("associated");
    if (associated !== undefined && !/^(?:true|false)$/i.test(associated)) {
      const why = `The query parameter "associated" only accepts "true" or "false"`;
      throw placementError(400, why);
    }
    const wanted =
      associated === undefined ? found : found.filter((name) => used.has(name) === /^true$/i.test(associated));
    return c.json({ traits: wanted });
  });
  app.get("/traits/:name", (c) => {
    administer(c, "traits:show");
    if (!all().includes(c.req.param("name"))) throw placementError(404, `No such trait(s): ${c.req.param("name")}.`);
    return c.body(null, 204);
  });
  app.put("/traits/:name", (c) => {
    administer(c, "traits:update");
    const name = c.req.param("name");
    if (!/^CUSTOM_[A-Z0-9_]+$/.test(name)) {
      throw placementError(
        400,
        `The trait is invalid. A valid trait must be no longer than 255 characters, start with the prefix "CUSTOM_" and use following characters: "A"-"Z", "0"-"9" and "_"`,
      );
    }
    if (traits.get(name)) return c.body(null, 204);
    traits.insert({ id: name });
    return c.body(null, 201);
  });
  app.delete("/traits/:name", (c) => {
    administer(c, "traits:delete");
    const name = c.req.param("name");
    if (!name.startsWith("CUSTOM_")) throw placementError(400, `Cannot delete standard trait ${name}.`);
    if (!traits.get(name)) throw placementError(404, `No such trait(s): ${name}.`);
    if (providers.all().some((row) => row.traits.includes(name))) {
      throw placementError(409, `The trait ${name} is in use by a resource provider.`);
    }
    traits.remove(name);
    return c.body(null, 204);
  });
}
