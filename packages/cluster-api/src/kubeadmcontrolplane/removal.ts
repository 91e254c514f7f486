import { annotations, Machine } from "@causeway/api";
import { getCondition } from "@causeway/kubernetes";
import { patchStep } from "../objects/steps.ts";
import type { EtcdMember } from "../objects/access.ts";
import type { Observed, OwnedMachine } from "./observed.ts";
import { isHealthy, podKey } from "./health.ts";
import { cleanupHook } from "./machine.ts";
import { byAge } from "./placement.ts";
import { hasQuorum, survivesWithout } from "./quorum.ts";
import { WAITING_FOR_PRE_TERMINATE_HOOK } from "../machine/deletion.ts";
import type { ControlPlaneStep } from "./steps.ts";

/** Lets a deleted machine go once its member has left etcd; leadership is moved away first. */
export function memberRemoval(observed: Observed): ControlPlaneStep[] {
  const leaving = observed.machines.find(({ machine }) => isAtHook(machine));
  if (!leaving) return staleMembers(observed);
  const { workload, machines } = observed;
  // Of the last machine nothing is left that a member could leave.
  if (machines.length === 1) return release(leaving);
  if (workload.reach === "unreachable" || "problem" in workload.etcd) return [];
  if ("external" in workload.etcd) return release(leaving);
  const { members } = workload.etcd;
  const name = leaving.machine.status?.nodeRef?.name ?? leaving.machine.metadata.name;
  const member = members.find((one) => one.name === name);
  if (!member) return release(leaving);
  // Another member may have failed since the machine was deleted: then it remains until that one serves again.
  if (!survivesWithout(members, name)) return [];
  const to = member.isLeader ? successor(observed, members, member) : undefined;
  // Once its member has gone, the machine's API server answers nothing, and the way to the cluster may lead to it: the
  // machine is released without reading the cluster again.
  return [
    ...(to ? [{ type: "move-leader", to } as const] : []),
    { type: "remove-member", member },
    ...release(leaving),
  ];
}

/** The machine is drained, other hooks are gone, and ours is the last thing that its deletion waits for. */
function isAtHook({ metadata, status }: Machine): boolean {
  if (!metadata.deletionTimestamp || metadata.annotations?.[cleanupHook] === undefined) return false;
  const others = Object.keys(metadata.annotations).filter(
    (key) => key.split("/")[0] === annotations.preTerminateHookPrefix && key !== cleanupHook,
  );
  return others.length === 0 && getCondition(status?.conditions, "Deleting")?.reason === WAITING_FOR_PRE_TERMINATE_HOOK;
}

/**
 * Removes the hook that keeps a deleted machine, if it has it. The uid alone must be the same: the Machine's status may
 * change while its member leaves, and afterwards the cluster may not be reachable for another decision.
 */
export function release({ machine }: OwnedMachine): ControlPlaneStep[] {
  if (machine.metadata.annotations?.[cleanupHook] === undefined) return [];
  const { uid } = machine.metadata;
  return patchStep(Machine, machine, { metadata: { ...(uid ? { uid } : {}), annotations: { [cleanupHook]: null } } });
}

/** The newest healthy machine's member, of those that remain. */
function successor({ machines }: Observed, members: readonly EtcdMember[], leader: EtcdMember): EtcdMember | undefined {
  const staying = machines
    .filter((owned) => !owned.machine.metadata.deletionTimestamp && isHealthy(owned))
    .toSorted(byAge)
    .toReversed();
  return staying
    .map(({ machine }) => members.find(({ name }) => name === machine.status?.nodeRef?.name))
    .find((member) => member && member !== leader && !member.isLearner && member.problem === undefined);
}

/**
 * Members without a machine, when every machine's Node is known: a machine that boots may have joined already. A member
 * whose static pod is there belongs to a machine that the cache does not show yet.
 */
function staleMembers({ machines, workload }: Observed): ControlPlaneStep[] {
  if (workload.reach === "unreachable" || !("members" in workload.etcd) || machines.length === 0) return [];
  if (machines.some(({ machine }) => !machine.status?.nodeRef)) return [];
  const { members } = workload.etcd;
  const names = new Set(machines.flatMap(({ machine }) => [machine.status?.nodeRef?.name, machine.metadata.name]));
  const isLeft = (name: string) => name !== "" && !names.has(name) && !workload.pods.has(podKey(name, "etcd"));
  const stale = members.find(({ name }) => isLeft(name));
  return stale && hasQuorum(members) ? [{ type: "remove-member", member: stale }] : [];
}
