import { job, needs, NORTHBOUND, SOUTHBOUND, type Catalogue } from "../catalogue/index.ts";
import { graphOf } from "../graph/graph.ts";
import type { Component } from "../model/component.ts";
import { SYNC, syncJob } from "./jobs.ts";

const NORTHD = "ovn-northd";
const CONTROLLER = "ovn-controller";
const NEUTRON = "neutron-server";

/** The Job that ends once northd has written the southbound database. */
export const SOUTHBOUND_SYNC = "ovn-sb-sync";

/**
 * The order in which a northbound database that came in place of a lost one gets its networks. Until Neutron has
 * written them, northd must not see it: it would take all networks from the southbound one, and with them the flows of
 * all nodes. It refuses the new database until it starts again, as Neutron's own processes do.
 */
export function withNorthboundRebuild(catalogue: Catalogue): Catalogue {
  if (!areThere(catalogue, [NORTHBOUND, NORTHD, NEUTRON])) return catalogue;
  const changed = catalogue.components.map((component): Component => {
    const after = (component.after ?? []).filter((name) => name !== NORTHD);
    return { ...component, after: component.name === NORTHD ? [...after, SYNC] : after };
  });
  const components = [...changed, { ...syncJob(catalogue), rerunWith: [NORTHBOUND] }];
  return { ...catalogue, components, graph: graphOf(components) };
}

/**
 * The order in which a southbound database that came in place of a lost one is written and read again: northd writes
 * it, the controllers of nodes read it only when it is whole, since they would take the flows of their nodes otherwise,
 * and Neutron last, since it would move gateways to the nodes that are back first.
 */
export function withSouthboundRebuild(catalogue: Catalogue): Catalogue {
  if (!areThere(catalogue, [SOUTHBOUND, NORTHD, CONTROLLER])) return catalogue;
  const follows: Readonly<Record<string, string | undefined>> = {
    [CONTROLLER]: SOUTHBOUND_SYNC,
    [NEUTRON]: CONTROLLER,
  };
  const changed = catalogue.components.map((component): Component => {
    const before = follows[component.name];
    if (before === undefined) return component;
    const after = [...(component.after ?? []), before];
    return component.name === CONTROLLER ? { ...component, after, everyNode: true } : { ...component, after };
  });
  const components = [...changed, southboundSync];
  return { ...catalogue, components, graph: graphOf(components) };
}

const southboundSync: Component = job("ovn", {
  name: SOUTHBOUND_SYNC,
  does: "Ends once northd has written OVN's southbound database.",
  command: ["/bin/sh", "/programs/ovn-sb-sync.sh"],
  configuration: [],
  connections: [needs(NORTHBOUND, "ovsdb")],
  programs: ["ovn-sb-sync.sh"],
  after: [NORTHD],
  rerunWith: [SOUTHBOUND],
});

const areThere = ({ components }: Catalogue, names: readonly string[]): boolean =>
  names.every((name) => components.some((each) => each.name === name));
