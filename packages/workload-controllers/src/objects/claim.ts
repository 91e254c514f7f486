import { controllerOf, type KubeObject, type LabelSelector, type ObjectKey } from "@causeway/kubernetes";
import { selects } from "./selector.ts";

/** An object that a step names: the uid keeps the step from another object of the same name. */
export interface Target extends ObjectKey {
  readonly uid: string;
}

/** Makes the reconciled object the controller of `target`, or no longer. */
export interface ClaimStep {
  readonly type: "adopt" | "release";
  readonly target: Target;
}

/** Objects that belong to an owner, and the steps that make others belong to it or not. */
export interface Claim<T> {
  /** Controlled by the owner, and selected by it. */
  readonly owned: readonly T[];
  readonly steps: readonly ClaimStep[];
}

/**
 * Which of the objects belong to the owner: those that it controls and selects. It adopts those that it selects and
 * that have no controller, and releases those that it controls and no longer selects. An owner that is being deleted
 * does neither.
 */
export function claim<T extends KubeObject>(
  owner: KubeObject,
  selector: LabelSelector | undefined,
  candidates: readonly T[],
): Claim<T> {
  const leaving = owner.metadata.deletionTimestamp !== undefined;
  const owned: T[] = [];
  const steps: ClaimStep[] = [];
  for (const candidate of candidates) {
    const controller = controllerOf(candidate);
    const selected = selects(selector, candidate.metadata.labels);
    if (controller && controller.uid !== owner.metadata.uid) continue;
    if (controller && selected) owned.push(candidate);
    else if (controller && !leaving) steps.push({ type: "release", target: targetOf(candidate) });
    else if (!controller && selected && !leaving && candidate.metadata.deletionTimestamp === undefined)
      steps.push({ type: "adopt", target: targetOf(candidate) });
  }
  return { owned, steps };
}

/** Of an object from the server, which has a uid. */
export function targetOf({ metadata }: KubeObject): Target {
  return { namespace: metadata.namespace ?? "", name: metadata.name, uid: metadata.uid ?? "" };
}
