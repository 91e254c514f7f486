import type { Caller } from "../../kernel/interface.ts";
import { formatCidr, parseCidr } from "../rules/addresses.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { bool, common, type InputOf } from "../kit/attributes.ts";
import type { Collection } from "../kit/collection.ts";
import { conflict, groupNotFound } from "../errors.ts";
import { addRule, ensureDefaultGroup } from "../rules/default-group.ts";
import { dropPolicies, opened } from "./rbac.ts";
import { born, defined, touched, type NetworkState, type SecurityGroup, type SecurityGroupRule } from "../model.ts";

const attributes = { ...common, stateful: { read: bool, filter: false } } as const;
type Attributes = typeof attributes;

/** Security groups. "default" cannot be renamed, and no other may take its name. */
export function securityGroupCollection(state: NetworkState): Collection<SecurityGroup, Attributes> {
  return {
    singular: "security_group",
    plural: "security_groups",
    attributes,
    table: state.groups,
    indexes: ["name", "project_id"],
    filters: ["shared"],
    quota: "security_group",
    notFound: groupNotFound,
    sees: (caller, row) => caller.isAdmin || row.project_id === caller.projectId || opened(state, caller, row.id),
    prepare: (projectId) => ensureDefaultGroup(state, projectId),
    view: (row, caller) => view(state, row, caller),
    create: (_, projectId, input) => create(state, projectId, input),
    update: (_, row, change) => {
      if (row.name === "default" && change.name !== undefined && change.name !== "default") {
        throw conflict("SecurityGroupCannotUpdateDefault", "Updating default security group not allowed.");
      }
      if (row.name !== "default" && change.name === "default") {
        throw conflict("SecurityGroupDefaultAlreadyExists", "Default security group already exists.");
      }
      const { project_id: _p, ...rest } = defined(change);
      return state.groups.update(row.id, { ...rest, ...touched(state.kernel, row) });
    },
    remove: (caller, row) => {
      if (state.ports.by("security_groups", row.id).length > 0) {
        throw conflict("SecurityGroupInUse", `Security Group ${row.id} in use.`);
      }
      if (row.name === "default" && !caller.isAdmin) {
        throw conflict("SecurityGroupCannotRemoveDefault", "Insufficient rights for removing default security group.");
      }
      removeGroup(state, row);
    },
  };
}

/** Makes a group as POST /security-groups does: all traffic out is allowed. */
function create(state: NetworkState, projectId: string, input: InputOf<Attributes>): SecurityGroup {
  if (input.name === "default") {
    throw conflict("SecurityGroupDefaultAlreadyExists", "Default security group already exists.");
  }
  const group = state.groups.insert({ ...born(state.kernel, projectId, input), stateful: input.stateful ?? true });
  for (const ethertype of ["IPv4", "IPv6"] as const) addRule(state, group, { ethertype, direction: "egress" });
  return group;
}

function removeGroup(state: NetworkState, row: SecurityGroup): void {
  for (const rule of state.rules.by("security_group_id", row.id)) state.rules.remove(rule.id);
  for (const rule of state.rules.by("remote_group_id", row.id)) state.rules.remove(rule.id);
  dropPolicies(state, row.id);
  state.groups.remove(row.id);
}

/** Rules inside a group have more fields than alone, as the real service's do: Neutron's own number, and tags. */
function groupRule(row: SecurityGroupRule, place: number): JsonObject {
  return { ...ruleView(row), standard_attr_id: place + 1, tags: [] };
}

function view(state: NetworkState, row: SecurityGroup, caller: Caller): JsonObject {
  const rules = state.rules.by("security_group_id", row.id).map(groupRule);
  return { ...row, tenant_id: row.project_id, shared: opened(state, caller, row.id), security_group_rules: rules };
}

/** A rule as Neutron returns it; `normalized_cidr` has no host bits. */
export function ruleView(row: SecurityGroupRule): JsonObject {
  return { ...row, tenant_id: row.project_id, normalized_cidr: normalizedCidr(row) };
}

function normalizedCidr({ remote_ip_prefix: prefix }: SecurityGroupRule): string | null {
  const cidr = prefix === null ? undefined : parseCidr(prefix);
  return cidr ? formatCidr(cidr) : null;
}
