import { parseCidr } from "@causeway/foundation";
import type { Port, SecurityGroup, SecurityGroupRule } from "@causeway/openstack";
import type { Owner } from "../../names.ts";
import type { ObservedGroup } from "./observed.ts";
import type { GroupedPort, GroupStep, Rule } from "./steps.ts";

/**
 * The security group of one owner, as upstream has it: it allows TCP from the load balancer's subnet to the members'
 * ports, and is on all ports of the nodes' servers and on no other. No steps: it is as it is to be.
 */
export function planGroup(owner: Owner, observed: ObservedGroup, memberPorts: readonly number[]): GroupStep[] {
  if (!observed.managed) return releaseGroups(observed, observed.groups);
  const [group, ...surplus] = observed.groups;
  const { groupName: name, groupDescription: description, groupTags: tags } = owner;
  if (!group) return [{ type: "create-security-group", name, description, tags }];
  const untagged = tags.some((tag) => !group.tags.includes(tag));
  return [
    ...(untagged ? [{ type: "tag-security-group", id: group.id, tags: joined(group.tags, tags) } as const] : []),
    ...releaseGroups(observed, surplus),
    ...ruleSteps(group, observed.cidr, memberPorts),
    ...portSteps(observed, group),
  ];
}

/** Off all ports first: Neutron deletes no group that is in use. */
export function releaseGroups({ grouped }: ObservedGroup, groups: readonly SecurityGroup[]): GroupStep[] {
  const ids = new Set(groups.map(({ id }) => id));
  const held = grouped.filter((port) => port.security_groups.some((id) => ids.has(id)));
  if (held.length > 0)
    return [{ type: "set-port-security-groups", ports: held.map((port) => groupedPort(port, (id) => !ids.has(id))) }];
  return groups.map(({ id }) => ({ type: "delete-security-group", id }));
}

function ruleSteps(group: SecurityGroup, cidr: string | undefined, ports: readonly number[]): GroupStep[] {
  const wanted = wantedRules(cidr, ports);
  // Where the subnet is not known, no rule is known to be too much.
  if (!wanted) return [];
  const have = group.security_group_rules.filter(({ direction }) => direction === "ingress");
  const keys = new Set(wanted.map(ruleKey));
  const present = new Set(have.map(ruleKey));
  const surplus = have.filter((rule) => !keys.has(ruleKey(rule))).map(({ id }) => id);
  const missing = wanted.filter((rule) => !present.has(ruleKey(rule)));
  return [
    ...(missing.length > 0 ? [{ type: "add-security-group-rules", groupId: group.id, rules: missing } as const] : []),
    ...(surplus.length > 0 ? [{ type: "remove-security-group-rules", groupId: group.id, ids: surplus } as const] : []),
  ];
}

function wantedRules(text: string | undefined, ports: readonly number[]): Rule[] | undefined {
  const cidr = text === undefined ? undefined : parseCidr(text);
  if (text === undefined || !cidr) return undefined;
  return [...new Set(ports)].map((port) => ({
    direction: "ingress",
    ethertype: cidr.version === 6 ? "IPv6" : "IPv4",
    protocol: "tcp",
    port_range_min: port,
    port_range_max: port,
    remote_ip_prefix: text,
  }));
}

function ruleKey(rule: Rule | SecurityGroupRule): string {
  const { ethertype, protocol, port_range_min: from, port_range_max: to, remote_ip_prefix: prefix } = rule;
  return [ethertype, protocol, from, to, prefix ?? "", rule.remote_group_id ?? ""].join(" ");
}

function portSteps({ memberPorts, grouped }: ObservedGroup, group: SecurityGroup): GroupStep[] {
  const secured = memberPorts.filter((port) => port.port_security_enabled !== false);
  const ids = new Set(secured.map(({ id }) => id));
  const joining = secured
    .filter((port) => !port.security_groups.includes(group.id))
    .map((port) => groupedPort(port, () => true, group.id));
  const leaving = grouped
    .filter((port) => !ids.has(port.id) && port.security_groups.includes(group.id))
    .map((port) => groupedPort(port, (id) => id !== group.id));
  const ports = [...joining, ...leaving];
  return ports.length > 0 ? [{ type: "set-port-security-groups", ports }] : [];
}

function groupedPort(port: Port, keep: (id: string) => boolean, ...added: readonly string[]): GroupedPort {
  return { id: port.id, revision: port.revision_number, groups: [...port.security_groups.filter(keep), ...added] };
}

function joined(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}
