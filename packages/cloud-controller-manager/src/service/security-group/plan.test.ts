import { describe, expect, test } from "vitest";
import type { ServicePort } from "@causeway/kubernetes";
import type { Port, SecurityGroup, SecurityGroupRule } from "@causeway/openstack";
import { aService, tcp80, udp53 } from "../../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";

const aPort = (id: string, groups: readonly string[] = [], changes: Partial<Port> = {}) =>
  ({ id, security_groups: [...groups], revision_number: 7, ...changes }) as Port;

const aGroup = (id: string, rules: readonly Partial<SecurityGroupRule>[] = []) =>
  ({ id, security_group_rules: rules.map((rule, i) => ({ id: `r${i}`, ...rule })) }) as SecurityGroup;

/** What lets a network send to a port. */
function ingress(protocol: string, port: number, prefix: string | null, changes: Partial<SecurityGroupRule> = {}) {
  const ports = { port_range_min: port, port_range_max: port };
  return { direction: "ingress", ethertype: "IPv4", protocol, ...ports, remote_ip_prefix: prefix, ...changes } as const;
}

function observed(changes: Partial<Observed> = {}): Observed {
  return {
    service: aService(),
    clusterName: "c1",
    wanted: true,
    groups: [],
    nodePorts: [],
    grouped: [],
    memberCidrs: ["10.0.0.0/24"],
    sourceRanges: ["0.0.0.0/0"],
    clientsSeen: false,
    ...changes,
  };
}

const stepsOf = (changes: Partial<Observed>) => plan(observed(changes)).steps;

/** The rules that are added to a group without any. */
function rulesOf(spec: Parameters<typeof aService>[0], changes: Partial<Observed> = {}) {
  const steps = stepsOf({ service: aService(spec), groups: [aGroup("g")], ...changes });
  return steps.flatMap((step) => (step.type === "add-rules" ? step.rules : []));
}

describe("the security group of a Service", () => {
  test("is created with the name and description by which it is found again", () => {
    const name = "lb-sg-0b0c-1-default-web";
    const description = "Security Group for default/web Service LoadBalancer in cluster c1";
    expect(stepsOf({})).toEqual([{ type: "create-group", name, description }]);
  });

  test("that is complete has no steps", () => {
    const groups = [aGroup("g", [ingress("tcp", 30_080, "10.0.0.0/24")])];
    const nodePorts = [aPort("p", ["g"])];
    expect(stepsOf({ groups, nodePorts, grouped: nodePorts })).toEqual([]);
  });

  test("is one: of two of its name the one with the greater ID leaves its ports, then goes", () => {
    const groups = [aGroup("b"), aGroup("a")];
    const ports = [{ id: "p", revision: 7, groups: ["a", "other"] }];
    const grouped = [aPort("p", ["a", "b", "other"]), aPort("q", ["a"])];
    expect(stepsOf({ groups, grouped })).toEqual([{ type: "set-port-groups", ports }]);
    expect(stepsOf({ groups, grouped: [aPort("q", ["a"])] })).toEqual([{ type: "delete-group", id: "b" }]);
    const three = [aGroup("c"), aGroup("a"), aGroup("b")];
    expect(stepsOf({ groups: three }).map((step) => step.type === "delete-group" && step.id)).toEqual(["c", "b"]);
  });

  test("that is not wanted leaves its ports first, for Neutron deletes none that is in use, then goes", () => {
    const not = { wanted: false, groups: [aGroup("g")] };
    expect(stepsOf({ ...not, grouped: [aPort("p", ["other", "g"]), aPort("q", ["other"])] })).toEqual([
      { type: "set-port-groups", ports: [{ id: "p", revision: 7, groups: ["other"] }] },
    ]);
    expect(stepsOf({ ...not, nodePorts: [aPort("p")] })).toEqual([{ type: "delete-group", id: "g" }]);
    expect(stepsOf({ wanted: false })).toEqual([]);
  });
});

describe("the rules of a Service's security group", () => {
  const cidr = "10.0.0.0/24";

  test.each<[string, Parameters<typeof aService>[0], Partial<Observed>, object[]]>([
    [
      "the load balancer's network to each node port",
      { ports: [tcp80, udp53] },
      {},
      [ingress("tcp", 30_080, cidr), ingress("udp", 30_053, cidr)],
    ],
    [
      "each of its networks",
      {},
      { memberCidrs: [cidr, "fd00::/64"] },
      [ingress("tcp", 30_080, cidr), ingress("tcp", 30_080, "fd00::/64", { ethertype: "IPv6" })],
    ],
    [
      "TCP where a port names no protocol",
      { ports: [{ port: 80, nodePort: 30_080 }] },
      {},
      [ingress("tcp", 30_080, cidr)],
    ],
    ["nothing to a port without a node port", { ports: [{ port: 80 }, { port: 81, nodePort: 0 }] }, {}, []],
    ["nothing for a Service without ports", { ports: undefined as unknown as ServicePort[] }, {}, []],
    [
      "clients themselves where nodes see their addresses",
      {},
      { clientsSeen: true, sourceRanges: ["192.0.2.0/24", "198.51.100.7/24"] },
      [ingress("tcp", 30_080, "192.0.2.0/24"), ingress("tcp", 30_080, "198.51.100.0/24")],
    ],
    [
      "the load balancer alone to the health check's node port",
      { healthCheckNodePort: 32_000 },
      { clientsSeen: true, sourceRanges: ["192.0.2.0/24"] },
      [ingress("tcp", 30_080, "192.0.2.0/24"), ingress("tcp", 32_000, cidr)],
    ],
    ["each only once", { healthCheckNodePort: 30_080 }, {}, [ingress("tcp", 30_080, cidr)]],
    ["no source that is no network", {}, { clientsSeen: true, sourceRanges: ["lan"] }, []],
  ])("let in %s", (_what, spec, changes, rules) => {
    expect(rulesOf(spec, changes)).toEqual(rules);
  });

  test("are left as they are while the load balancer's network is not known", () => {
    expect(stepsOf({ groups: [aGroup("g", [ingress("tcp", 1, cidr)])], memberCidrs: [] })).toEqual([]);
  });

  test("that are missing come before those that are too many go; what lets nodes out is no concern", () => {
    const out: Partial<SecurityGroupRule> = { ...ingress("tcp", 1, null), direction: "egress" };
    const groups = [aGroup("g", [out, ingress("tcp", 1, cidr), ingress("udp", 2, cidr)])];
    expect(stepsOf({ groups })).toEqual([
      { type: "add-rules", groupId: "g", rules: [ingress("tcp", 30_080, cidr)] },
      { type: "remove-rules", ids: ["r1", "r2"] },
    ]);
  });

  test.each([
    ["0.0.0.0/0", "IPv4"],
    ["::/0", "IPv6"],
  ] as const)("from %s are the same where Neutron returns no prefix for it", (range, ethertype) => {
    const own = aGroup("g", [ingress("tcp", 30_080, null, { ethertype, remote_group_id: null })]);
    expect(stepsOf({ groups: [own], clientsSeen: true, sourceRanges: [range] })).toEqual([]);
  });

  test.each<[string, Partial<SecurityGroupRule>]>([
    ["another family", { ethertype: "IPv6" }],
    ["another protocol", { protocol: "udp" }],
    ["more ports below", { port_range_min: 1 }],
    ["more ports above", { port_range_max: 65_535 }],
    ["another network", { remote_ip_prefix: "10.0.0.0/8" }],
    ["members of a group", { remote_group_id: "other" }],
  ])("do not count where they are for %s", (_what, change) => {
    const groups = [aGroup("g", [ingress("tcp", 30_080, cidr, change)])];
    expect(stepsOf({ groups }).map((step) => step.type)).toEqual(["add-rules", "remove-rules"]);
  });
});

describe("the ports with a Service's security group", () => {
  const groups = [aGroup("g", [ingress("tcp", 30_080, "10.0.0.0/24")])];

  test("are those of the members: it is added to the groups of one that joins, and removed from one that leaves", () => {
    const grouped = [aPort("leaves", ["g", "other"]), aPort("remains", ["g"])];
    const nodePorts = [aPort("remains", ["g"]), aPort("joins", ["other"])];
    const ports = [
      { id: "joins", revision: 7, groups: ["other", "g"] },
      { id: "leaves", revision: 7, groups: ["other"] },
    ];
    expect(stepsOf({ groups, nodePorts, grouped })).toEqual([{ type: "set-port-groups", ports }]);
  });

  test("are none without port security, on which Neutron refuses groups", () => {
    const open = (id: string, own: readonly string[] = []) => aPort(id, own, { port_security_enabled: false });
    expect(stepsOf({ groups, nodePorts: [open("p")] })).toEqual([]);
    expect(stepsOf({ groups, nodePorts: [open("p")], grouped: [open("p", ["g"])] })).toEqual([
      { type: "set-port-groups", ports: [{ id: "p", revision: 7, groups: [] }] },
    ]);
    expect(stepsOf({ groups, nodePorts: [aPort("q", [], { port_security_enabled: true })] })).toHaveLength(1);
  });
});
