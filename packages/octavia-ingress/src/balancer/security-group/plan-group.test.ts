import { expect, test } from "vitest";
import type { Port, SecurityGroup } from "@causeway/openstack";
import { ingressOwner } from "../../names.ts";
import type { ObservedGroup } from "./observed.ts";
import { planGroup } from "./plan-group.ts";

const owner = ingressOwner("c", { namespace: "default", name: "web", uid: "u" });
const group = (id: string, more: Partial<SecurityGroup> = {}): SecurityGroup => ({
  id,
  name: owner.groupName,
  description: owner.groupDescription,
  project_id: "p",
  security_group_rules: [],
  tags: [...owner.groupTags],
  ...more,
});
const port = (id: string, groups: string[], more: Partial<Port> = {}): Port =>
  ({ id, security_groups: groups, revision_number: 1, device_id: "s", ...more }) as Port;
const observed = (more: Partial<ObservedGroup> = {}): ObservedGroup => ({
  managed: true,
  groups: [],
  memberPorts: [],
  grouped: [],
  cidr: "10.0.0.0/24",
  ...more,
});
const rule = (at: number, prefix = "10.0.0.0/24", ethertype = "IPv4") => ({
  direction: "ingress",
  ethertype,
  protocol: "tcp",
  port_range_min: at,
  port_range_max: at,
  remote_ip_prefix: prefix,
});
const stored = (id: string, at: number) =>
  ({ id, ...rule(at), remote_group_id: null }) as SecurityGroup["security_group_rules"][number];

test("the plan of security groups creates a group with upstream's name, description and tags, and its own tag", () => {
  expect(planGroup(owner, observed(), [30_001])).toEqual([
    {
      type: "create-security-group",
      name: "kube_ingress_c_default_web",
      description: "Security group created for Ingress default/web from cluster c",
      tags: ["octavia.ingress.kubernetes.io", "default_web", "k8s-ingress-owner=c/u"],
    },
  ]);
});

test("the plan of security groups adds a rule for each port of a member, and the group to every port of a node", () => {
  const steps = planGroup(
    owner,
    observed({ groups: [group("g")], memberPorts: [port("p", ["default"])] }),
    [30_001, 30_002, 30_001],
  );
  expect(steps).toEqual([
    { type: "add-security-group-rules", groupId: "g", rules: [rule(30_001), rule(30_002)] },
    { type: "set-port-security-groups", ports: [{ id: "p", revision: 1, groups: ["default", "g"] }] },
  ]);
});

test("the plan of security groups has rules of IPv6 for a subnet of IPv6", () => {
  const [step] = planGroup(owner, observed({ groups: [group("g")], cidr: "fd00::/64" }), [30_001]);
  expect(step).toMatchObject({ rules: [rule(30_001, "fd00::/64", "IPv6")] });
});

test("the plan of security groups removes the rule of a port that no member has, and no egress rule", () => {
  const egress = { ...stored("e", 0), direction: "egress" as const };
  const rules = [stored("a", 30_001), stored("b", 30_002), egress];
  expect(planGroup(owner, observed({ groups: [group("g", { security_group_rules: rules })] }), [30_001])).toEqual([
    { type: "remove-security-group-rules", groupId: "g", ids: ["b"] },
  ]);
});

test("the plan of security groups does nothing where the group is as it is to be", () => {
  const done = port("p", ["default", "g"]);
  const groups = [group("g", { security_group_rules: [stored("a", 30_001)] })];
  expect(planGroup(owner, observed({ groups, memberPorts: [done], grouped: [done] }), [30_001])).toEqual([]);
});

test("the plan of security groups takes the group from the ports of a node that is no member any more", () => {
  const groups = [group("g", { security_group_rules: [stored("a", 30_001)] })];
  expect(planGroup(owner, observed({ groups, grouped: [port("p", ["default", "g"])] }), [30_001])).toEqual([
    { type: "set-port-security-groups", ports: [{ id: "p", revision: 1, groups: ["default"] }] },
  ]);
});

test("the plan of security groups leaves a port without port security alone", () => {
  const groups = [group("g", { security_group_rules: [stored("a", 30_001)] })];
  const open = port("p", [], { port_security_enabled: false });
  expect(planGroup(owner, observed({ groups, memberPorts: [open] }), [30_001])).toEqual([]);
});

test("the plan of security groups adopts upstream's group by a tag, and deletes a second one after its ports have lost it", () => {
  const groups = [group("g", { tags: ["octavia.ingress.kubernetes.io", "default_web"] }), group("h")];
  const nodePort = port("p", ["g", "h"]);
  const before = observed({ groups, memberPorts: [nodePort], grouped: [nodePort] });
  const tags = ["octavia.ingress.kubernetes.io", "default_web", "k8s-ingress-owner=c/u"];
  expect(planGroup(owner, before, [])).toEqual([
    { type: "tag-security-group", id: "g", tags },
    { type: "set-port-security-groups", ports: [{ id: "p", revision: 1, groups: ["g"] }] },
  ]);
  const freed = port("p", ["g"]);
  const after = observed({ groups, memberPorts: [freed], grouped: [freed] });
  expect(planGroup(owner, after, [])).toContainEqual({ type: "delete-security-group", id: "h" });
});

test("the plan of security groups keeps all rules while the subnet is not known, or has no CIDR that can be read", () => {
  const groups = [group("g", { security_group_rules: [stored("a", 30_001)] })];
  for (const cidr of [undefined, "10.0.0.0/33"])
    expect(planGroup(owner, observed({ groups, cidr }), [30_002])).toEqual([]);
});

test("the plan of security groups deletes what is left of a time when groups were managed", () => {
  expect(planGroup(owner, observed({ managed: false, groups: [group("g")] }), [30_001])).toEqual([
    { type: "delete-security-group", id: "g" },
  ]);
});
