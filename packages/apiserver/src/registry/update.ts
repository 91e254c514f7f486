import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { copied, fields, record, same, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { conflict, invalid } from "../errors/status.ts";
import { invalidValue } from "../errors/problems.ts";
import type { Stored } from "../store/index.ts";
import { gateOf, type Gate } from "./admit.ts";
import { draftOf } from "./body.ts";
import { announce, charged, contextOf, keyOf, read, storedForm, type Call, type Read } from "../contract/call.ts";
import { createDraft } from "./create.ts";
import { withDefaults } from "./defaults.ts";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";
import { withOtherForms } from "./other-forms.ts";
import { checkIdentity, isUnpinned, keepIdentity, refuseOtherName, refuseUnreadable } from "./identity.ts";
import { dedupOwners } from "./owners.ts";
import { problemsOf } from "./problems.ts";
import { noteNulls, emptyKeysAt } from "./empty-metadata.ts";
import { refuseTooLarge } from "./size.ts";
import { tracked } from "./tracking.ts";

const ATTEMPTS = 6;

/** What a PUT did. */
export interface Updated {
  /** Stored form. */
  readonly object: KubeObject;
  /** There was none, and the kind is one that a PUT makes. */
  readonly created: boolean;
}

/** Replaces an object with a parsed body. */
export async function update(call: Call, body: unknown): Promise<Updated> {
  const draft = draftOf(call, body);
  dedupOwners(call, draft, "sent");
  const { name, resourceVersion } = draft.metadata;
  refuseOtherName(call, name);
  if (call.resource.createdByUpdate && !call.cluster.store.get(keyOf(call))) {
    checkIdentity(call, draft.metadata.uid, undefined);
    refuseUnreadable(resourceVersion);
    delete draft.metadata.resourceVersion;
    return { object: await createDraft(call, draft), created: true };
  }
  const object = await change(call, (old) => {
    checkIdentity(call, draft.metadata.uid, old.object);
    const made = copied(draft);
    if (isUnpinned(resourceVersion)) dropRevision(call, made);
    return { draft: made, tracked: false };
  });
  return { object, created: false };
}

/** Lets an update replace whatever revision there is. Throws where a kind is not updated so. */
export function dropRevision(call: Call, draft: Draft): void {
  if (!call.resource.unconditionalUpdate) throw unpinned(call);
  delete draft.metadata.resourceVersion;
}

/**
 * An update has to say for which revision it is. kube-apiserver names the resource here where it names the kind
 * elsewhere.
 */
function unpinned({ resource, name }: Call): Error {
  const problem = invalidValue("metadata.resourceVersion", 0, "must be specified for an update");
  return invalid({ group: resource.group, kind: resource.plural }, name, [problem]);
}

/** The new state that a change makes of an object. */
export interface Changed {
  readonly draft: Draft;
  /** managedFields are already as they should be (server-side apply). */
  readonly tracked: boolean;
}

/**
 * Reads, lets `make` turn the old state into a new one, and swaps them, again and again while others write
 * between (unless the new state names the resourceVersion it is for). A change that changes nothing is not written.
 */
export async function change(
  call: Call,
  make: (old: Stored) => Changed,
  gate: Gate = gateOf(call, "UPDATE"),
): Promise<KubeObject> {
  for (let attempt = 1; ; attempt += 1) {
    const found = read(call);
    const old = found instanceof Promise ? await found : found;
    const step = (): MaybePromise<Wanted> => changed(call, old, { make, gate });
    const wanted = charged(call, () => (call.otherForms ? withOtherForms(call.otherForms, step) : step()));
    const { draft, pinned } = wanted instanceof Promise ? await wanted : wanted;
    try {
      return await charged(call, () => swap(call, old, { draft, gate }));
    } catch (error) {
      if (!hasCode(error, "STORE_CONFLICT")) throw error;
      if (pinned || attempt === ATTEMPTS) throw conflict(call.resource, call.name);
    }
  }
}

interface Wanted {
  /** Ready for the swap. */
  readonly draft: Draft;
  /** It is for one revision alone. */
  readonly pinned: boolean;
}

/** What is to be stored in the place of the old state, after mutating admission and the rules of the kind. */
function changed(
  call: Call,
  old: Read,
  { make, gate }: { make: (old: Stored) => Changed; gate: Gate },
): MaybePromise<Wanted> {
  const made = make(old);
  const pinned = Boolean(made.draft.metadata.resourceVersion);
  const settle = (admitted: Changed): Wanted => {
    checkRevision(call, admitted.draft, old);
    return { draft: prepare(call, old.object, admitted), pinned };
  };
  return andThen(gate.mutate ? mutated(call, old.object, { made, mutate: gate.mutate }) : made, (admitted) =>
    charged(call, () => settle(admitted)),
  );
}

/** What mutating admission makes of it; `make`'s own result when that is nothing else. */
async function mutated(
  call: Call,
  old: KubeObject,
  { made, mutate }: { made: Changed; mutate: NonNullable<Gate["mutate"]> },
): Promise<Changed> {
  const { version, resource } = call;
  const { resourceVersion } = made.draft.metadata;
  const copy = copied(made.draft);
  keepIdentity(copy, old);
  const filled = (version.schema?.default(copy) ?? copy) as Draft;
  resource.strategy.applyDefaults?.(filled, contextOf(call));
  const owned = made.tracked ? filled : tracked(call, old, filled);
  const changed = await mutate(owned, old);
  if (changed === owned) return made;
  if (resourceVersion) changed.metadata.resourceVersion = resourceVersion;
  else delete changed.metadata.resourceVersion;
  return { draft: changed, tracked: true };
}

function checkRevision(call: Call, draft: Draft, old: Stored): void {
  const { resourceVersion } = draft.metadata;
  refuseUnreadable(resourceVersion);
  if (resourceVersion && resourceVersion !== old.object.metadata.resourceVersion) {
    throw conflict(call.resource, call.name);
  }
}

function prepare(call: Call, old: KubeObject, { draft, tracked: isTracked }: Changed): Draft {
  const { resource, version, subresource, isScale = false } = call;
  const { strategy } = resource;
  const context = contextOf(call);
  keepIdentity(draft, old);
  const from = isTracked ? "applied" : "written";
  // Who scales an object changes a number: what that leads to is filled in only after the object was judged.
  const given = isScale ? draft : withDefaults(version, draft, from);
  // What the rules of a kind change has no field manager: the client owns the fields that it wrote.
  const owned = isTracked ? given : tracked(call, old, given);
  dedupOwners(call, owned, "made");
  const scoped = subresource ? onlySubresource(call, owned, old) : withoutStatus(call, owned, old);
  const filled = isScale ? scoped : withDefaults(version, scoped, from);
  strategy.prepareUpdate?.(filled, old, context);
  strategy.applyDefaults?.(filled, context);
  if (resource.generation) bumpGeneration(call, filled, old);
  const problems = problemsOf(call, filled, old);
  if (problems.length > 0) throw invalid(resource, call.name, problems);
  strategy.admit?.(filled, old, context);
  if (!isTracked && !isScale) return filled;
  const settled = withDefaults(version, filled);
  noteNulls(call, filled, settled);
  return settled;
}

/** A write to "status" leaves the rest as it is; custom resources keep even their metadata. */
function onlySubresource(call: Call, draft: Draft, old: KubeObject): Draft {
  if (call.subresource !== "status") return draft;
  const next = copied(old) as Draft;
  delete next.metadata.resourceVersion;
  if (draft["status"] === undefined) delete next["status"];
  else next["status"] = draft["status"];
  if (!call.resource.custom) next.metadata = draft.metadata;
  else if (draft.metadata.managedFields) next.metadata.managedFields = draft.metadata.managedFields;
  else delete next.metadata.managedFields;
  return next;
}

function withoutStatus(call: Call, draft: Draft, old: KubeObject): Draft {
  if (!call.version.subresources?.some((s) => s.name === "status")) return draft;
  const was = fields(old)["status"];
  if (was === undefined) delete draft["status"];
  else draft["status"] = copied(was);
  return draft;
}

function bumpGeneration(call: Call, draft: Draft, old: KubeObject): void {
  const hasStatus = call.version.subresources?.some((s) => s.name === "status") ?? false;
  const desired = ({ metadata: _m, status, ...rest }: Json): Json => (hasStatus ? rest : { ...rest, status });
  if (same(desired(draft), desired(fields(old)))) return;
  draft.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

async function swap(call: Call, old: Read, { draft, gate }: { draft: Draft; gate: Gate }): Promise<KubeObject> {
  if (!gate.validate) return commit(call, old, draft);
  const release = call.resource.strategy.allocate?.(draft, old.object, contextOf(call));
  try {
    await gate.validate(draft, old.object);
  } finally {
    release?.();
  }
  return charged(call, () => commit(call, old, draft));
}

async function commit(call: Call, old: Read, made: Draft): Promise<KubeObject> {
  const form = storedForm(call, made);
  const draft = form instanceof Promise ? await form : form;
  const { resource, dryRun } = call;
  if (isGone(draft)) return finish(call, old, draft);
  const { metadata, ...rest } = fields(old.kept);
  const { resourceVersion: _rv, ...meta } = record(metadata);
  const kept = { metadata: meta, ...rest };
  if (unchanged(draft, kept)) {
    if (dryRun || isSettled(call, old, same(draft, kept))) return old.kept;
    return write(call, old, call.emptyMetadata?.emptyKeys ? draft : (kept as unknown as Draft));
  }
  // It is etcd that refuses it, which a dry run does not reach.
  if (!dryRun) refuseTooLarge(draft, resource.custom);
  const release = resource.strategy.allocate?.(draft, old.object, contextOf(call));
  if (dryRun) {
    release?.();
    draft.metadata.resourceVersion = String(old.revision);
    return draft;
  }
  try {
    return await write(call, old, draft);
  } catch (error) {
    release?.();
    throw error;
  }
}

async function write(call: Call, old: Read, draft: Draft): Promise<KubeObject> {
  const { cluster, resource } = call;
  const stored = await (cluster.quota?.write({ user: call.user, object: draft, old: old.kept }, swapped) ?? swapped());
  resource.strategy.written?.(stored.object, cluster);
  announce(call, "MODIFIED", stored.object, old.kept);
  return stored.object;

  function swapped(): Promise<Stored> {
    return cluster.store.update(keyOf(call), draft, old.revision);
  }
}

/**
 * Whether what is stored is so as a write would store it that changes nothing one could read but, perhaps, times of
 * managers.
 */
function isSettled(call: Call, old: Read, isSame: boolean): boolean {
  const emptyKeys = call.emptyMetadata?.emptyKeys ?? "";
  if (emptyKeys !== emptyKeysAt(call, old.kept.metadata.resourceVersion) || (emptyKeys !== "" && !isSame)) return false;
  return !settlesLate(call, old.object) || !call.cluster.store.isAsCreated(keyOf(call));
}

/** Statuses have their defaults when they are read, but not when the object is created; the first write stores them. */
function settlesLate({ resource, version }: Call, object: KubeObject): boolean {
  if (resource.strategy.settlesLate?.(object) === true) return true;
  if (!version.schema || !version.subresources?.some((s) => s.name === "status")) return false;
  return record(version.schema.default({}))["status"] !== undefined;
}

/** Being deleted, with nothing left that holds it. */
function isGone(draft: Draft): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = draft.metadata;
  if (!deletionTimestamp || (finalizers?.length ?? 0) > 0) return false;
  if ((deletionGracePeriodSeconds ?? 0) > 0) return false;
  return (
    draft.kind !== "Namespace" || ((record(draft["spec"])["finalizers"] as unknown[] | undefined)?.length ?? 0) === 0
  );
}

/**
 * Removes an object whose last finalizer went away. Answers what was requested, with all that a stored one would have
 * been given, at the revision that the request had.
 */
async function finish(call: Call, old: Read, draft: Draft): Promise<KubeObject> {
  const { strategy } = call.resource;
  const release = strategy.allocate?.(draft, old.object, contextOf(call));
  try {
    const resourceVersion = String(old.revision);
    const answer = { ...draft, metadata: { ...draft.metadata, ...call.emptyMetadata?.members, resourceVersion } };
    if (call.dryRun) return answer;
    const removed = await call.cluster.store.remove(keyOf(call), old.revision);
    announce(call, "DELETED", removed.object, old.kept);
    strategy.released?.(removed.object, call.cluster);
    return answer;
  } finally {
    release?.();
  }
}

/** The same but for the times in managedFields. */
function unchanged(a: Json, b: Json): boolean {
  return same(timeless(a), timeless(b));
}

function timeless(object: Json): Json {
  const metadata = record(object["metadata"]);
  const entries = metadata["managedFields"];
  if (!Array.isArray(entries)) return object;
  const managedFields = entries.map((e) => ({ ...record(e), time: "" }));
  return { ...object, metadata: { ...metadata, managedFields } };
}
