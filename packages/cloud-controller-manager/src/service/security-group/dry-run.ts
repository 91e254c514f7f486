import type { Port, SecurityGroup, SecurityGroupRule } from "@causeway/openstack";
import type { Observed } from "./gather.ts";
import type { Rule, Step } from "./steps.ts";

/** What will be observed of a Service's security group when the steps of a plan are done and nothing else happens. */
export function dryRun(observed: Observed, steps: readonly Step[]): Observed {
  return steps.reduce(after, observed);
}

function after(observed: Observed, step: Step): Observed {
  const { groups } = observed;
  switch (step.type) {
    case "create-group":
      return { ...observed, groups: [...groups, newGroup(step.name)] };
    case "delete-group":
      return { ...observed, groups: groups.filter((group) => group.id !== step.id) };
    case "add-rules":
      return withRules(observed, step.groupId, (rules) => [...rules, ...step.rules.map((rule) => newRule(step, rule))]);
    case "remove-rules":
      return groups.reduce(
        (now, { id }) => withRules(now, id, (rules) => rules.filter((rule) => !step.ids.includes(rule.id))),
        observed,
      );
    case "set-port-groups":
      return withPorts(observed, new Map(step.ports.map((port) => [port.id, port.groups])));
  }
}

function newGroup(name: string): SecurityGroup {
  return { id: "(new)", name, security_group_rules: [] } as unknown as SecurityGroup;
}

function newRule({ groupId }: { readonly groupId: string }, rule: Rule): SecurityGroupRule {
  return { id: "(new)", security_group_id: groupId, ...rule } as unknown as SecurityGroupRule;
}

function withRules(
  observed: Observed,
  id: string,
  change: (rules: readonly SecurityGroupRule[]) => SecurityGroupRule[],
): Observed {
  const groups = observed.groups.map((group) =>
    group.id === id ? { ...group, security_group_rules: change(group.security_group_rules) } : group,
  );
  return { ...observed, groups };
}

function withPorts(observed: Observed, groupsOf: ReadonlyMap<string, readonly string[]>): Observed {
  const changed = (port: Port): Port => ({
    ...port,
    security_groups: [...(groupsOf.get(port.id) ?? port.security_groups)],
  });
  const ours = new Set(observed.groups.map(({ id }) => id));
  const nodePorts = observed.nodePorts.map(changed);
  const all = new Map([...observed.grouped.map(changed), ...nodePorts].map((port) => [port.id, port]));
  const grouped = [...all.values()].filter((port) => port.security_groups.some((id) => ours.has(id)));
  return { ...observed, nodePorts, grouped };
}
