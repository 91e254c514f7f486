import { isOpenStackConflict, isOpenStackNotFound, type Cloud, type CloudWatch } from "@causeway/openstack";
import type { GroupedPort, GroupStep, Rule } from "./steps.ts";

/** With what the steps of a security group are performed. */
export interface PerformGroup {
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
  readonly signal: AbortSignal;
}

/** Makes one step true, and the cache with it. */
export async function performGroup(step: GroupStep, using: PerformGroup): Promise<void> {
  const { cloud, watch, signal } = using;
  switch (step.type) {
    case "create-security-group":
      return create(step, using);
    case "tag-security-group":
      await cloud.network.setTags("security-groups", step.id, step.tags, { signal });
      return reread(using, step.id);
    case "add-security-group-rules":
      await addRules(using, step);
      return reread(using, step.groupId);
    case "remove-security-group-rules":
      await Promise.all(step.ids.map((id) => cloud.network.securityGroupRules.delete(id, { signal })));
      return reread(using, step.groupId);
    case "set-port-security-groups":
      return setGroups(using, step.ports);
    case "delete-security-group":
      try {
        await cloud.network.securityGroups.delete(step.id, { signal });
      } catch (error) {
        // A port that received it since the last list: the next attempt knows it.
        if (isOpenStackConflict(error)) await watch.ports.refresh(signal);
        throw error;
      }
      watch.securityGroups.forget(step.id);
  }
}

/** After a search for what another attempt created. Its tags are a call of their own. */
async function create(
  { name, description, tags }: Extract<GroupStep, { type: "create-security-group" }>,
  using: PerformGroup,
): Promise<void> {
  const { cloud, signal } = using;
  const { securityGroups } = cloud.network;
  const recover = async () =>
    (await securityGroups.all({ name }, { signal })).find((group) => group.description === description);
  const made = (await recover()) ?? (await securityGroups.create({ name, description }, { signal, recover }));
  await cloud.network.setTags("security-groups", made.id, [...new Set([...made.tags, ...tags])], { signal });
  return reread(using, made.id);
}

/** All at once; one by one where some exist already, as after a lost response. */
async function addRules(
  { cloud, signal }: PerformGroup,
  { groupId, rules }: { readonly groupId: string; readonly rules: readonly Rule[] },
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

async function reread({ cloud, watch, signal }: PerformGroup, id: string): Promise<void> {
  const group = await cloud.network.securityGroups.find(id, { signal });
  if (group) watch.securityGroups.observe(group);
  else watch.securityGroups.forget(id);
}

/** A port that cannot be changed delays no other; its error is thrown in the end. */
async function setGroups(using: PerformGroup, list: readonly GroupedPort[]): Promise<void> {
  const done = await Promise.allSettled(list.map((port) => setGroup(using, port)));
  for (const one of done) if (one.status === "rejected") throw one.reason;
}

async function setGroup({ cloud, watch, signal }: PerformGroup, port: GroupedPort): Promise<void> {
  const { ports } = cloud.network;
  try {
    const body = { security_groups: [...port.groups] };
    watch.ports.observe(await ports.update(port.id, body, { signal, ifRevision: port.revision }));
  } catch (error) {
    if (!isOpenStackConflict(error) && !isOpenStackNotFound(error)) throw error;
    // Another client has changed or deleted the port meanwhile: its groups are read, and kept.
    const now = await ports.find(port.id, { signal });
    if (now) watch.ports.observe(now);
    else watch.ports.forget(port.id);
  }
}
