import { formatCidr, parseCidr } from "@causeway/foundation";
import type { Plan } from "@causeway/kubernetes";
import type { Port, SecurityGroup, SecurityGroupRule } from "@causeway/openstack";
import type { Observed } from "./gather.ts";
import { groupDescription, groupName } from "./names.ts";
import type { GroupedPort, Rule, Step } from "./steps.ts";

type GroupPlan = Plan<Step, undefined>;

/**
 * The security group of one Service: it lets the load balancer's traffic (or, where the provider leaves clients'
 * addresses as they are, the clients') to the node ports, and is on the ports of the nodes that are members, and on no
 * other.
 */
export function plan(observed: Observed): GroupPlan {
  const { wanted, groups, service, clusterName } = observed;
  if (!wanted) return release(observed, groups);
  const group = groups.toSorted((a, b) => (a.id < b.id ? -1 : 1))[0];
  const name = groupName(service);
  if (!group) return steps({ type: "create-group", name, description: groupDescription(clusterName, service) });
  const more = groups.filter((other) => other.id !== group.id);
  if (more.length > 0) return release(observed, more);
  const changes = [...ruleSteps(observed, group), ...portSteps(observed, group)];
  return steps(...changes);
}

function steps(...list: readonly Step[]): GroupPlan {
  return { steps: list, status: undefined };
}

/** Off all ports first: Neutron deletes no group that is in use. */
function release(observed: Observed, groups: readonly SecurityGroup[]): GroupPlan {
  const ids = new Set(groups.map((group) => group.id));
  const held = observed.grouped.filter((port) => port.security_groups.some((id) => ids.has(id)));
  const ports = held.map((port) => grouped(port, (id) => !ids.has(id)));
  if (ports.length > 0) return steps({ type: "set-port-groups", ports });
  return steps(...groups.map((group): Step => ({ type: "delete-group", id: group.id })));
}

function ruleSteps(observed: Observed, group: SecurityGroup): Step[] {
  const wanted = wantedRules(observed);
  // Where the subnet is not known, nothing is known to be too much.
  if (wanted === undefined) return [];
  const have = group.security_group_rules.filter((rule) => rule.direction === "ingress");
  const keys = new Set(wanted.map(ruleKey));
  const present = new Set(have.map(ruleKey));
  const surplus = have.filter((rule) => !keys.has(ruleKey(rule)));
  const missing = wanted.filter((rule) => !present.has(ruleKey(rule)));
  return [
    ...(missing.length > 0 ? [{ type: "add-rules", groupId: group.id, rules: missing } as const] : []),
    ...(surplus.length > 0 ? [{ type: "remove-rules", ids: surplus.map((rule) => rule.id) } as const] : []),
  ];
}

/**
 * One for each node port and network that may send to it; the health check's node port is the load balancer's alone.
 */
function wantedRules(observed: Observed): Rule[] | undefined {
  const { service, memberCidrs, sourceRanges, clientsSeen } = observed;
  if (memberCidrs.length === 0) return undefined;
  const sources = clientsSeen ? sourceRanges : memberCidrs;
  const rules = (service.spec.ports ?? []).flatMap((port) =>
    (port.nodePort ?? 0) === 0 ? [] : sources.flatMap((cidr) => rule(port.protocol ?? "TCP", port.nodePort ?? 0, cidr)),
  );
  const health = service.spec.healthCheckNodePort ?? 0;
  const all = health > 0 ? [...rules, ...memberCidrs.flatMap((cidr) => rule("TCP", health, cidr))] : rules;
  return [...new Map(all.map((r) => [ruleKey(r), r])).values()];
}

function rule(protocol: string, port: number, source: string): Rule[] {
  const cidr = parseCidr(source);
  if (!cidr) return [];
  return [
    {
      direction: "ingress",
      ethertype: cidr.version === 6 ? "IPv6" : "IPv4",
      protocol: protocol.toLowerCase(),
      port_range_min: port,
      port_range_max: port,
      remote_ip_prefix: formatCidr(cidr),
    },
  ];
}

/** Neutron may return "from anywhere" as no prefix at all. */
function ruleKey(rule: Rule | SecurityGroupRule): string {
  const any = rule.ethertype === "IPv6" ? "::/0" : "0.0.0.0/0";
  const { ethertype, protocol, port_range_min: from, port_range_max: to, remote_ip_prefix: prefix } = rule;
  return [ethertype, protocol, from, to, prefix ?? any, rule.remote_group_id ?? ""].join(" ");
}

function portSteps({ nodePorts, grouped: bearers }: Observed, group: SecurityGroup): Step[] {
  const secured = nodePorts.filter((port) => port.port_security_enabled !== false);
  const ids = new Set(secured.map((port) => port.id));
  const joining = secured
    .filter((port) => !port.security_groups.includes(group.id))
    .map((port) => grouped(port, () => true, group.id));
  const leaving = bearers.filter((port) => !ids.has(port.id)).map((port) => grouped(port, (id) => id !== group.id));
  const ports = [...joining, ...leaving];
  return ports.length > 0 ? [{ type: "set-port-groups", ports }] : [];
}

function grouped(port: Port, keep: (id: string) => boolean, ...added: readonly string[]): GroupedPort {
  return { id: port.id, revision: port.revision_number, groups: [...port.security_groups.filter(keep), ...added] };
}
