import type { OpenStackClusterSpec, SecurityGroupRuleSpec } from "@causeway/api";
import type { SecurityGroupRule, SecurityGroupRuleCreate, Subnet } from "@causeway/openstack";
import { parseCidr } from "../resources/cidr.ts";
import type { NodeRole } from "../resources/naming.ts";

/** The managed groups, by role. */
export type GroupIds = Readonly<Record<NodeRole, string>> & { readonly bastion?: string };

/** What the rules depend on. */
export interface RuleInputs {
  readonly groups: GroupIds;
  readonly managed: NonNullable<OpenStackClusterSpec["managedSecurityGroups"]>;
  readonly apiPorts: readonly number[];
  readonly subnets: readonly Pick<Subnet, "cidr" | "ip_version">[];
}

type Ethertype = "IPv4" | "IPv6";

interface Shape {
  readonly description: string;
  readonly protocol?: string;
  readonly ports?: readonly [number, number];
  readonly group?: string;
  readonly prefix?: string;
}

/** The rules that a role's group must have: exactly these. */
export function desiredRules(role: NodeRole, inputs: RuleInputs): SecurityGroupRuleCreate[] {
  const { groups, managed } = inputs;
  const families = ethertypes(inputs.subnets);
  const groupId = groups[role];
  const rules = [
    ...egress(groupId),
    ...(role === "controlplane" ? controlPlaneShapes(inputs) : workerShapes(inputs)).flatMap((shape) =>
      ingress(groupId, shape, families),
    ),
    ...(role === "worker" ? nodePortsFromSubnets(inputs) : []),
    ...sshFromBastion(groups).flatMap((shape) => ingress(groupId, shape, families)),
    ...userRules(role, managed).flatMap((rule) => expand(rule, role, groups)),
  ];
  return [...new Map(rules.map((rule) => [ruleKey(rule), rule])).values()];
}

/** The rules of the bastion's group: SSH from everywhere. */
export function bastionRules(groupId: string, { subnets }: Pick<RuleInputs, "subnets">): SecurityGroupRuleCreate[] {
  return [...egress(groupId), ...ingress(groupId, ssh, ethertypes(subnets))];
}

const ssh: Shape = { description: "SSH", protocol: "tcp", ports: [22, 22] };

function sshFromBastion({ bastion }: GroupIds): Shape[] {
  return bastion === undefined ? [] : [{ ...ssh, group: bastion }];
}

/** IPv4 always; IPv6 as soon as a subnet has it. */
function ethertypes(subnets: RuleInputs["subnets"]): Ethertype[] {
  return subnets.some((s) => s.ip_version === 6) ? ["IPv4", "IPv6"] : ["IPv4"];
}

function egress(groupId: string): SecurityGroupRuleCreate[] {
  return (["IPv4", "IPv6"] as const).map((ethertype) => ({
    security_group_id: groupId,
    direction: "egress",
    ethertype,
    description: "Full open",
  }));
}

function controlPlaneShapes({ groups, managed, apiPorts }: RuleInputs): Shape[] {
  const own = groups.controlplane;
  const api: Shape[] = apiPorts.map((port, i) => ({
    description: i === 0 ? "Kubernetes API" : "Additional port",
    protocol: "tcp",
    ports: [port, port],
  }));
  if (managed.allowAllInClusterTraffic) return [...api, ...inCluster(groups)];
  return [...api, { description: "Etcd", protocol: "tcp", ports: [2379, 2380], group: own }, ...kubelet(groups)];
}

function workerShapes({ groups, managed }: RuleInputs): Shape[] {
  const nodePorts: Shape[] = [groups.worker, groups.controlplane].flatMap((group) =>
    ["tcp", "udp"].map((protocol) => ({ ...nodePort(protocol), group })),
  );
  return [...(managed.allowAllInClusterTraffic ? inCluster(groups) : kubelet(groups)), ...nodePorts];
}

function kubelet(groups: GroupIds): Shape[] {
  return [groups.controlplane, groups.worker].map((group) => ({
    description: "Kubelet API",
    protocol: "tcp",
    ports: [10250, 10250],
    group,
  }));
}

function inCluster(groups: GroupIds): Shape[] {
  return [groups.controlplane, groups.worker].map((group) => ({ description: "In-cluster Ingress", group }));
}

function nodePort(protocol: string): Shape {
  return { description: "Node Port Services", protocol, ports: [30000, 32767] };
}

/** Load balancers reach node ports from the subnets, so each subnet has its rule in its own IP version. */
function nodePortsFromSubnets({ groups, subnets }: RuleInputs): SecurityGroupRuleCreate[] {
  return subnets.flatMap((subnet) =>
    ["tcp", "udp"].flatMap((protocol) =>
      ingress(groups.worker, { ...nodePort(protocol), prefix: subnet.cidr }, [
        subnet.ip_version === 6 ? "IPv6" : "IPv4",
      ]),
    ),
  );
}

function ingress(groupId: string, shape: Shape, families: readonly Ethertype[]): SecurityGroupRuleCreate[] {
  return families.map((ethertype) => ({
    security_group_id: groupId,
    direction: "ingress",
    ethertype,
    description: shape.description,
    ...(shape.protocol ? { protocol: shape.protocol } : {}),
    ...(shape.ports ? { port_range_min: shape.ports[0], port_range_max: shape.ports[1] } : {}),
    ...(shape.group ? { remote_group_id: shape.group } : {}),
    ...(shape.prefix ? { remote_ip_prefix: shape.prefix } : {}),
  }));
}

/** The rules of the spec's lists for a role: the part of `desiredRules` that a description does not identify. */
export function listedRules(role: NodeRole, { managed, groups }: RuleInputs): SecurityGroupRuleCreate[] {
  return userRules(role, managed).flatMap((rule) => expand(rule, role, groups));
}

function userRules(role: NodeRole, managed: RuleInputs["managed"]): readonly SecurityGroupRuleSpec[] {
  const own =
    role === "controlplane" ? managed.controlPlaneNodesSecurityGroupRules : managed.workerNodesSecurityGroupRules;
  return [...(managed.clusterNodesSecurityGroupRules ?? []), ...(own ?? [])];
}

/**
 * One rule per remote managed group; "self" is the group itself. Nothing comes from the bastion's while there is no
 * bastion.
 */
function expand(rule: SecurityGroupRuleSpec, role: NodeRole, groups: GroupIds): SecurityGroupRuleCreate[] {
  const base: SecurityGroupRuleCreate = {
    security_group_id: groups[role],
    direction: rule.direction,
    ethertype: rule.etherType ?? "IPv4",
    description: rule.description ?? "",
    ...(rule.protocol ? { protocol: rule.protocol } : {}),
    ...(rule.portRangeMin === undefined ? {} : { port_range_min: rule.portRangeMin }),
    ...(rule.portRangeMax === undefined ? {} : { port_range_max: rule.portRangeMax }),
  };
  if (rule.remoteManagedGroups?.length) {
    return rule.remoteManagedGroups.flatMap((remote) => {
      const id = groups[remote];
      return id === undefined ? [] : [{ ...base, remote_group_id: id }];
    });
  }
  if (rule.remoteGroupID) {
    return [{ ...base, remote_group_id: rule.remoteGroupID === "self" ? groups[role] : rule.remoteGroupID }];
  }
  return [rule.remoteIPPrefix ? { ...base, remote_ip_prefix: rule.remoteIPPrefix } : base];
}

const protocolNames: Readonly<Record<string, string>> = {
  "1": "icmp",
  "2": "igmp",
  "4": "ipip",
  "6": "tcp",
  "17": "udp",
  "47": "gre",
  "50": "esp",
  "51": "ah",
  "58": "ipv6-icmp",
  "112": "vrrp",
  "132": "sctp",
  icmpv6: "ipv6-icmp",
  any: "",
  "0": "",
};

/** What two rules must share to be the same rule to Neutron: everything but the description. */
export function ruleKey(rule: SecurityGroupRuleCreate | SecurityGroupRule): string {
  const protocol = (rule.protocol ?? "").toLowerCase();
  const prefix = rule.remote_ip_prefix ?? "";
  return [
    rule.security_group_id,
    rule.direction,
    rule.ethertype ?? "IPv4",
    protocolNames[protocol] ?? protocol,
    rule.port_range_min ?? "",
    rule.port_range_max ?? "",
    rule.remote_group_id ?? "",
    prefix === "" ? "" : (parseCidr(prefix)?.text ?? prefix),
  ].join("|");
}

/**
 * What makes a security group have its declared rules. Rules are immutable in Neutron: a change is both an add and a
 * remove.
 */
export interface RuleChanges {
  readonly add: readonly SecurityGroupRuleCreate[];
  readonly remove: readonly SecurityGroupRule[];
}

/** What turns the rules there are into the rules wanted. Rules that `isOurs` does not accept remain. */
export function ruleChanges(
  wanted: readonly SecurityGroupRuleCreate[],
  present: readonly SecurityGroupRule[],
  isOurs: (rule: SecurityGroupRule) => boolean,
): RuleChanges {
  const wantedKeys = new Set(wanted.map(ruleKey));
  const presentKeys = new Set(present.map(ruleKey));
  return {
    add: wanted.filter((rule) => !presentKeys.has(ruleKey(rule))),
    remove: present.filter((rule) => !wantedKeys.has(ruleKey(rule)) && isOurs(rule)),
  };
}
