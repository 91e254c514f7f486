import { VirtualClock } from "@causeway/foundation";
import type { Cloud, LoadBalancer, Port, SecurityGroup } from "@causeway/openstack";
import { expect, test } from "vitest";
import { planAbandoned } from "./abandoned.ts";
import type { Observed } from "./gather.ts";
import { createProjectListings } from "./listings.ts";

const uid = "0a1b2c3d-0000-4000-8000-00000000000f";
const group = {
  id: "sg",
  name: `lb-sg-${uid}-default-dead`,
  description: "Security Group for default/dead Service LoadBalancer in cluster c",
} as SecurityGroup;
const portOn = (network_id: string) => ({ id: network_id, network_id, security_groups: ["sg"] }) as unknown as Port;
const balancerOn = (vip_network_id: string, tags: readonly string[]) =>
  ({
    id: "lb",
    name: "x",
    description: "x",
    tags,
    vip_network_id,
    provisioning_status: "ACTIVE",
  }) as unknown as LoadBalancer;

const UNUSED = expect.stringContaining("shows that it is this cluster's");
const ELSEWHERE = "it is not on the cluster's own network";
test.for<[string, Partial<Observed>, string[], unknown]>([
  ["that a port of its network has goes", { ports: [portOn("own")] }, [], undefined],
  ["that a port of another network has, too, remains", { ports: [portOn("own"), portOn("b")] }, [], ELSEWHERE],
  ["that no port has remains", {}, [], UNUSED],
  [
    "whose Service has a load balancer on its network goes",
    { loadBalancers: [balancerOn("own", [`k8s-owner=c/${uid}`])] },
    [],
    undefined,
  ],
  [
    "whose Service's load balancer is elsewhere remains",
    { loadBalancers: [balancerOn("b", [`k8s-owner=c/${uid}`])] },
    [],
    UNUSED,
  ],
  [
    "with a load balancer of another Service remains",
    { loadBalancers: [balancerOn("own", ["k8s-owner=c/1"])] },
    [],
    UNUSED,
  ],
  ["that an earlier sweep could not remove goes", {}, ["sg"], undefined],
  ["that an earlier sweep proved, and a port elsewhere has now, remains", { ports: [portOn("b")] }, ["sg"], ELSEWHERE],
])("of a dead cluster a security group %s", ([, found, proven, kept]) => {
  const nothing = { loadBalancers: [], floatingIps: [], securityGroups: [group], ports: [] };
  const observed = { clusterName: "c", services: [], ...nothing, ...found };
  const planned = planAbandoned(observed, { networkId: "own", proven: new Set(proven) });
  expect(planned.filter(({ kind }) => kind === "security group").map((orphan) => orphan.kept)).toEqual([kept]);
});

test("sweeps of one project share a listing for a minute, and none reads what is older than its own changes", async () => {
  const clock = new VirtualClock(0);
  const lists: string[] = [];
  let isDown = false;
  const cloudOf = (project: string): Cloud => {
    const all = async () => (isDown ? Promise.reject(new Error("503")) : (lists.push(project), []));
    const kind = { all };
    return {
      projectId: async () => project,
      has: async () => false,
      network: { floatingIps: kind, securityGroups: kind, ports: kind },
      compute: { servers: kind },
    } as unknown as Cloud;
  };
  const { signal } = new AbortController();
  const listings = createProjectListings(clock, signal);
  const read = (project: string, notBefore = 0, place = "one") =>
    listings.read({ cloud: cloudOf(project), place, notBefore }, signal);
  /** Of the four lists that make one listing. */
  const counted = (): number => lists.splice(0).length / 4;
  await Promise.all([read("a"), read("a"), read("a")]);
  await clock.advance(59_000);
  await read("a");
  expect(counted()).toBe(1);
  await Promise.all([read("b"), read("a", 0, "two")]);
  expect(counted()).toBe(2);
  await read("a", 30_000);
  expect(counted()).toBe(1);
  await clock.advance(60_000);
  isDown = true;
  await expect(read("a")).rejects.toThrow("503");
  isDown = false;
  await read("a");
  expect(counted()).toBe(1);
});
