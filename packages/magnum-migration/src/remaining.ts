import type { Phase, PhasePlan, Step } from "./phase.ts";
import type { MigrationRecord } from "./record/record.ts";

/** More rounds than the largest cluster has: a plan that does not end is cut off. */
const ROUNDS = 10_000;

/**
 * The plan with all steps that are left, by the effect that each has on what is read. Waits between them are steps,
 * too; what it waits for now comes before its steps. Pure.
 */
export function remainingOf<F, S extends Step>(
  phase: Pick<Phase<F, S>, "plan" | "foresee">,
  facts: F,
  record: MigrationRecord,
): PhasePlan<Step> {
  const first = phase.plan(facts, record);
  const steps: Step[] = [];
  let plan = first;
  let known = facts;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round > 0 && plan.refused) steps.push({ type: "refused", what: `be refused then: ${plan.refused.message}` });
    if (round > 0 && plan.wait !== undefined) steps.push({ type: "wait", what: `wait for ${plan.wait}` });
    const isOver = plan.refused !== undefined || (plan.steps.length === 0 && plan.wait === undefined);
    const next = isOver ? undefined : phase.foresee?.(known, plan, record);
    steps.push(...(next === undefined ? plan.steps : plan.steps.slice(0, plan.batch ?? 1)));
    if (next?.depends !== undefined) steps.push({ type: "depends", what: next.depends });
    if (next?.facts === undefined) break;
    known = next.facts;
    plan = phase.plan(known, record);
  }
  return { ...first, steps };
}
