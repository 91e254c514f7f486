import { describe, expect, test } from "vitest";
import type { FloatingIp, LoadBalancer, SecurityGroup } from "@causeway/openstack";
import { annotation } from "../config/annotations.ts";
import { aFloatingIp } from "../testing/model-parts.ts";
import { aService } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { planSweep } from "./plan.ts";

const uid = "0a1b2c3d-0000-4000-8000-00000000000f";
const live = aService({}, {}, { name: "live" });

const aBalancer = (changes: Partial<LoadBalancer> = {}) =>
  ({
    id: "lb",
    name: "kube_service_c_default_dead",
    description: "Kubernetes external service default/dead from cluster c",
    tags: ["kube_service_c_default_dead", "k8s-owner=c/1"],
    vip_port_id: "vip",
    provisioning_status: "ACTIVE",
    ...changes,
  }) as LoadBalancer;

const anAddress = (changes: Partial<FloatingIp> = {}): FloatingIp => ({
  ...aFloatingIp("ip", "172.24.4.7"),
  description: "Floating IP for Kubernetes external service default/dead from cluster c",
  ...changes,
});

const aGroup = (changes: Partial<SecurityGroup> = {}) =>
  ({
    id: "sg",
    name: `lb-sg-${uid}-default-dead`,
    description: "Security Group for default/dead Service LoadBalancer in cluster c",
    ...changes,
  }) as SecurityGroup;

function sweep(changes: Partial<Observed>, floatingIps = true) {
  const nothing = { loadBalancers: [], floatingIps: [], securityGroups: [], ports: [] };
  return planSweep({ clusterName: "c", services: [live], ...nothing, ...changes }, { floatingIps });
}
const keptOf = (changes: Partial<Observed>, floatingIps = true) => sweep(changes, floatingIps).map((o) => o.kept);

test("a sweep finds what a dead Service left: load balancers, then addresses, then security groups", () => {
  const all = { loadBalancers: [aBalancer()], floatingIps: [anAddress()], securityGroups: [aGroup()] };
  const common = { service: "default/dead", kept: undefined };
  expect(sweep(all)).toEqual([
    { kind: "load balancer", id: "lb", name: "kube_service_c_default_dead", ...common },
    { kind: "floating IP", id: "ip", name: "172.24.4.7", ...common },
    { kind: "security group", id: "sg", name: `lb-sg-${uid}-default-dead`, ...common },
  ]);
  expect(sweep({ ...all, services: [aService({}, {}, { name: "dead", uid })] })).toEqual([]);
});

test("a Service of the same name in another namespace, or of another name in the same, is another", () => {
  const all = { loadBalancers: [aBalancer()], floatingIps: [anAddress()] };
  const others = [aService({}, {}, { name: "dead", namespace: "other" }), aService({}, {}, { name: "other" })];
  expect(keptOf({ ...all, services: others })).toEqual([undefined, undefined]);
});

describe("a load balancer", () => {
  test.each([
    ["of the other family", "kube_service_c_default_dead_ipv6"],
    ["of the other family of an IPv6 Service", "kube_service_c_default_dead_ipv4"],
    ["that was being replaced", "kube_service_c_default_dead_retiring"],
  ])("%s goes with its Service", (_what, name) => {
    expect(keptOf({ loadBalancers: [aBalancer({ name })] })).toEqual([undefined]);
  });

  test.each<[string, Partial<LoadBalancer>]>([
    ["another cluster's name", { name: "kube_service_c2_default_dead" }],
    ["the name of a cluster that begins like ours", { name: "kube_service_c_d_default_dead" }],
    ["a person's name", { name: "dead" }],
    ["a name without a Service", { name: "kube_service_c_default" }],
    ["a name that says more", { name: "kube_service_c_default_dead_more" }],
    ["another cluster's description", { description: "Kubernetes external service default/dead from cluster c2" }],
    ["no description", { description: "" }],
  ])("with %s is not ours", (_what, changes) => {
    expect(sweep({ loadBalancers: [aBalancer(changes)] })).toEqual([]);
  });

  const used = "Service default/live uses it";
  const foreign = "a Service of another cluster uses it";
  test.each<[string, Partial<LoadBalancer>, Record<string, string>, string | undefined]>([
    ["that a Service names by its ID is kept", {}, { [annotation.loadBalancerId]: "lb" }, used],
    ["goes although a Service names another one", {}, { [annotation.loadBalancerId]: "other" }, undefined],
    ["with a living Service's tag is kept", { tags: ["kube_service_c_default_live"] }, {}, used],
    ["goes with the tags of the dead alone", { tags: ["kube_service_c_default_gone", "theirs"] }, {}, undefined],
    ["of both families has tags of the dead alone", { tags: ["kube_service_c_default_gone_ipv6"] }, {}, undefined],
    ["with a tag of another cluster is kept", { tags: ["kube_service_c2_default_web"] }, {}, foreign],
    ["with a tag of a cluster that begins like ours is kept", { tags: ["kube_service_c_d_default_web"] }, {}, foreign],
    ["that is changed just now is kept", { provisioning_status: "PENDING_UPDATE" }, {}, "it is PENDING_UPDATE"],
    ["in ERROR goes", { provisioning_status: "ERROR" }, {}, undefined],
  ])("%s", (_what, changes, annotations, kept) => {
    const services = [aService({}, annotations, { name: "live" })];
    expect(keptOf({ services, loadBalancers: [aBalancer(changes)] })).toEqual([kept]);
  });
});

describe("a floating IP", () => {
  const perhaps = "it may be kept on purpose (keep-floatingip); --floating-ips deletes it, too";

  test("goes where that is requested, for it may be kept on purpose", () => {
    expect(keptOf({ floatingIps: [anAddress()] }, true)).toEqual([undefined]);
    expect(keptOf({ floatingIps: [anAddress()] }, false)).toEqual([perhaps]);
  });

  test.each<[string, Partial<LoadBalancer>, string | null, string | undefined]>([
    ["that nothing has is not in use, whatever word Neutron has for nothing", {}, "", undefined],
    ["of a load balancer that goes is not in use", {}, "vip", undefined],
    ["of one that remains is", { provisioning_status: "PENDING_UPDATE" }, "vip", "something else uses it"],
    ["of a server is", {}, "server", "something else uses it"],
  ])("%s", (_what, changes, port_id, kept) => {
    const all = { loadBalancers: [aBalancer(changes)], floatingIps: [anAddress({ port_id })] };
    expect(keptOf(all).at(-1)).toBe(kept);
  });

  test.each([
    "Floating IP for Kubernetes external service default/dead from cluster c2",
    "Floating IP of mine for default/dead from cluster c",
    "mine",
  ])("that is described as %s is not ours", (description) => {
    expect(sweep({ floatingIps: [anAddress({ description })] })).toEqual([]);
  });
});

describe("a security group", () => {
  test("is its Service's by UID: that of a Service of the same name that was recreated goes", () => {
    const services = [aService({}, {}, { name: "dead", uid: "another" })];
    expect(keptOf({ services, securityGroups: [aGroup()] })).toEqual([undefined]);
  });

  test.each<[string, Partial<SecurityGroup>]>([
    ["without a UID in its name", { name: "lb-sg-default-dead" }],
    ["with more in its name", { name: `lb-sg-${uid}-default-dead-2` }],
    [
      "described by another cluster",
      { description: "Security Group for default/dead Service LoadBalancer in cluster d" },
    ],
    ["described by a person", { description: "mine" }],
  ])("%s is not ours", (_what, changes) => {
    expect(sweep({ securityGroups: [aGroup(changes)] })).toEqual([]);
  });
});
