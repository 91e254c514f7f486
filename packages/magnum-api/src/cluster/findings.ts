import type { Condition, KubeObject } from "@causeway/kubernetes";
import { outlookOf, publicTextOf } from "./reasons.ts";

/** Why something does not become ready, by the condition of the object at fault. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  /** It does not pass by itself: a user or operator has to change something. */
  readonly isTerminal: boolean;
}

type WithConditions = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };

/** The first cause among these objects, in their order; those that do not pass by themselves come before the others. */
export function firstFinding(objects: readonly (KubeObject | undefined)[]): Finding | undefined {
  const found = objects.flatMap((object) => (object === undefined ? [] : findingsOf(object)));
  return found.find(({ isTerminal }) => isTerminal) ?? found[0];
}

/** What users of a project read of a condition. */
export function publicMessage({ reason, message = "" }: Pick<Condition, "reason" | "message">): string {
  return publicTextOf.get(reason) ?? message;
}

function findingsOf(object: WithConditions): readonly Finding[] {
  return (object.status?.conditions ?? [])
    .filter(({ status, reason }) => status === "False" && outlookOf.get(reason) !== "passes")
    .filter(({ type, message }) => type !== "Paused" && type !== "Deleting" && message !== undefined && message !== "")
    .map(({ reason, message = "" }) => ({
      code: reason,
      message: `${object.kind} ${object.metadata.name}: ${publicMessage({ reason, message }).replaceAll(/\s+/g, " ").slice(0, 1_000)}`,
      isTerminal: outlookOf.get(reason) === "remains",
    }));
}
