import { labels, type OpenStackMachine } from "@causeway/api";
import type { Subnet } from "@causeway/openstack";
import { expect, test } from "vitest";
import { desiredMembers } from "./members.ts";
import type { ClusterContext } from "./model.ts";

type Status = NonNullable<OpenStackMachine["status"]>;

const addresses: Status["addresses"] = [{ type: "InternalIP", address: "10.6.0.4" }];
const provisioned = { initialization: { provisioned: true } };

function machine(status: Status, metadata: object = {}): OpenStackMachine {
  return {
    metadata: { name: "cp-0", namespace: "default", labels: { [labels.controlPlane]: "" }, ...metadata },
    spec: {},
    status,
  } as unknown as OpenStackMachine;
}

test.each<[string, OpenStackMachine, boolean]>([
  ["runs", machine({ addresses, instanceState: "ACTIVE" }), true],
  ["is switched off", machine({ addresses, instanceState: "SHUTOFF", ...provisioned }), false],
  ["was provisioned by upstream's provider, which records no state", machine({ addresses, ...provisioned }), true],
  ["is being made", machine({ addresses }), false],
  ["has no address yet", machine({ instanceState: "ACTIVE", addresses: [] }), false],
  [
    "is being deleted",
    machine({ addresses, instanceState: "ACTIVE" }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    false,
  ],
  ["is a worker", machine({ addresses, instanceState: "ACTIVE" }, { labels: {} }), false],
])("a machine that %s is a member of the API's load balancer or not %#", (_what, one, expected) => {
  const context = { machines: [one], tags: [] } as unknown as ClusterContext;
  const members = desiredMembers(context, "pool", 6443, [{ cidr: "10.6.0.0/24" } as Subnet]);
  expect(members.map(({ name, address }) => `${name} ${address}`)).toEqual(expected ? ["pool-cp-0 10.6.0.4"] : []);
});
