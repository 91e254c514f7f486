import { isDeleting, timestamp } from "@causeway/kubernetes";
import { MEMBER_LEAVES_WITHIN } from "../openstackcluster/members.ts";
import type { Observed } from "./model.ts";
import type { MachineStep } from "./steps.ts";

/** Milliseconds after which it is checked again whether the member was removed. */
const CHECK_AGAIN = 2_000;

/** What is done about the hook, and when to check again. */
export interface HookPlan {
  readonly step?: MachineStep;
  readonly until?: number;
}

/**
 * Sets `endpointHook` on a deleted Machine whose member the load balancer has, and removes it once it has none. After
 * `MEMBER_LEAVES_WITHIN` it goes in any case, also where the cloud cannot be reached.
 */
export function planEndpointHook({ object, owner, endpointPools }: Observed, now: number): HookPlan {
  const leaving = owner?.leaving;
  if (!owner || !leaving) return {};
  const { hook, isTerminating, uid } = leaving;
  const set = (value: string | null): HookPlan => ({
    step: { type: "set-endpoint-hook", reason: "InstanceDeleteFailed", machine: { name: owner.name, uid }, value },
  });
  if (hook === undefined) {
    const isLate = isTerminating || isDeleting(object);
    return isLate || !endpointPools?.length ? {} : set("");
  }
  const ends = Date.parse(hook) + MEMBER_LEAVES_WITHIN;
  if (isDeleting(object) || endpointPools?.length === 0 || now >= ends) return set(null);
  if (!isTerminating) return {};
  // No time, or one that is still to come: it was written by another clock, and would be waited for.
  if (!(ends <= now + MEMBER_LEAVES_WITHIN)) return set(timestamp(now));
  return { until: Math.min(ends, now + CHECK_AGAIN) };
}
