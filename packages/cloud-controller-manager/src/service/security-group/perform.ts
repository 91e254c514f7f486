import { isOpenStackConflict, type Cloud, type CloudWatch } from "@causeway/openstack";
import type { GroupedPort, Rule, Step } from "./steps.ts";

/** With what the steps of a security group are performed. */
export interface PerformContext {
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
}

/** Makes one step true, and the cache with it. */
export async function perform(using: PerformContext, step: Step, signal: AbortSignal): Promise<void> {
  const { cloud, watch } = using;
  const { securityGroups } = cloud.network;
  switch (step.type) {
    case "create-group": {
      const { name, description } = step;
      const recover = async () => (await securityGroups.all({ name }, { signal }))[0];
      const known = await recover();
      watch.securityGroups.observe(known ?? (await securityGroups.create({ name, description }, { signal, recover })));
      return;
    }
    case "add-rules":
      await addRules(using, step, signal);
      return reread(using, step.groupId, signal);
    case "remove-rules":
      await Promise.all(step.ids.map((id) => cloud.network.securityGroupRules.delete(id, { signal })));
      for (const group of groupsOf(watch, step.ids)) await reread(using, group, signal);
      return;
    case "set-port-groups":
      return setGroups(using, step.ports, signal);
    case "delete-group":
      return deleteGroup(using, step.id, signal);
  }
}

async function deleteGroup({ cloud, watch }: PerformContext, id: string, signal: AbortSignal): Promise<void> {
  try {
    await cloud.network.securityGroups.delete(id, { signal });
    watch.securityGroups.forget(id);
  } catch (error) {
    // A port that has got it since the last list: the next attempt knows it.
    if (isOpenStackConflict(error)) await watch.ports.refresh(signal);
    throw error;
  }
}

/** All at once; one by one where some are there already, as after an answer that was lost. */
async function addRules(
  { cloud }: PerformContext,
  { groupId, rules }: { readonly groupId: string; readonly rules: readonly Rule[] },
  signal: AbortSignal,
): Promise<void> {
  const bodies = rules.map((rule) => ({ ...rule, security_group_id: groupId }));
  try {
    await cloud.network.createSecurityGroupRules(bodies, { signal });
  } catch (error) {
    if (!isOpenStackConflict(error)) throw error;
    for (const body of bodies)
      await cloud.network.securityGroupRules.create(body, { signal }).catch((refusal: unknown) => {
        if (!isOpenStackConflict(refusal)) throw refusal;
      });
  }
}

function groupsOf(watch: CloudWatch, ruleIds: readonly string[]): string[] {
  const ids = new Set(ruleIds);
  return watch.securityGroups
    .list()
    .filter((group) => group.security_group_rules.some((rule) => ids.has(rule.id)))
    .map((group) => group.id);
}

async function reread({ cloud, watch }: PerformContext, id: string, signal: AbortSignal): Promise<void> {
  const group = await cloud.network.securityGroups.find(id, { signal });
  if (group) watch.securityGroups.observe(group);
  else watch.securityGroups.forget(id);
}

/** A port that cannot be written does not delay the others; its error is thrown at the end. */
async function setGroups(using: PerformContext, list: readonly GroupedPort[], signal: AbortSignal): Promise<void> {
  const done = await Promise.allSettled(list.map((port) => setGroup(using, port, signal)));
  for (const one of done) if (one.status === "rejected") throw one.reason;
}

async function setGroup({ cloud, watch }: PerformContext, port: GroupedPort, signal: AbortSignal): Promise<void> {
  const { ports } = cloud.network;
  try {
    const body = { security_groups: [...port.groups] };
    watch.ports.observe(await ports.update(port.id, body, { signal, ifRevision: port.revision }));
  } catch (error) {
    if (!isOpenStackConflict(error)) throw error;
    // Another has written the port meanwhile: what it wrote is read, and kept.
    const now = await ports.find(port.id, { signal });
    if (now) watch.ports.observe(now);
    else watch.ports.forget(port.id);
  }
}
