import type { SecurityGroup, SecurityGroupRule, Subnet } from "@causeway/openstack";
import { securityGroupDescription, securityGroupName, type NodeRole } from "../resources/naming.ts";
import { ofName } from "../resources/of-name.ts";
import { findOwned } from "../resources/ownership.ts";
import { apiPorts } from "./endpoint-port.ts";
import { found, missing, type ClusterContext, type Part } from "./model.ts";
import type { ClusterStep } from "./steps.ts";
import { ignored } from "../resources/findings.ts";
import { duplicates, tagSteps } from "./network.ts";
import { isOurRule, recordedRules, ruleHash } from "./rule-ownership.ts";
import { bastionRules, desiredRules, listedRules, ruleChanges } from "./rules.ts";

/**
 * The roles whose groups every cluster with spec.managedSecurityGroups has; that of the bastion is made only with one.
 */
export const nodeRoles: readonly NodeRole[] = ["controlplane", "worker"];

/** The security-group part of a plan. */
export interface SecurityGroupsPart extends Part {
  readonly groups: Partial<Record<NodeRole | "bastion", SecurityGroup>>;
}

/**
 * Managed groups with the rules declared: missing rules are added before superfluous ones are removed. Rules that a
 * user added remain.
 */
export function planSecurityGroups(context: ClusterContext, subnets: readonly Subnet[]): SecurityGroupsPart {
  const managed = context.object.spec.managedSecurityGroups;
  if (!managed) return unmanaged(context);
  const groups: Partial<Record<NodeRole | "bastion", SecurityGroup>> = {};
  const { bastion: wanted } = context.object.spec;
  const withBastion = wanted !== undefined && wanted.enabled !== false;
  const roles = withBastion ? ([...nodeRoles, "bastion"] as const) : nodeRoles;
  const creates: ClusterStep[] = [];
  for (const role of roles) {
    const name = securityGroupName(context.crn, role);
    const result = findGroup(context, role);
    if (result.kind === "several") {
      const finding = missing(type, "DuplicateSecurityGroup", duplicates("security groups", name, result.ids));
      return { finding, steps: [], groups };
    }
    if (result.kind === "one") groups[role] = result.resource;
    else
      creates.push({ for: type, type: "create-security-group", body: { name, description: securityGroupDescription } });
  }
  const { controlplane, worker, bastion } = groups;
  if (!controlplane || !worker || (withBastion && !bastion) || subnets.length === 0) {
    const tags = Object.values(groups).flatMap((g) => tagSteps("security-groups", g, context.tags));
    return {
      finding: missing(type, "CreatingSecurityGroups", "Creating the security groups"),
      steps: [...creates, ...tags],
      groups,
      waitsForOthers: true,
    };
  }
  const rules = ruleSteps(context, { controlplane, worker, ...(bastion ? { bastion } : {}) }, subnets);
  const steps = [
    ...tagSteps("security-groups", controlplane, context.tags),
    ...tagSteps("security-groups", worker, context.tags),
    ...(bastion ? tagSteps("security-groups", bastion, context.tags) : []),
    ...rules,
    ...(withBastion || rules.length > 0 ? [] : unusedBastionGroup(context)),
  ];
  return { finding: found(type, "SecurityGroupsReady"), steps, groups };
}

const type = "SecurityGroupsReady";

/** The managed group of a role by its name and description; of several, the one that the status records. */
export function findGroup({ object, cloud, crn }: ClusterContext, role: NodeRole | "bastion") {
  const recorded = {
    controlplane: object.status?.controlPlaneSecurityGroup,
    worker: object.status?.workerSecurityGroup,
    bastion: object.status?.bastionSecurityGroup,
  }[role];
  const name = securityGroupName(crn, role);
  return findOwned(ofName(cloud, "securityGroups", name), {
    name,
    description: securityGroupDescription,
    projectId: cloud.projectId,
    recordedId: recorded?.id,
  });
}

function ruleSteps(
  { object }: ClusterContext,
  groups: Readonly<Record<NodeRole, SecurityGroup>> & { readonly bastion?: SecurityGroup },
  subnets: readonly Subnet[],
): ClusterStep[] {
  const inputs = {
    groups: {
      controlplane: groups.controlplane.id,
      worker: groups.worker.id,
      ...(groups.bastion ? { bastion: groups.bastion.id } : {}),
    },
    managed: object.spec.managedSecurityGroups ?? {},
    apiPorts: apiPorts(object.spec),
    subnets,
  };
  const recorded = recordedRules(object);
  const ours = (rule: SecurityGroupRule) => isOurRule(rule, recorded);
  const changes = [
    ...nodeRoles.map((role) => ruleChanges(desiredRules(role, inputs), groups[role].security_group_rules, ours)),
    ...(groups.bastion
      ? [ruleChanges(bastionRules(groups.bastion.id, inputs), groups.bastion.security_group_rules, ours)]
      : []),
  ];
  // Neutron takes the rules of one group in one call, not those of several.
  const additions = changes.filter((c) => c.add.length > 0);
  const removals = changes.flatMap((c) => c.remove);
  const listed = nodeRoles.flatMap((role) => listedRules(role, inputs)).map(ruleHash);
  const hashes = [...new Set([...listed, ...removals.map(ruleHash).filter((hash) => recorded.has(hash))])].sort();
  const record: ClusterStep[] =
    hashes.join() === [...recorded].sort().join() ? [] : [{ for: type, type: "record-rules", hashes: hashes.join() }];
  return [
    ...record,
    ...additions.map((c): ClusterStep => ({ for: type, type: "create-rules", rules: c.add })),
    ...removals.map((rule): ClusterStep => ({
      for: type,
      type: "delete-rule",
      groupId: rule.security_group_id,
      id: rule.id,
      about: `${rule.direction} ${rule.protocol ?? "any"} ${rule.port_range_min ?? ""}-${rule.port_range_max ?? ""}`,
    })),
  ];
}

/**
 * Of a bastion that is gone. While a port uses it, or a rule of another group, it remains: that must not stop anything
 * else.
 */
function unusedBastionGroup(context: ClusterContext): ClusterStep[] {
  const found = findGroup(context, "bastion");
  if (found.kind !== "one" || context.bastion) return [];
  const { id, name } = found.resource;
  const used =
    context.cloud.ports.some((p) => p.security_groups.includes(id)) ||
    context.cloud.securityGroups.some(
      (g) => g.id !== id && g.security_group_rules.some((r) => r.remote_group_id === id),
    );
  return used ? [] : [{ for: type, type: "delete-security-group", id, name }];
}

function unmanaged({ object }: ClusterContext): SecurityGroupsPart {
  const finding = found(type, "NotManaged", "spec.managedSecurityGroups is not set");
  const before = object.status?.workerSecurityGroup;
  const events = before
    ? [ignored(`spec.managedSecurityGroups was removed, but machines use ${before.name} and its rules remain`)]
    : [];
  return { finding, steps: [], groups: {}, events };
}
