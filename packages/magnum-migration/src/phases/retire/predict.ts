import type { Prediction, PhasePlan } from "../../phase.ts";
import type { RetireFacts, RetireStep } from "./plan.ts";

/** What phase retire reads when what it waits for is there; its plan has all its steps. Pure. */
export function predictRetire(
  facts: RetireFacts,
  { wait }: PhasePlan<RetireStep>,
): Prediction<RetireFacts> | undefined {
  if (wait === undefined) return undefined;
  const { leaving, changing, leftovers, driver, status, magnum } = facts;
  if (leaving.length > 0) return { facts: { ...facts, leaving: leaving.slice(1) } };
  if (changing.size > 0)
    return { facts: { ...facts, changing: new Set(), leftovers: leftovers.filter(({ id }) => !changing.has(id)) } };
  if (driver.users.length > 0) return { facts: { ...facts, driver: { ...driver, users: driver.users.slice(1) } } };
  if (status?.status !== "UPDATE_COMPLETE")
    return { facts: { ...facts, status: { status: "UPDATE_COMPLETE", reason: "" } } };
  if (driver.others.length > 0) return { facts: { ...facts, driver: { ...driver, others: driver.others.slice(1) } } };
  return { facts: { ...facts, magnum: { ...magnum, silentNodes: magnum.silentNodes.slice(1) } } };
}
