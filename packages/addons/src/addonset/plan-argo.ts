import type { AddonSetStatus } from "@causeway/api";
import { stateOfApplication } from "../argo/application.ts";
import { argoFinalizer } from "../argo/names.ts";
import type { LeftoverApplication, ObservedArgo } from "../argo/observe.ts";
import { statusOf } from "./addon-status.ts";
import type { Observed, ObservedAddon } from "./gather.ts";
import type { Step } from "./steps.ts";

type AddonState = NonNullable<AddonSetStatus["addons"]>[number]["state"];

/** How an add-on is that Argo CD applies. */
export function stateOfHandedOver(
  { argo, set }: Observed,
  addon: ObservedAddon,
  gate: string | undefined,
): { readonly state: AddonState; readonly message: string; readonly code?: string } {
  const { application } = addon;
  if (!argo || !application || argo.isUnread) return { state: "Applying", message: "Applications are not read yet" };
  if (argo.refusal) return { state: "Failed", ...argo.refusal };
  if (application.state === "missing" || application.state === "changed") {
    if (gate !== undefined && !wasHandedOver(set, addon)) return { state: "Waiting", message: gate };
    return { state: "Applying", message: `its Application is to be ${wordOf(application.state)}` };
  }
  if (application.state === "ending" || !application.live)
    return { state: "Applying", message: "its Application is being deleted" };
  return stateOfApplication(application.live, application.wanted);
}

const wordOf = (state: "missing" | "changed"): string => (state === "missing" ? "created" : "changed");

/** With this very content: then it is restored, whatever its wave. */
function wasHandedOver(set: Observed["set"], addon: ObservedAddon): boolean {
  return statusOf(set, addon.name)?.digest === addon.digest;
}

/** Before the steps of add-ons: Argo CD knows a cluster before it gets an Application for it. */
export function preparationSteps({ set, argo }: Observed): Step[] {
  const has = set.metadata.finalizers?.includes(argoFinalizer) === true;
  if (!argo || set.spec.argoCD === undefined) return [];
  const finalizer: Step[] = has ? [] : [{ type: "add-argo-finalizer" }];
  const isOutdated = argo.refusal === undefined && argo.secret?.isCurrent === false;
  return [...finalizer, ...(isOutdated ? [{ type: "apply-cluster-secret" } as const] : [])];
}

/** Creates and restores the Application of an add-on, when its wave is due. */
export function applicationSteps({ set, argo }: Observed, addon: ObservedAddon, gate: string | undefined): Step[] {
  const { application } = addon;
  if (!argo || !application || argo.isUnread || argo.refusal) return [];
  if (application.state !== "missing" && application.state !== "changed") return [];
  if (gate !== undefined && !wasHandedOver(set, addon)) return [];
  return [{ type: "apply-application", addon: addon.name }];
}

/**
 * Applications that the set does not declare any more, and the cluster's Secret after the last of them. Objects go with
 * their Application only where pruning is wanted, and not where Causeway applies the add-on now.
 */
export function removalSteps(observed: Observed): Step[] {
  const { set, argo } = observed;
  if (!argo || argo.isUnread) return [];
  const declared = new Set(set.spec.addons.map(({ name }) => name));
  const mayPrune = set.spec.argoCD?.prune === true;
  const steps = argo.leftovers.flatMap((each) => deletion(each, mayPrune && !declared.has(each.addon)));
  if (argo.leftovers.length > 0) return steps;
  return [...secretDeletions(argo), ...finalizerRemoval(observed)];
}

/** An Application that is being deleted is only touched to end its wait for a cluster that is gone. */
function deletion({ key, isEnding, cascades }: LeftoverApplication, cascade: boolean): Step[] {
  if (isEnding && (cascade || !cascades)) return [];
  return [{ type: "delete-application", key, cascade }];
}

function secretDeletions({ unneeded }: ObservedArgo): Step[] {
  return unneeded.map((key) => ({ type: "delete-cluster-secret", key }));
}

function finalizerRemoval({ set }: Observed): Step[] {
  const has = set.metadata.finalizers?.includes(argoFinalizer) === true;
  const isOver = set.spec.argoCD === undefined || set.metadata.deletionTimestamp !== undefined;
  return has && isOver ? [{ type: "remove-argo-finalizer" }] : [];
}

/** What a set that is being deleted removes from Argo CD, the last wave first; undefined: nothing is left. */
export function argoDeletion(observed: Observed): { readonly steps: readonly Step[] } | undefined {
  const { set, cluster, argo } = observed;
  if (!argo || set.metadata.finalizers?.includes(argoFinalizer) !== true) return undefined;
  if (argo.isUnread) return { steps: [] };
  // What is in a cluster that is deleted needs no deletion of its own, and Argo CD could wait for it for ever.
  const isThere = cluster !== undefined && cluster.metadata.deletionTimestamp === undefined;
  const cascade = isThere && set.spec.deletionPolicy === "Delete";
  const last = Math.max(...argo.leftovers.map(({ wave }) => wave));
  const steps = argo.leftovers.filter(({ wave }) => wave === last).flatMap((each) => deletion(each, cascade));
  if (argo.leftovers.length > 0) return { steps };
  return { steps: [...secretDeletions(argo), { type: "remove-argo-finalizer" }] };
}
