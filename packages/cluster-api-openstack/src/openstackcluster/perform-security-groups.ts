import { isOutcomeUnknown } from "@causeway/openstack";
import { searchFor, emit, type Performers, type SessionPerformContext } from "./perform-context.ts";

type Name = "create-security-group" | "create-rules" | "delete-rule" | "delete-security-group";

/** Managed security groups and their rules. */
export const securityGroupSteps: Performers<Name, SessionPerformContext> = {
  async "create-security-group"({ body }, using, signal) {
    const { securityGroups } = using.session.cloud.network;
    const check = searchFor((s) => securityGroups.all({ name: body.name }, { signal: s }), body, signal);
    const made = await securityGroups.create(body, check);
    using.session.watch.securityGroups.observe(made);
    emit(using, "SuccessfulCreateSecurityGroup", `Created security group ${made.name} with id ${made.id}`);
  },
  async "create-rules"({ rules }, using, signal) {
    const { cloud, watch } = using.session;
    const made = await cloud.network.createSecurityGroupRules(rules, { signal }).catch(async (error: unknown) => {
      // The list has what an attempt whose response was lost created; with the cache the step would create it again,
      // and be refused, for ever.
      await watch.securityGroups.refresh(signal);
      if (isOutcomeUnknown(error)) return [];
      throw error;
    });
    if (made.length === 0) return;
    for (const id of new Set(made.map((rule) => rule.security_group_id))) {
      const group = watch.securityGroups.get(id);
      if (!group) continue;
      const added = made.filter((rule) => rule.security_group_id === id);
      watch.securityGroups.observe({ ...group, security_group_rules: [...group.security_group_rules, ...added] });
    }
    emit(using, "SuccessfulCreateSecurityGroupRules", `Created ${made.length} security group rules`);
  },
  async "delete-rule"({ id, groupId, about }, using, signal) {
    const { cloud, watch } = using.session;
    await cloud.network.securityGroupRules.delete(id, { signal });
    const group = watch.securityGroups.get(groupId);
    if (group) {
      const rules = group.security_group_rules.filter((rule) => rule.id !== id);
      watch.securityGroups.observe({ ...group, security_group_rules: rules });
    }
    emit(using, "SuccessfulDeleteSecurityGroupRule", `Deleted security group rule ${about}`);
  },
  async "delete-security-group"({ id, name }, using, signal) {
    await using.session.cloud.network.securityGroups.delete(id, { signal });
    using.session.watch.securityGroups.forget(id);
    emit(using, "SuccessfulDeleteSecurityGroup", `Deleted security group ${name} with id ${id}`);
  },
};
