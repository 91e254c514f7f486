import type { Network, Subnet } from "@causeway/openstack";
import { expect, test } from "vitest";
import { description, networkName } from "./naming.ts";
import { ownNetworks } from "./own-networks.ts";

const crn = "default-web";
const mark = { name: networkName(crn), description: description(crn), projectId: "p1" };

const network = (id: string, more: Partial<Network> = {}) =>
  ({ id, name: mark.name, description: mark.description, project_id: "p1", ...more }) as Network;
const subnet = (network_id: string, more: Partial<Subnet> = {}) =>
  ({
    id: `s-${network_id}`,
    network_id,
    name: mark.name,
    description: mark.description,
    project_id: "p1",
    ...more,
  }) as Subnet;
const upstream = network("n1", { description: "" });

test.each<[string, Network, readonly Subnet[], string | undefined, boolean]>([
  ["ours has the description", network("n1"), [], undefined, true],
  ["ours names its object", network("n1", { description: `${mark.description} (uid-1)` }), [], undefined, true],
  [
    "another cluster's has a longer name",
    network("n1", { description: `${mark.description}-2 (uid-1)` }),
    [],
    "n1",
    false,
  ],
  ["upstream's has none, and a marked subnet", upstream, [subnet("n1")], undefined, true],
  ["upstream's before it has a subnet is recorded in the status", upstream, [], "n1", true],
  ["one of the name that nothing proves is a stranger's", upstream, [], undefined, false],
  [
    "a subnet of another description proves nothing",
    upstream,
    [subnet("n1", { description: "mine" })],
    undefined,
    false,
  ],
  ["a marked subnet of another network proves nothing", upstream, [subnet("n2")], undefined, false],
  [
    "another description is a stranger's, though the status records it",
    network("n1", { description: "mine" }),
    [],
    "n1",
    false,
  ],
  [
    "another name is a stranger's, though the status records it",
    network("n1", { name: "x", description: "" }),
    [],
    "n1",
    false,
  ],
  ["another project's is not ours", network("n1", { description: "", project_id: "p2" }), [subnet("n1")], "n1", false],
])("a network of the cluster: %s", (_what, one, subnets, recordedId, expected) => {
  expect(ownNetworks({ networks: [one], subnets }, { ...mark, crn, recordedId })).toHaveLength(expected ? 1 : 0);
});
