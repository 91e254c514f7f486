import type { Network, Subnet } from "@causeway/openstack";
import { expect, test } from "vitest";
import { firstExternalNetwork } from "./external-network.ts";

const network = (id: string, subnets: readonly string[], external = true): Network =>
  ({ id, subnets, "router:external": external }) as Network;
const shown = [
  { id: "v4", ip_version: 4 },
  { id: "v6", ip_version: 6 },
] as Subnet[];

test.each<[title: string, networks: readonly Network[], expected: string | undefined]>([
  ["the first of several", [network("a", ["v4"]), network("b", ["v4"])], "a"],
  ["not one of the project's own", [network("own", ["v4"], false), network("b", ["v4"])], "b"],
  ["not one that has only IPv6", [network("six", ["v6"]), network("b", ["v4"])], "b"],
  ["one of both families", [network("both", ["v6", "v4"])], "both"],
  ["one whose subnets are not shown to the project", [network("hidden", ["unknown"])], "hidden"],
  ["not one without subnets", [network("empty", [])], undefined],
  ["none where there is none", [], undefined],
])("floating IPs come from an external network: %s", (_title, networks, expected) => {
  expect(firstExternalNetwork(networks, () => shown)?.id).toBe(expected);
});
