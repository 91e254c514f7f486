import type { Caller } from "../../kernel/interface.ts";
import { isPublic, mayUse, requireFlavor } from "../rules/usable-flavors.ts";
import { page } from "../listing.ts";
import { computeError, type ComputeApp, type ComputeParts, type ComputeTables, type Flavor } from "../model.ts";
import { linksOf, nextLink, type ComputeContext } from "../views.ts";

/** Reading flavors. Those that are not public are seen by their projects and administrators. */
export function mountFlavors(app: ComputeApp, { tables }: ComputeParts): void {
  const list = (c: ComputeContext, view: (flavor: Flavor) => object) => {
    const query = new URL(c.req.url).searchParams;
    const fit = listed(tables, c.get("caller"), query);
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
  const flavorOf = (c: ComputeContext) => requireFlavor(tables, c.get("caller"), c.req.param("id") ?? "");
  app.get("/v2.1/flavors/:id", (c) => c.json({ flavor: flavorView(c, flavorOf(c)) }));
}

function listed({ flavors }: ComputeTables, caller: Caller, query: URLSearchParams): readonly Flavor[] {
  const least = (name: string) => {
    const asked = query.get(name) ?? "0";
    if (/^\d+$/.test(asked)) return Number(asked);
    throw computeError(400, `Invalid ${name} filter [${asked}]`);
  };
  const [ram, disk] = [least("minRam"), least("minDisk")];
  const fit = flavors
    .all()
    .filter((flavor) => flavor.ram >= ram && flavor.disk >= disk && wanted(flavor, caller, query));
  const key = query.get("sort_key") ?? "flavorid";
  const value = (flavor: Flavor) => sortValue(flavor, key);
  const sorted = fit.toSorted((a, b) => compare(value(a), value(b)));
  return query.get("sort_dir") === "desc" ? sorted.toReversed() : sorted;
}

/** `is_public` is an administrator's: true, false or "none" for both; others see what they may use. */
function wanted(flavor: Flavor, caller: Caller, query: URLSearchParams): boolean {
  if (!caller.isAdmin) return mayUse(caller, flavor);
  const asked = query.get("is_public")?.toLowerCase() ?? "true";
  if (asked === "none") return true;
  return isPublic(flavor) === ["true", "1", "t", "yes", "on", "y"].includes(asked);
}

function sortValue(flavor: Flavor, key: string): string | number {
  if (key === "memory_mb") return flavor.ram;
  if (key === "root_gb") return flavor.disk;
  if (key === "vcpus") return flavor.vcpus;
  return key === "name" ? flavor.name : flavor.id;
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const described = (c: ComputeContext, flavor: Flavor) =>
  c.get("minor") >= 55 ? { description: flavor.description } : {};

/** A flavor in the words of the request's microversion: `description` from 2.55 on, `extra_specs` from 2.61 on. */
export const flavorView = (c: ComputeContext, flavor: Flavor) => ({
  id: flavor.id,
  name: flavor.name,
  ram: flavor.ram,
  disk: flavor.disk,
  swap: flavor.swap ? flavor.swap : c.get("minor") >= 75 ? 0 : "",
  "OS-FLV-EXT-DATA:ephemeral": flavor.ephemeral ?? 0,
  "OS-FLV-DISABLED:disabled": false,
  vcpus: flavor.vcpus,
  "os-flavor-access:is_public": isPublic(flavor),
  rxtx_factor: flavor.rxtx_factor ?? 1,
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
