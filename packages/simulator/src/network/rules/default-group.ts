import { born, touched, type NetworkState, type SecurityGroup, type SecurityGroupRule } from "../model.ts";

/** The project's group "default", made at its first use: lets members talk to each other, and all out. */
export function ensureDefaultGroup(state: NetworkState, projectId: string): SecurityGroup {
  const known = defaultGroup(state, projectId);
  if (known) return known;
  const given = { name: "default", description: "Default security group" };
  const group = state.groups.insert({ ...born(state.kernel, projectId, given), stateful: true });
  for (const ethertype of ["IPv4", "IPv6"] as const) {
    addRule(state, group, { ethertype, direction: "ingress", remote_group_id: group.id });
    addRule(state, group, { ethertype, direction: "egress" });
  }
  return group;
}

/** The project's group "default"; undefined before its first use (`ensureDefaultGroup`). */
export function defaultGroup(state: NetworkState, projectId: string): SecurityGroup | undefined {
  return state.groups.by("project_id", projectId).find((group) => group.name === "default");
}

/** Inserts a rule as it is given; what is not given is null. Checks are the caller's. */
export function addRule(
  state: NetworkState,
  group: SecurityGroup,
  given: Partial<SecurityGroupRule> & Pick<SecurityGroupRule, "ethertype" | "direction">,
): SecurityGroupRule {
  const now = state.kernel.timestamp();
  return state.rules.insert({
    protocol: null,
    port_range_min: null,
    port_range_max: null,
    remote_ip_prefix: null,
    remote_group_id: null,
    remote_address_group_id: null,
    description: null,
    ...given,
    id: state.kernel.newId(),
    project_id: group.project_id,
    security_group_id: group.id,
    created_at: now,
    updated_at: now,
    revision_number: 0,
  });
}

/** A group's revision counts the changes of its rules. */
export function touchGroup(state: NetworkState, groupId: string): void {
  const group = state.groups.get(groupId);
  if (group) state.groups.update(group.id, touched(state.kernel, group));
}
