import { administer, capacityOf, fits, isClass, placementError, usedOf } from "../model.ts";
import type { PlacementApp, PlacementState } from "../model.ts";
import { rootOf } from "./providers.ts";
import { resourcesOf } from "../rules/queries.ts";

/** GET /allocation_candidates: each provider that has capacity for the one unnumbered group of resources. */
export function mountCandidates(app: PlacementApp, state: PlacementState): void {
  app.get("/allocation_candidates", (c) => {
    administer(c, "allocation_candidates:list");
    const query = new URL(c.req.url).searchParams;
    const asked = query.get("resources");
    if (asked === null) {
      const why = "There must be at least one resources or resources[$S] parameter.";
      throw placementError(400, why, "placement.query.missing_value");
    }
    const wanted = resourcesOf(asked);
    const strange = wanted.find(([name]) => !isClass(state, name));
    if (strange !== undefined) {
      const why = `Invalid resource class in resources parameter: No such resource class ${strange[0]}.`;
      throw placementError(400, why);
    }
    const required = query.get("required")?.split(",") ?? [];
    const limit = Number(query.get("limit") ?? Infinity);
    const found = state.providers.all().filter((row) => {
      const used = usedOf(state, row);
      const has = required.every((trait) => row.traits.includes(trait.replace(/^!/, "")) !== trait.startsWith("!"));
      return has && wanted.every(([name, amount]) => fits(row.inventories[name], used[name] ?? 0, amount));
    });
    const chosen = found.slice(0, limit);
    const resources = Object.fromEntries(wanted);
    const minor = c.get("minor");
    return c.json({
      allocation_requests: chosen.map(({ id }) => ({
        allocations: minor >= 12 ? { [id]: { resources } } : [{ resource_provider: { uuid: id }, resources }],
        ...(minor >= 34 ? { mappings: { "": [id] } } : {}),
      })),
      provider_summaries: Object.fromEntries(chosen.map((row) => [row.id, summary(state, row, minor)])),
    });
  });
}

function summary(state: PlacementState, row: Parameters<typeof usedOf>[1], minor: number) {
  const used = usedOf(state, row);
  const resources = Object.entries(row.inventories).map(([name, inventory]) => [
    name,
    { capacity: capacityOf(inventory), used: used[name] ?? 0 },
  ]);
  const family = { parent_provider_uuid: row.parent, root_provider_uuid: rootOf(state, row) };
  return {
    resources: Object.fromEntries(resources) as Readonly<Record<string, unknown>>,
    ...(minor >= 17
      ? { traits: row.traits.toSorted((a, b) => Number(a.startsWith("CUSTOM_")) - Number(b.startsWith("CUSTOM_"))) }
      : {}),
    ...(minor >= 29 ? family : {}),
  };
}
