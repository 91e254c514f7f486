import { page } from "./list.ts";
import { computeError, type ComputeApp, type ComputeParts, type Flavor } from "./model.ts";
import { nextLink } from "./servers.ts";
import { linksOf, type ComputeContext } from "./views.ts";

/** Flavors, read only. */
export function addFlavorRoutes(app: ComputeApp, { tables }: ComputeParts): void {
  const list = (c: ComputeContext, view: (flavor: Flavor) => object) => {
    const query = new URL(c.req.url).searchParams;
    const least = (name: string) => Number(query.get(name) ?? 0);
    const fit = tables.flavors.all().filter((f) => f.ram >= least("minRam") && f.disk >= least("minDisk"));
    const { servers: flavors, more } = page(fit, query);
    const last = flavors.at(-1);
    return c.json({
      flavors: flavors.map(view),
      ...(more && last ? { flavors_links: [{ rel: "next", href: nextLink(c, last.id) }] } : {}),
    });
  };
  app.get("/v2.1/flavors", (c) =>
    list(c, (f) => ({ id: f.id, name: f.name, ...described(c, f), links: linksOf(c, "flavors", f.id) })),
  );
  app.get("/v2.1/flavors/detail", (c) => list(c, (f) => flavorView(c, f)));
  const flavorOf = (id: string) => {
    const flavor = tables.flavors.get(id);
    if (!flavor) throw computeError(404, `Flavor ${id} could not be found.`);
    return flavor;
  };
  app.get("/v2.1/flavors/:id", (c) => c.json({ flavor: flavorView(c, flavorOf(c.req.param("id"))) }));
  app.get("/v2.1/flavors/:id/os-extra_specs", (c) => c.json({ extra_specs: flavorOf(c.req.param("id")).extra_specs }));
  app.get("/v2.1/flavors/:id/os-extra_specs/:key", (c) => {
    const { id, key } = c.req.param();
    const value = flavorOf(id).extra_specs[key];
    if (value === undefined) throw computeError(404, `Flavor ${id} has no extra specs with key ${key}.`);
    return c.json({ [key]: value });
  });
}

const described = (c: ComputeContext, flavor: Flavor) =>
  c.get("minor") >= 55 ? { description: flavor.description } : {};

const flavorView = (c: ComputeContext, flavor: Flavor) => ({
  id: flavor.id,
  name: flavor.name,
  ram: flavor.ram,
  disk: flavor.disk,
  swap: c.get("minor") >= 75 ? 0 : "",
  "OS-FLV-EXT-DATA:ephemeral": 0,
  "OS-FLV-DISABLED:disabled": false,
  vcpus: flavor.vcpus,
  "os-flavor-access:is_public": true,
  rxtx_factor: 1,
  links: linksOf(c, "flavors", flavor.id),
  ...described(c, flavor),
  ...(c.get("minor") >= 61 ? { extra_specs: flavor.extra_specs } : {}),
});

const seeded: readonly (readonly [string, string, number, number, number])[] = [
  ["1", "m1.tiny", 512, 1, 1],
  ["2", "m1.small", 2048, 20, 1],
  ["3", "m1.medium", 4096, 40, 2],
  ["4", "m1.large", 8192, 80, 4],
];

/** The flavors of a new cloud; nothing if there are any. */
export function seedFlavors({ tables }: Pick<ComputeParts, "tables">): void {
  if (tables.flavors.all().length > 0) return;
  for (const [id, name, ram, disk, vcpus] of seeded) {
    tables.flavors.insert({ id, name, ram, disk, vcpus, extra_specs: {}, description: null });
  }
}
