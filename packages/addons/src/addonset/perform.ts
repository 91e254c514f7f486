import { AddonSet } from "@causeway/api";
import { canonicalJson, CausewayError, messageOf, type Clock, type Log } from "@causeway/foundation";
import {
  addFinalizer,
  isAlreadyExists,
  isInvalid,
  ownerReference,
  publishStatus,
  removeFinalizer,
  type EventRecorder,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import { changesBetween, managersOf, parsePath, pathText, valueAt, without, type FieldChange } from "../live/fields.ts";
import type { Session } from "../live/session.ts";
import { allowDeletion, fieldManager, idText, labels } from "../manifests/names.ts";
import type { ManifestObject } from "../manifests/parse.ts";
import { performArgo } from "./perform-argo.ts";
import type { Observed, ObservedAddon, ObservedObject } from "./gather.ts";
import { finalizer, statusOfAddon } from "./plan.ts";
import type { ApplyReason, Step } from "./steps.ts";

/** What perform writes with; workload clusters are written through their sessions. */
export interface PerformContext {
  /** Of the management cluster. */
  readonly client: KubernetesClient;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** Restorations in a row from which on another writer is assumed to fight. */
const FIGHT = 4;
/** Of a value in an event. */
const SHOWN = 80;

/** Does one step. "deferred": it cannot be done now, and is planned again. */
export async function perform(
  using: PerformContext,
  step: Step,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { set } = observed;
  switch (step.type) {
    case "add-finalizer":
      await addFinalizer(using.client, AddonSet, set, { finalizer, signal });
      return;
    case "remove-finalizer":
      await removeFinalizer(using.client, AddonSet, set, { finalizer, signal });
      return;
    case "adopt":
      await adopt(using, observed, signal);
      return;
    case "record":
      await record(using, observed, signal);
      return;
    case "install":
    case "restore":
      return apply(using, step, observed, signal);
    case "recreate":
    case "delete":
      await removeOwn(using, step, observed, signal);
      return;
    default:
      return performArgo(using.client, step, observed, signal);
  }
}

async function adopt({ client }: PerformContext, { set, cluster }: Observed, signal: AbortSignal): Promise<void> {
  if (!cluster) return;
  const { namespace = "", name, resourceVersion = "", ownerReferences = [] } = set.metadata;
  const kept = ownerReferences.filter((each) => each.kind !== cluster.kind || each.name !== cluster.metadata.name);
  const body = { metadata: { resourceVersion, ownerReferences: [...kept, ownerReference(cluster)] } };
  await client.patch(AddonSet, { namespace, name }, { type: "merge", body }, { fieldManager, signal });
}

async function record({ client }: PerformContext, observed: Observed, signal: AbortSignal): Promise<void> {
  const { set, addons } = observed;
  const before = set.status?.addons ?? [];
  const names = new Set(addons.map(({ name }) => name));
  const written = addons.map((addon) => statusOfAddon(observed, addon, { state: "Applying", message: "" }));
  const status = { ...set.status, addons: [...written, ...before.filter(({ name }) => !names.has(name))] };
  await publishStatus(client, AddonSet, set, { status, fieldManager, signal });
}

interface ApplyStep {
  readonly type: ApplyReason;
  readonly addon: string;
  readonly name: string;
}

async function apply(
  using: PerformContext,
  step: ApplyStep,
  observed: Observed,
  signal: AbortSignal,
): Promise<void | "deferred"> {
  const { set, session, addons } = observed;
  const addon = addons.find(({ name }) => name === step.addon);
  const target = addon?.objects.find(({ declared }) => idText(declared.id) === step.name);
  if (!session || !addon || !target?.resource) return "deferred";
  const { declared, resource } = target;
  const tracker = session.trackerOf(set.metadata.name);
  const key = { namespace: declared.id.namespace, name: declared.id.name };
  const live = await session.remote.client.find(resource, key, { signal });
  refuseForeign(live, observed, step.name);
  if (live?.metadata.deletionTimestamp !== undefined) return "deferred";
  const wanted = live === undefined ? declared.object : withoutKept(declared.object, live, addon.mayChange);
  let applied: KubeObject;
  try {
    applied = await session.remote.client.apply(resource, wanted, { fieldManager, force: true, signal });
  } catch (error) {
    if (!isInvalid(error) || live === undefined) throw error;
    if (!(await isValidAsNew(session.remote.client, { resource, object: declared.object }, signal))) throw error;
    tracker.refused(step.name, declared.digest, live, messageOf(error));
    return "deferred";
  }
  tracker.applied(step.name, declared.digest, applied);
  if (live !== undefined && live.metadata.resourceVersion === applied.metadata.resourceVersion) return "deferred";
  if (step.type === "restore") report(using, { observed, session, target, live, applied }, step);
}

/**
 * Would the server accept the object if it were new? It judges an object before it sees that the name is in use. So
 * what is refused as a change only is kept apart from manifests that are wrong, for which nothing is ever deleted.
 */
async function isValidAsNew(
  client: KubernetesClient,
  { resource, object }: { readonly resource: ResourceType<KubeObject>; readonly object: ManifestObject },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.create(resource, object, { dryRun: true, fieldManager, signal });
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return true;
    if (isInvalid(error)) return false;
    throw error;
  }
}

function refuseForeign(live: KubeObject | undefined, { others }: Observed, name: string): void {
  const owner = live?.metadata.labels?.[labels.set];
  if (owner === undefined || !others.has(owner)) return;
  throw new CausewayError("ADDON_OBJECT_OF_ANOTHER_SET", `${name} belongs to AddonSet ${owner}`, {
    hint: "Declare it in one of the two sets only.",
  });
}

/** What is declared, without the fields that users may change and have changed. */
function withoutKept(object: ManifestObject, live: KubeObject, rules: ObservedAddon["mayChange"]): ManifestObject {
  let wanted = object;
  for (const { kind, name, field } of rules) {
    if (kind !== object.kind || (name !== undefined && name !== object.metadata.name)) continue;
    const path = parsePath(field);
    const there = valueAt(live, path);
    if (there === undefined || canonicalJson(there) === canonicalJson(valueAt(object, path) ?? null)) continue;
    // A field that only we own differs because the declaration has changed.
    if (managersOf(live, path).some((manager) => manager !== fieldManager)) wanted = without(wanted, path);
  }
  return wanted;
}

interface Restored {
  readonly observed: Observed;
  readonly session: Session;
  readonly target: ObservedObject;
  readonly live: KubeObject | undefined;
  readonly applied: KubeObject;
}

/** Reports to the users of the cluster what was restored, and who seems to fight. */
function report({ clock, events, log }: PerformContext, restored: Restored, step: ApplyStep): void {
  const { observed, session, live, applied } = restored;
  const changes = live === undefined ? [] : changesBetween(live, applied);
  const managers = [
    ...new Set(changes.flatMap(({ path }) => (live === undefined ? [] : managersOf(live, path)))),
  ].filter((manager) => manager !== fieldManager);
  const drift = session
    .trackerOf(observed.set.metadata.name)
    .restored(step.name, { changes, managers, now: clock.now() });
  const why = live === undefined ? "it was deleted" : reasonOf(changes, managers, applied.kind === "Secret");
  const message = `Restored ${step.name} of add-on ${step.addon}: ${why}`;
  session.events.event(applied, { type: "Normal", reason: "AddonRestored", message });
  events.event(observed.set, { type: "Normal", reason: "AddonRestored", message });
  log.info("restored an object of an add-on", { object: step.name, addon: step.addon, why });
  if (drift.times !== FIGHT) return;
  const fight = `${step.name} of add-on ${step.addon} was restored ${drift.times} times in a row: ${why}; it is restored less and less often until the other writer stops (ADDON_CONTESTED)`;
  session.events.event(applied, { type: "Warning", reason: "AddonContested", message: fight });
  events.event(observed.set, { type: "Warning", reason: "AddonContested", message: fight });
}

function reasonOf(changes: readonly FieldChange[], managers: readonly string[], secret: boolean): string {
  const fields = changes.map(({ path, from, to }) =>
    secret ? pathText(path) : `${pathText(path)} was ${shown(from)} instead of ${shown(to)}`,
  );
  const by = managers.length === 0 ? "" : `, changed by ${managers.join(" and ")}`;
  return fields.length === 0 ? `it was changed${by}` : `${fields.join(", ")}${by}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

/**
 * Deletes an object, if it is still ours: one that is no longer declared, or one to create again. With its pods: the
 * consent to the recreation of a workload is one to its restart.
 */
async function removeOwn(
  { events }: PerformContext,
  step: { readonly type: "delete" | "recreate"; readonly addon: string; readonly name: string },
  observed: Observed,
  signal: AbortSignal,
): Promise<void> {
  if (!(await deleteOwn(observed, step, signal))) return;
  const { addon, name } = step;
  const again = `Deleted ${name} of add-on ${addon} to create it again: a field that was changed is immutable`;
  const gone = `Deleted ${name}, which add-on ${addon} no longer declares`;
  const event =
    step.type === "recreate"
      ? ({ type: "Normal", reason: "AddonRecreated", message: again } as const)
      : ({ type: "Normal", reason: "AddonPruned", message: gone } as const);
  events.event(observed.set, event);
}

/** Returns whether it was there and ours. */
async function deleteOwn(
  observed: Observed,
  step: { readonly addon: string; readonly name: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { set, session } = observed;
  const found = staleAndDeclared(observed, step.addon).find(({ id }) => idText(id) === step.name);
  if (!session || !found) return false;
  const { id, resource } = found;
  const { client } = session.remote;
  const key = { namespace: id.namespace, name: id.name };
  const live = await client.find(resource, key, { signal });
  if (live?.metadata.labels?.[labels.set] !== set.metadata.name || live.metadata.uid === undefined) return false;
  // The cluster's own policy lets objects with it go.
  const body = { metadata: { uid: live.metadata.uid, annotations: { [allowDeletion]: "pruned" } } };
  if (live.metadata.annotations?.[allowDeletion] === undefined)
    await client.patch(resource, key, { type: "merge", body }, { fieldManager, signal });
  const preconditions = { uid: live.metadata.uid };
  await client.delete(resource, key, { propagationPolicy: "Background", preconditions, signal });
  session.trackerOf(set.metadata.name).forget(step.name);
  return true;
}

function staleAndDeclared({ addons, removed }: Observed, name: string) {
  const addon = addons.find((each) => each.name === name);
  const declared = (addon?.objects ?? []).flatMap(({ declared: { id }, resource }) =>
    resource ? [{ id, resource }] : [],
  );
  return [...(addon?.stale ?? []), ...(removed.find((each) => each.name === name)?.stale ?? []), ...declared];
}
