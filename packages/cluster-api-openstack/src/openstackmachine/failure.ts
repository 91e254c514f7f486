import type { Clock } from "@causeway/foundation";
import { setConditions, type Condition, type KubeObject, type PlannedEvent } from "@causeway/kubernetes";
import { failureOf } from "../reactions/failure.ts";
import { RATE_LIMITED } from "../identity/state.ts";
import { publishedMessage, refusalOf, type Refusals } from "../reactions/refusals.ts";
import type { MachineStep } from "./steps.ts";
import { updatesCondition } from "./updates.ts";

type Conditioned = { conditions?: Condition[] };

interface Failed<Status> {
  readonly object: KubeObject & { readonly status?: Conditioned };
  /** What was planned to be published. */
  readonly status: Status;
}

/**
 * What to publish when a step for a server failed. A change that is refused for a running server says so in a
 * condition of its own: the server is as ready as it was, and a health check must not replace the machine for it.
 */
export function serverFailure<Status extends Conditioned>(
  { object, status }: Failed<Status>,
  { step, error }: { readonly step: Pick<MachineStep, "reason" | "isUpdate" | "refusal">; readonly error: unknown },
  { refusals, clock }: { readonly refusals: Refusals; readonly clock: Clock },
): { status: Status; events: PlannedEvent[] } {
  const type = step.isUpdate ? updatesCondition : "InstanceReady";
  const refusal = refusalOf(error, step.reason, { known: publishedMessage(object, type), refusal: step.refusal });
  refusals.note(object, type, refusal);
  const moment = { generation: object.metadata.generation, now: clock.now() };
  if (type === "InstanceReady") return failureOf(status, { type, refusal }, moment);
  if (refusal.reason === RATE_LIMITED) return { status, events: [] };
  const { reason, message } = refusal;
  const conditions = setConditions(status.conditions, [{ type, status: "False", reason, message }], moment);
  return { status: { ...status, conditions }, events: [{ type: "Warning", reason, message }] };
}
