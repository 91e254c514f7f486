import type { AddonSetStatus } from "@causeway/api";
import { setConditions, type Plan, type PlannedEvent, type WantedCondition } from "@causeway/kubernetes";
import { PODS_EVERY } from "../health/pod-problem.ts";
import { allowRecreation, idText, type ObjectId } from "../manifests/names.ts";
import { isNeverDeleted } from "../manifests/order.ts";
import { heldUntil } from "../live/tracker.ts";
import { applicationSteps, argoDeletion, preparationSteps, removalSteps, stateOfHandedOver } from "./plan-argo.ts";
import { statusOf } from "./addon-status.ts";
import type { Observed, ObservedAddon, ObservedObject, StaleObject } from "./gather.ts";
import type { Step } from "./steps.ts";

/** Keeps an AddonSet with deletionPolicy Delete until its objects are deleted. */
export const finalizer = "addons.causeway.dev/addonset";

type AddonStatus = NonNullable<AddonSetStatus["addons"]>[number];
type Reference = NonNullable<AddonStatus["objects"]>[number];

/** Milliseconds between reads of what does not work, or is not served. */
const RETRY = 1_000;
/** Milliseconds between searches for an Argo CD that is not installed. */
const ARGO_RETRY = 10_000;
const LONGEST = 4_000;

/**
 * The rules of add-ons. What was installed before is restored at once, whatever its wave; what is new or changed waits
 * until the add-ons of lower waves work. Pruning comes after everything of the add-on is applied. Nothing is ever
 * deleted to cure a failure.
 */
export function plan(observed: Observed, now: number): Plan<Step, AddonSetStatus> {
  const { set, cluster, session } = observed;
  if (set.metadata.annotations?.["cluster.x-k8s.io/paused"] !== undefined || cluster?.spec.paused === true)
    return { steps: [], status: statusWith(observed, now, [pausedBecause()], set.status?.addons ?? []) };
  if (set.metadata.deletionTimestamp !== undefined) return planDeletion(observed, now);
  if (!cluster) return waiting(observed, now, "WaitingForCluster", `there is no Cluster ${set.spec.clusterName}`);
  if (!session) return waiting(observed, now, "WaitingForConnection", "the workload cluster is not connected");
  if (observed.refusal) return waiting(observed, now, observed.refusal.code, observed.refusal.message);
  return planAddons(observed, now);
}

function planAddons(observed: Observed, now: number): Plan<Step, AddonSetStatus> {
  const { set } = observed;
  const judged = judge(observed, now);
  const steps: Step[] = finalizerSteps(observed);
  if (judged.some(({ addon }) => hasUnrecorded(observed, addon))) steps.push({ type: "record" });
  steps.push(...preparationSteps(observed));
  for (const { addon, gate } of judged) {
    steps.push(...applySteps(addon, gate, now), ...applicationSteps(observed, addon, gate));
    steps.push(...pruneSteps(addon, addon.stale));
  }
  steps.push(...removalSteps(observed));
  if (judged.every(({ addon }) => addon.refusal === undefined))
    for (const { name, stale } of observed.removed) steps.push(...deletions(name, stale));
  const addons = [...judged.map((each) => statusOfAddon(observed, each.addon, each)), ...leftovers(observed)];
  const conditions = [pausedBecause(false), appliedOf(addons), healthOf(judged)];
  const due = dueOf(observed, judged, now);
  return {
    steps,
    status: statusWith(observed, now, conditions, addons),
    ...(due === undefined ? {} : { wait: { for: "add-ons to work", until: due } }),
    events: eventsOf(set.status?.addons ?? [], judged),
  };
}

/** How an add-on is; `code` is that of an error. */
interface AddonState {
  readonly state: AddonStatus["state"];
  readonly message: string;
  readonly code?: string;
}

interface Judged extends AddonState {
  readonly addon: ObservedAddon;
  /** Why new content waits; undefined: it may be applied. */
  readonly gate: string | undefined;
}

/** Each add-on in the order of its wave. */
function judge(observed: Observed, now: number): Judged[] {
  const { addons } = observed;
  const judged: Judged[] = [];
  const ordered = addons.toSorted((a, b) => a.wave - b.wave || (a.name < b.name ? -1 : 1));
  for (const addon of ordered) {
    const blocker = judged.find((before) => before.addon.wave < addon.wave && before.state !== "Applied");
    const gate = blocker && `waits for add-on ${blocker.addon.name} of wave ${blocker.addon.wave}: ${blocker.message}`;
    judged.push({ addon, gate, ...stateIn(observed, addon, gate, now) });
  }
  return judged;
}

function stateIn(observed: Observed, addon: ObservedAddon, gate: string | undefined, now: number): AddonState {
  if (addon.application === undefined) return stateOf(addon, gate, now);
  const found = stateOfHandedOver(observed, addon, gate);
  const [failed] = addon.probes.problems;
  return found.state === "Applied" && failed !== undefined ? { state: "Unhealthy", message: failed } : found;
}

function stateOf(addon: ObservedAddon, gate: string | undefined, now: number): AddonState {
  if (addon.refusal) return { state: "Failed", ...addon.refusal };
  const foreign = addon.objects.find(({ state }) => state === "foreign");
  if (foreign)
    return withCode("Failed", "ADDON_OBJECT_OF_ANOTHER_SET", `${nameOf(foreign)} belongs to AddonSet ${foreign.set}`);
  const fixed = addon.objects.find((each) => each.immutable !== undefined && !mayRecreate(each));
  if (fixed) return withCode("Failed", "ADDON_OBJECT_IMMUTABLE", unchangeable(fixed));
  const open = addon.objects.find(({ state }) => state !== "current");
  if (open && gate !== undefined && !open.known) return { state: "Waiting", message: gate };
  if (open && isHeld(open, now)) return withCode("Applying", "ADDON_CONTESTED", contested(open));
  if (open) return { state: "Applying", message: `${nameOf(open)} ${words[open.state]}` };
  const ill = addon.objects.find(({ problem }) => problem !== undefined);
  if (ill) return { state: "Unhealthy", message: `${nameOf(ill)}: ${ill.problem}` };
  const [failed] = addon.probes.problems;
  return failed === undefined ? { state: "Applied", message: "" } : { state: "Unhealthy", message: failed };
}

/** Messages end with the code, so that people can search for it. */
function withCode(state: AddonStatus["state"], code: string, message: string): AddonState {
  return { state, code, message: `${message} (${code})` };
}

const words: Readonly<Record<ObservedObject["state"], string>> = {
  unserved: "is of a kind that the cluster does not serve",
  unread: "is not read yet",
  missing: "is to be created",
  ending: "is being deleted",
  foreign: "belongs to another set",
  unapplied: "is to be applied",
  changed: "was changed",
  current: "is as declared",
};

/** Did the author of the manifests consent? What others or data depend on is never deleted. */
function mayRecreate({ declared: { id, object } }: ObservedObject): boolean {
  return object.metadata.annotations?.[allowRecreation] === "true" && !isNeverDeleted(id.kind);
}

function unchangeable(object: ObservedObject): string {
  const what = isNeverDeleted(object.declared.id.kind)
    ? "objects of this kind are never deleted: undo the change"
    : `undo the change, or declare the object with the annotation ${allowRecreation}: "true" to have it deleted and created again`;
  return `${nameOf(object)} cannot be changed as declared: ${object.immutable}; ${what}`;
}

/** Is another writer changing it again and again? Then it is restored later. */
function isHeld({ drift }: ObservedObject, now: number): boolean {
  return drift !== undefined && heldUntil(drift) > now;
}

function contested(object: ObservedObject): string {
  const { drift } = object;
  const by = drift === undefined || drift.managers.length === 0 ? "another writer" : drift.managers.join(" and ");
  const fields = drift?.changes.map(({ path }) => path.join(".")).join(", ");
  return `${nameOf(object)} is changed by ${by} again and again${fields ? ` (${fields})` : ""} and is restored less and less often`;
}

function nameOf({ declared }: ObservedObject): string {
  return idText(declared.id);
}

function finalizerSteps({ set, cluster }: Observed): Step[] {
  const owned = set.metadata.ownerReferences?.some(({ uid }) => uid === cluster?.metadata.uid) === true;
  return [...(cluster && !owned ? [{ type: "adopt" } as const] : []), ...finalizerChange(set)];
}

function finalizerChange(set: Observed["set"]): Step[] {
  const has = set.metadata.finalizers?.includes(finalizer) === true;
  const wants = set.spec.deletionPolicy === "Delete";
  if (has === wants) return [];
  return [{ type: wants ? "add-finalizer" : "remove-finalizer" }];
}

const appliable: readonly ObservedObject["state"][] = ["missing", "unapplied", "changed"];

function applySteps(addon: ObservedAddon, gate: string | undefined, now: number): Step[] {
  const steps: Step[] = [];
  for (const object of addon.objects) {
    const { declared, state, known } = object;
    // What comes after an object that cannot be applied yet may need it: a CRD, a namespace.
    if (state === "unserved" || state === "unread") break;
    if (!appliable.includes(state) || (gate !== undefined && !known) || isHeld(object, now)) continue;
    const name = idText(declared.id);
    if (object.immutable !== undefined) {
      if (mayRecreate(object)) steps.push({ type: "recreate", addon: addon.name, name });
      continue;
    }
    steps.push({ type: known ? "restore" : "install", addon: addon.name, name, digest: declared.digest });
  }
  return steps;
}

function pruneSteps(addon: ObservedAddon, stale: readonly StaleObject[]): Step[] {
  const complete = addon.refusal === undefined && addon.objects.every(({ state }) => state === "current");
  return complete ? deletions(addon.name, stale) : [];
}

/** In the reverse order of their application. */
function deletions(addon: string, stale: readonly StaleObject[]): Step[] {
  return stale
    .filter(({ id, isUnread }) => !isNeverDeleted(id.kind) && isUnread !== true)
    .toReversed()
    .map(({ id }) => ({ type: "delete", addon, name: idText(id) }) as const);
}

function referenceOf({ apiVersion, kind, namespace, name }: ObjectId): Reference {
  return { apiVersion, kind, ...(namespace === "" ? {} : { namespace }), name };
}

const textOf = ({ namespace = "", ...rest }: Reference): string => idText({ ...rest, namespace });

function hasUnrecorded({ set }: Observed, addon: ObservedAddon): boolean {
  const recorded = new Set(statusOf(set, addon.name)?.objects?.map(textOf));
  return addon.objects.some((object) => !recorded.has(nameOf(object)));
}

/**
 * Applied completely: exactly what is declared, and what could not be pruned yet. Otherwise what was applied before,
 * too.
 */
export function recorded({ set }: Observed, addon: ObservedAddon): Reference[] {
  const declared = addon.objects.map(({ declared: { id } }) => referenceOf(id));
  const names = new Set(declared.map(textOf));
  const complete = addon.refusal === undefined && addon.objects.every(({ state }) => state === "current");
  const stale = new Set(addon.stale.filter(({ id }) => !isNeverDeleted(id.kind)).map(({ id }) => idText(id)));
  const before = (statusOf(set, addon.name)?.objects ?? []).filter((each) => !names.has(textOf(each)));
  return [...declared, ...before.filter((each) => !complete || stale.has(textOf(each)))].slice(0, 1_000);
}

/** The status of an add-on; its digest changes only once all of its objects are applied. */
export function statusOfAddon(
  observed: Observed,
  addon: ObservedAddon,
  { state, message, code }: AddonState,
): AddonStatus {
  const isThere = addon.application === undefined || addon.application.state === "current";
  const complete =
    isThere && addon.objects.every((object) => object.state === "current") && addon.refusal === undefined;
  const digest = complete ? addon.digest : statusOf(observed.set, addon.name)?.digest;
  return {
    name: addon.name,
    state,
    ...(message === "" ? {} : { message: message.slice(0, LONGEST) }),
    ...(code === undefined ? {} : { code }),
    ...(digest === undefined ? {} : { digest }),
    objects: recorded(observed, addon),
  };
}

/** Add-ons that were removed and have objects still. */
function leftovers({ set, removed }: Observed): AddonStatus[] {
  return removed.flatMap(({ name, stale }) => {
    const kept = new Set(stale.filter(({ id }) => !isNeverDeleted(id.kind)).map(({ id }) => idText(id)));
    const objects = (statusOf(set, name)?.objects ?? []).filter((each) => kept.has(textOf(each)));
    return objects.length === 0 ? [] : [{ name, state: "Applying" as const, message: "is being removed", objects }];
  });
}

function appliedOf(addons: readonly AddonStatus[]): WantedCondition {
  const type = "Applied";
  const open = addons.filter(({ state }) => state !== "Applied" && state !== "Unhealthy");
  const [first] = open;
  if (!first) return { type, status: "True", reason: "Applied" };
  const message = open.map(({ name, message: why = "" }) => `${name}: ${why}`).join("; ");
  return { type, status: "False", reason: first.state, message: message.slice(0, LONGEST) };
}

function healthOf(judged: readonly Judged[]): WantedCondition {
  const type = "Healthy";
  const ill = judged.filter(({ state }) => state !== "Applied");
  if (ill.length === 0) return { type, status: "True", reason: "Healthy" };
  const message = ill.map(({ addon, message: why }) => `${addon.name}: ${why}`).join("; ");
  return { type, status: "False", reason: ill[0]?.state ?? "Unhealthy", message: message.slice(0, LONGEST) };
}

/**
 * Watches report every change of an object. Kinds that are not served, what proofs say, and pods of what does not work
 * have none.
 */
function dueOf(observed: Observed, judged: readonly Judged[], now: number): number | undefined {
  const { argo } = observed;
  const isUnserved = judged.some(({ addon }) => addon.objects.some(({ state }) => state === "unserved"));
  const polled = isUnserved || unreadOf(observed).length > 0;
  const due = judged.flatMap(({ addon }) => (addon.probes.due === undefined ? [] : [addon.probes.due]));
  if (polled || argo?.isUnread === true) due.push(now + RETRY);
  if (argo?.refusal !== undefined) due.push(now + ARGO_RETRY);
  if (judged.some(({ addon }) => addon.objects.some(({ problem }) => problem !== undefined)))
    due.push(now + PODS_EVERY);
  for (const { addon } of judged)
    for (const { state, drift } of addon.objects)
      if (drift && appliable.includes(state) && heldUntil(drift) > now) due.push(heldUntil(drift));
  return due.length === 0 ? undefined : Math.min(...due);
}

/** Objects that the set has or had, and of whose kind the list has not arrived. */
function unreadOf({ addons, removed }: Observed): ObjectId[] {
  const stale = [...addons, ...removed].flatMap((each) => each.stale.filter(({ isUnread }) => isUnread));
  const declared = addons.flatMap(({ objects }) => objects.filter(({ state }) => state === "unread"));
  return [...stale.map(({ id }) => id), ...declared.map((each) => each.declared.id)];
}

/** One event when an add-on stops working, and one when it works again. */
function eventsOf(before: readonly AddonStatus[], judged: readonly Judged[]): PlannedEvent[] {
  return judged.flatMap(({ addon, state, message }): PlannedEvent[] => {
    const past = before.find(({ name }) => name === addon.name)?.state;
    if (state === past) return [];
    if (state === "Unhealthy" || state === "Failed") {
      const reason = state === "Failed" ? "AddonFailed" : "AddonUnhealthy";
      return [{ type: "Warning", reason, message: `${addon.name}: ${message}` }];
    }
    const healed = state === "Applied" && past !== undefined && past !== "Applying" && past !== "Waiting";
    return healed ? [{ type: "Normal", reason: "AddonHealthy", message: `${addon.name} works again` }] : [];
  });
}

function planDeletion(observed: Observed, now: number): Plan<Step, AddonSetStatus> {
  const { set, session } = observed;
  const addons = set.status?.addons ?? [];
  const status = statusWith(observed, now, [pausedBecause(false)], addons);
  const argo = argoDeletion(observed);
  if (argo)
    return {
      steps: [...argo.steps],
      status,
      wait: { for: "Argo CD to release the add-ons", until: now + ARGO_RETRY },
    };
  if (!set.metadata.finalizers?.includes(finalizer)) return { steps: [], status };
  // What is in a cluster that is deleted needs no deletion of its own.
  const isGone = observed.cluster?.metadata.deletionTimestamp !== undefined || !observed.cluster;
  // The finalizer may be of a time when the objects were to be deleted.
  if (isGone || set.spec.deletionPolicy !== "Delete") return { steps: [{ type: "remove-finalizer" }], status };
  if (!session) return { steps: [], status, wait: { for: "the workload cluster to be connected" } };
  const objects = observed.addons.toReversed().flatMap(({ name, objects: each, stale }) => [
    ...deletions(
      name,
      each.flatMap(({ declared, resource, state }) =>
        resource && ["current", "changed", "unapplied"].includes(state) ? [{ id: declared.id, resource }] : [],
      ),
    ),
    ...deletions(name, stale),
  ]);
  const steps = [...observed.removed.flatMap(({ name, stale }) => deletions(name, stale)), ...objects];
  const unread = [...new Set(unreadOf(observed).map(({ kind }) => kind))].filter((kind) => !isNeverDeleted(kind));
  if (unread.length > 0) {
    const message = `objects of kind ${unread.toSorted().join(", ")} are not listed yet, and are deleted then; spec.deletionPolicy Keep leaves them`;
    const wanted: WantedCondition = { type: "Applied", status: "False", reason: "Deleting", message };
    return {
      steps,
      status: statusWith(observed, now, [pausedBecause(false), wanted], addons),
      wait: { for: "the objects of the add-ons to be read", until: now + RETRY },
    };
  }
  return { steps: steps.length === 0 ? [{ type: "remove-finalizer" }] : steps, status };
}

function waiting(observed: Observed, now: number, reason: string, message: string): Plan<Step, AddonSetStatus> {
  const conditions: WantedCondition[] = [
    pausedBecause(false),
    { type: "Applied", status: "False", reason, message },
    { type: "Healthy", status: "Unknown", reason, message },
  ];
  return {
    steps: finalizerSteps(observed),
    status: statusWith(observed, now, conditions, observed.set.status?.addons ?? []),
    wait: { for: message },
  };
}

function pausedBecause(paused = true): WantedCondition {
  return { type: "Paused", status: paused ? "True" : "False", reason: paused ? "Paused" : "NotPaused" };
}

function statusWith(
  { set, version }: Observed,
  now: number,
  wanted: readonly WantedCondition[],
  addons: readonly AddonStatus[],
): AddonSetStatus {
  const { generation } = set.metadata;
  const failing = addons.filter(({ state }) => state !== "Applied").map(({ name }) => name);
  return {
    conditions: setConditions(set.status?.conditions, wanted, { generation, now }),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(version === undefined ? {} : { version }),
    addons: [...addons],
    ...(failing.length === 0 ? {} : { failing: failing.slice(0, 64) }),
  };
}
