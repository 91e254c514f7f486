import { describe, expect, it } from "vitest";
import { port } from "../dry-run/resources.ts";
import { Interests, valuesOf } from "../reactions/interests.ts";
import { description, networkName, securityGroupName } from "../resources/naming.ts";
import { deleting, full, settle, world, type World } from "../testing/cluster-world.ts";
import { withNameIndex } from "../testing/name-index.ts";
import { openStackMachine } from "../testing/objects.ts";
import { interestsOf } from "./interests.ts";

const key = { namespace: "default", name: "demo" };
const crn = "default-demo";

/** Whether a change of a resource wakes the cluster. */
function wakes({ object, machines, bastion, cloud }: World, resource: object): boolean {
  const [byLists, byIndex] = [cloud.forCluster(), withNameIndex(cloud.forCluster())].map((seen) => {
    const interests = new Interests();
    interests.set(key, interestsOf({ object, crn, machines, bastion }, seen));
    return interests.of(valuesOf(resource)).length > 0;
  });
  expect(byIndex).toBe(byLists);
  return byIndex === true;
}

describe("a cluster is woken by", () => {
  it("ports of its machines only while it goes, or while one may use the group of a bastion that is gone", () => {
    const w = world(full);
    settle(w);
    const ofMachine = port(w.cloud, { name: "demo-workers-abcde-0", description: description(crn) });
    expect(wakes(w, ofMachine)).toBe(false);
    const [group] = w.cloud.securityGroups;
    if (!group) throw new Error("there is no group");
    w.cloud.securityGroups.push({ ...group, id: "sg-bastion", name: securityGroupName(crn, "bastion") });
    expect(wakes(w, ofMachine)).toBe(true);
    w.cloud.securityGroups.pop();
    deleting(w);
    expect(wakes(w, ofMachine)).toBe(true);
    expect(wakes(w, port(w.cloud, { description: description("default-other") }))).toBe(false);
    const network = w.cloud.networks.find(({ name }) => name === networkName(crn));
    expect(wakes(w, port(w.cloud, { network_id: network?.id ?? "" }))).toBe(true);
  });

  it("the first port of a control-plane machine, which a floating IP may be for, and by its own floating IP", () => {
    const w = world(full);
    settle(w);
    const own = port(w.cloud, { description: description(crn) });
    const of = (labels: Record<string, string>) => {
      const machine = openStackMachine({});
      return {
        ...machine,
        metadata: { ...machine.metadata, labels },
        status: { resources: { ports: [{ id: own.id }] } },
      };
    };
    w.machines = [of({})];
    expect(wakes(w, own)).toBe(false);
    w.machines = [of({ "cluster.x-k8s.io/control-plane": "" })];
    expect(wakes(w, own)).toBe(true);
    expect(w.cloud.floatingIps.map((ip) => wakes(w, { ...ip, floating_ip_address: "" }))).toEqual([true]);
  });

  it("an interface of its router, and a floating IP that its spec names for the bastion", () => {
    const w = world({ ...full, bastion: { floatingIP: "203.0.113.9" } });
    settle(w);
    const [router] = w.cloud.routers;
    expect(wakes(w, port(w.cloud, { device_id: router?.id ?? "" }))).toBe(true);
    expect(wakes(w, { id: "fip", floating_ip_address: "203.0.113.9" })).toBe(true);
  });
});
