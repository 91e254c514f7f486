import { describe, expect, test } from "vitest";
import { resolveCatalogue } from "../catalogue/index.ts";
import { spec } from "../testing/rendered.ts";
import { withUpgradeJobs } from "../upgrade/jobs.ts";
import { SYNC } from "./jobs.ts";
import { SOUTHBOUND_SYNC, withNorthboundRebuild, withSouthboundRebuild } from "./ovn-databases.ts";

const plain = resolveCatalogue(spec);
const orderOf = ({ graph }: typeof plain, names: readonly string[]) =>
  graph.order.map(({ name }) => name).filter((name) => names.includes(name));

describe("the order in which a lost database of OVN is rebuilt", () => {
  const southbound = ["ovn-northd", SOUTHBOUND_SYNC, "ovn-controller", "neutron-server", "neutron-ovn-metadata-agent"];

  test("has northd before the controllers of nodes, and Neutron after them, for the southbound one", () => {
    expect(orderOf(withSouthboundRebuild(plain), southbound)).toEqual(southbound);
  });

  test("is the same during an upgrade, whose own order would be a cycle with it", () => {
    expect(orderOf(withUpgradeJobs(withSouthboundRebuild(plain)), southbound)).toEqual(southbound);
  });

  test("has Neutron and what it writes before northd, for the northbound one", () => {
    const northbound = ["neutron-server", SYNC, "ovn-northd"];
    expect(orderOf(withNorthboundRebuild(plain), northbound)).toEqual(northbound);
  });

  test("is that of a deployment without nodes for servers, which has no controllers", () => {
    const names = new Set(["ovn-controller"]);
    const components = plain.components.filter(({ name }) => !names.has(name));
    expect(withSouthboundRebuild({ ...plain, components }).components).toEqual(components);
  });
});
