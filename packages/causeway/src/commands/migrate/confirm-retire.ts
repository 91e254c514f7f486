import { InputError } from "@causeway/foundation";
import { requireAllowed, type PhasePlan, type Step } from "@causeway/magnum-migration";
import { renderPlan } from "./render.ts";

/**
 * Shows the plan and asks the operator whether to retire. The refusal of a plan is thrown first.
 * @throws MIGRATE_NOT_CONFIRMED there is no terminal, and what retire refuses
 */
export async function isRetireConfirmed(
  plan: PhasePlan<Step>,
  ask: (question: string) => Promise<boolean | undefined>,
): Promise<boolean> {
  requireAllowed(plan);
  const answer = await ask(`${renderPlan(plan, "table")}After this the cluster cannot be rolled back. Retire?`);
  if (answer !== undefined) return answer;
  throw new InputError("MIGRATE_NOT_CONFIRMED", "Retire cannot be rolled back, and there is no terminal to ask at", {
    hint: "Read its steps with --dry-run; run it with --yes.",
  });
}
