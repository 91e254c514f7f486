import { NORTHBOUND, type Catalogue } from "../catalogue/index.ts";
import { graphOf } from "../graph/graph.ts";
import type { Component } from "../model/component.ts";
import { SYNC, syncJob } from "./jobs.ts";

const NORTHD = "ovn-northd";

/**
 * The order in which a northbound database that came in place of a lost one gets its networks. Until Neutron has
 * written them, northd must not see it: it would take all networks from the southbound one, and with them the flows of
 * all nodes. It refuses the new database until it starts again, as Neutron's own processes do.
 */
export function withNorthboundRebuild(catalogue: Catalogue): Catalogue {
  const isThere = (name: string) => catalogue.components.some((each) => each.name === name);
  if (![NORTHBOUND, NORTHD, "neutron-server"].every(isThere)) return catalogue;
  const changed = catalogue.components.map((component): Component => {
    const after = (component.after ?? []).filter((name) => name !== NORTHD);
    return { ...component, after: component.name === NORTHD ? [...after, SYNC] : after };
  });
  const components = [...changed, { ...syncJob(catalogue), rerunWith: [NORTHBOUND] }];
  return { ...catalogue, components, graph: graphOf(components) };
}
