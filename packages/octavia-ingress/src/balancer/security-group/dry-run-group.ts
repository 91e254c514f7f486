import type { Port, SecurityGroup, SecurityGroupRule } from "@causeway/openstack";
import type { ObservedGroup } from "./observed.ts";
import type { GroupStep } from "./steps.ts";

/** What will be observed of a security group when the step is done. */
export function dryRunGroup(observed: ObservedGroup, step: GroupStep): ObservedGroup {
  const { groups } = observed;
  const withGroup = (id: string, change: (group: SecurityGroup) => SecurityGroup): ObservedGroup => ({
    ...observed,
    groups: groups.map((group) => (group.id === id ? change(group) : group)),
  });
  switch (step.type) {
    case "create-security-group": {
      const { name, description, tags } = step;
      const made = { id: "(new security group)", name, description, project_id: "", security_group_rules: [] };
      return { ...observed, groups: [...groups, { ...made, tags: [...tags] }] };
    }
    case "tag-security-group":
      return withGroup(step.id, (group) => ({ ...group, tags: [...step.tags] }));
    case "add-security-group-rules": {
      const made = step.rules.map((rule) => ({ id: "(new rule)", ...rule }) as unknown as SecurityGroupRule);
      return withGroup(step.groupId, (group) => ({
        ...group,
        security_group_rules: [...group.security_group_rules, ...made],
      }));
    }
    case "remove-security-group-rules":
      return withGroup(step.groupId, (group) => ({
        ...group,
        security_group_rules: group.security_group_rules.filter(({ id }) => !step.ids.includes(id)),
      }));
    case "set-port-security-groups":
      return withPorts(observed, new Map(step.ports.map((port) => [port.id, port.groups])));
    case "delete-security-group":
      return { ...observed, groups: groups.filter(({ id }) => id !== step.id) };
  }
}

function withPorts(observed: ObservedGroup, groupsOf: ReadonlyMap<string, readonly string[]>): ObservedGroup {
  const changed = (port: Port): Port => ({
    ...port,
    security_groups: [...(groupsOf.get(port.id) ?? port.security_groups)],
  });
  const ours = new Set(observed.groups.map(({ id }) => id));
  const memberPorts = observed.memberPorts.map(changed);
  const all = new Map([...observed.grouped.map(changed), ...memberPorts].map((port) => [port.id, port]));
  return {
    ...observed,
    memberPorts,
    grouped: [...all.values()].filter((port) => port.security_groups.some((id) => ours.has(id))),
  };
}
