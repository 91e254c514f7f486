import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SecurityGroupRule, SecurityGroupRuleCreate } from "@causeway/openstack";
import { desiredRules, ruleChanges, ruleKey, type RuleInputs } from "./rules.ts";

const inputs: RuleInputs = {
  groups: { controlplane: "cp", worker: "wk" },
  managed: {},
  apiPorts: [6443],
  subnets: [{ cidr: "10.6.0.0/24", ip_version: 4 }],
};

/** "ingress IPv4 tcp 6443-6443 from any" */
function words(rule: SecurityGroupRuleCreate): string {
  const ports = rule.port_range_min === undefined ? "all" : `${rule.port_range_min}-${rule.port_range_max}`;
  const from = rule.remote_group_id ?? rule.remote_ip_prefix ?? "any";
  return `${rule.direction} ${rule.ethertype} ${rule.protocol ?? "any"} ${ports} from ${from}`;
}

const list = (role: "controlplane" | "worker", change: Partial<RuleInputs> = {}) =>
  desiredRules(role, { ...inputs, ...change })
    .map(words)
    .sort();

const egress = ["egress IPv4 any all from any", "egress IPv6 any all from any"];
const nodePorts = ["wk", "cp", "10.6.0.0/24"].flatMap((from) =>
  ["tcp", "udp"].map((p) => `ingress IPv4 ${p} 30000-32767 from ${from}`),
);

describe("the security group rules of a cluster", () => {
  it("open API, etcd and kubelet of control planes", () => {
    expect(list("controlplane")).toEqual(
      [
        ...egress,
        "ingress IPv4 tcp 6443-6443 from any",
        "ingress IPv4 tcp 2379-2380 from cp",
        "ingress IPv4 tcp 10250-10250 from cp",
        "ingress IPv4 tcp 10250-10250 from wk",
      ].sort(),
    );
  });

  it("open kubelet and node ports of workers", () => {
    const kubelet = ["cp", "wk"].map((from) => `ingress IPv4 tcp 10250-10250 from ${from}`);
    expect(list("worker")).toEqual([...egress, ...kubelet, ...nodePorts].sort());
  });

  it("open the port that the API server has, and the load balancer's others", () => {
    const rules = list("controlplane", { apiPorts: [8443, 8132] });
    expect(rules).toContain("ingress IPv4 tcp 8443-8443 from any");
    expect(rules).toContain("ingress IPv4 tcp 8132-8132 from any");
    expect(rules.join()).not.toContain("6443-6443");
  });

  it("replace the etcd and kubelet rules by all traffic inside the cluster with allowAllInClusterTraffic", () => {
    const managed = { allowAllInClusterTraffic: true };
    const inside = ["cp", "wk"].map((from) => `ingress IPv4 any all from ${from}`);
    expect(list("controlplane", { managed })).toEqual(
      [...egress, ...inside, "ingress IPv4 tcp 6443-6443 from any"].sort(),
    );
    expect(list("worker", { managed })).toEqual([...egress, ...inside, ...nodePorts].sort());
  });

  it("have IPv6 twins as soon as a subnet is IPv6", () => {
    const rules = list("worker", { subnets: [...inputs.subnets, { cidr: "fd00::/64", ip_version: 6 }] });
    expect(rules).toContain("ingress IPv6 tcp 30000-32767 from fd00::/64");
    expect(rules).toContain("ingress IPv6 udp 30000-32767 from wk");
    expect(rules).toContain("ingress IPv6 tcp 10250-10250 from cp");
  });

  it("add the user's rules, one for each remote group", () => {
    const rules = list("worker", {
      managed: {
        clusterNodesSecurityGroupRules: [
          {
            name: "bgp",
            direction: "ingress",
            protocol: "tcp",
            portRangeMin: 179,
            portRangeMax: 179,
            remoteManagedGroups: ["controlplane", "worker", "bastion"],
          },
        ],
        workerNodesSecurityGroupRules: [{ name: "self", direction: "ingress", protocol: "4", remoteGroupID: "self" }],
        controlPlaneNodesSecurityGroupRules: [{ name: "other", direction: "ingress", protocol: "udp" }],
      },
    });
    expect(rules.filter((r) => r.includes("179"))).toEqual([
      "ingress IPv4 tcp 179-179 from cp",
      "ingress IPv4 tcp 179-179 from wk",
    ]);
    expect(rules).toContain("ingress IPv4 4 all from wk");
    expect(rules.some((r) => r.startsWith("ingress IPv4 udp all"))).toBe(false);
  });
});

describe("the changes to security group rules", () => {
  const same: [string, Partial<SecurityGroupRuleCreate>, Partial<SecurityGroupRuleCreate>][] = [
    ["a protocol by number and by name", { protocol: "4" }, { protocol: "ipip" }],
    ["any protocol in two spellings", { protocol: "any" }, { protocol: null }],
    ["a prefix with host bits", { remote_ip_prefix: "10.6.0.7/24" }, { remote_ip_prefix: "10.6.0.0/24" }],
    ["other descriptions", { description: "a" }, { description: "b" }],
  ];
  it.each(same)("take %s for the same rule", (_name, a, b) => {
    const base = { security_group_id: "g", direction: "ingress" as const, ethertype: "IPv4" as const };
    expect(ruleKey({ ...base, ...a })).toBe(ruleKey({ ...base, ...b }));
  });

  it("change any rules to exactly the wanted ones", () => {
    const rule = fc.record({
      security_group_id: fc.constant("g"),
      direction: fc.constantFrom("ingress" as const, "egress" as const),
      ethertype: fc.constantFrom("IPv4" as const, "IPv6" as const),
      protocol: fc.constantFrom("tcp", "udp", null),
      port_range_min: fc.constantFrom(80, 443),
      port_range_max: fc.constantFrom(443, 500),
      remote_group_id: fc.constantFrom("a", "b", null),
      remote_ip_prefix: fc.constant(null),
    });
    const rules = fc.uniqueArray(rule, { selector: ruleKey, maxLength: 10 });
    fc.assert(
      fc.property(rules, rules, (wanted, before) => {
        const present = before.map((r, i): SecurityGroupRule => ({
          ...r,
          id: `r${i}`,
          description: "",
          project_id: "p",
        }));
        const { add, remove } = ruleChanges(wanted, present, () => true);
        const after = [...present.filter((r) => !remove.includes(r)), ...add];
        expect(after.map(ruleKey).sort()).toEqual(wanted.map(ruleKey).sort());
      }),
    );
  });
});
