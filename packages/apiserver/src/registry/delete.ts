import { hasCode } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { at, copied, isRecord, record, text, timestamp, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { invalidValue, notSupported } from "../errors/problems.ts";
import { apiError, badRequest, conflict, invalidOptions, type FieldProblem } from "../errors/status.ts";
import type { Stored } from "../store/index.ts";
import { gateOf, type Gate } from "./admit.ts";
import { announce, contextOf, keyOf, read, storedForm, type Call, type Read } from "../contract/call.ts";

const ATTEMPTS = 6;
const POD_GRACE_SECONDS = 30;

/** metav1.DeleteOptions, as body or query gave them. */
export interface DeleteOptions {
  readonly policy?: "Orphan" | "Background" | "Foreground";
  /** What the older of the two ways to say so says. */
  readonly orphanDependents?: boolean;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly gracePeriodSeconds?: number;
}

function refuseOtherKind(options: Json): void {
  const kind = text(options["kind"]);
  if (kind !== "" && kind !== "DeleteOptions") {
    const version = JSON.stringify(text(options["apiVersion"]));
    throw apiError(
      500,
      "",
      `no kind "${kind}" is registered for version ${version} in scheme "pkg/runtime/scheme.go:110"`,
    );
  }
}

const POLICIES: readonly string[] = ["Foreground", "Background", "Orphan"];

interface Dependents {
  readonly policy: string | null;
  readonly orphan: unknown;
}

function dependentsOf(options: Json, query: URLSearchParams): Dependents {
  return {
    policy: text(options["propagationPolicy"]) || query.get("propagationPolicy"),
    orphan: options["orphanDependents"] ?? (query.get("orphanDependents") === "true" ? true : undefined),
  };
}

/** What is wrong with what the options of a deletion say about dependents. */
export function dependentsProblems(body: unknown, query: URLSearchParams): FieldProblem[] {
  const { policy, orphan } = dependentsOf(isRecord(body) ? body : {}, query);
  const why = "orphanDependents and deletionPropagation cannot be both set";
  return [
    ...(policy && orphan !== undefined ? [invalidValue("propagationPolicy", policy, why)] : []),
    ...(policy && !POLICIES.includes(policy) ? [notSupported("propagationPolicy", policy, [...POLICIES, "nil"])] : []),
  ];
}

function refuseUnclear(problems: readonly FieldProblem[], grace: unknown): void {
  if (problems.length > 0) throw invalidOptions("DeleteOptions", ...problems);
  if (typeof grace === "string" && !/^[+-]?\d+$/.test(grace)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  }
}

/** Reads DeleteOptions from a body and the query; the body wins. Throws 400. */
export function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const options: Json = isRecord(body) && Object.keys(body).length > 0 ? body : {};
  refuseOtherKind(options);
  const { policy, orphan } = dependentsOf(options, query);
  const grace = options["gracePeriodSeconds"] ?? query.get("gracePeriodSeconds") ?? undefined;
  refuseUnclear(dependentsProblems(options, query), grace);
  const uid = text(at(options, "preconditions", "uid"));
  const resourceVersion = text(at(options, "preconditions", "resourceVersion"));
  const chosen = policy || (orphan === true ? "Orphan" : undefined);
  const isKept = orphan === undefined ? {} : { orphanDependents: orphan === true };
  return {
    ...(chosen ? { policy: chosen as "Orphan" } : {}),
    ...isKept,
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
  };
}

/** What became of an object that a client deletes. */
export interface Deletion {
  /** The last state when it is gone; the state with a deletionTimestamp when something still holds it. */
  readonly object: KubeObject;
  readonly gone: boolean;
}

/** Deletes one object, or marks it when finalizers, a namespace's contents or a pod's grace period hold it. */
export async function remove(
  call: Call,
  options: DeleteOptions = {},
  gate: Gate = gateOf(call, "DELETE"),
): Promise<Deletion> {
  for (let attempt = 1; ; attempt += 1) {
    const found = read(call);
    const old = found instanceof Promise ? await found : found;
    checkPreconditions(call, options, old);
    call.resource.strategy.admitDelete?.(old.object, contextOf(call));
    if (gate.validate) await gate.validate(undefined, old.object);
    const marked = mark(call, old.object, options);
    try {
      if (marked === "hold") return { object: old.kept, gone: false };
      if (marked && !isOver(marked)) return { object: await hold(call, old, marked), gone: false };
      // A pod is requested to terminate before it is removed, however short its grace period.
      const object = marked ? await hold(call, old, marked) : old.kept;
      return { object: await erase(call, { ...old, kept: object, revision: revisionOf(object, old) }), gone: true };
    } catch (error) {
      if (!hasCode(error, "STORE_CONFLICT")) throw error;
      if (attempt === ATTEMPTS) throw conflict(call.resource, call.name);
    }
  }
}

/** Throws 409 for an object that is not the one, or not the state, that was to be deleted. */
export function checkPreconditions(call: Call, options: DeleteOptions, old: Stored): void {
  const { uid, resourceVersion } = old.object.metadata;
  if (call.resource.storage === "/namespaces") return checkNamespace(call, options, old);
  // kube-apiserver names the kind here where it names the resource elsewhere.
  const named = { group: call.resource.group, plural: call.resource.kind };
  if (options.uid && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid ?? ""}). The object might have been deleted and then recreated`;
    throw conflict(named, call.name, why);
  }
  if (options.resourceVersion && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion ?? ""}). The object might have been modified`;
    throw conflict(named, call.name, why);
  }
}

/** Namespaces have words of their own. */
function checkNamespace(call: Call, options: DeleteOptions, old: Stored): void {
  const { uid, resourceVersion } = old.object.metadata;
  const refuse = (what: string, wanted: string, found: string): Error =>
    conflict(
      call.resource,
      call.name,
      `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found}`,
    );
  if (options.uid && options.uid !== uid) throw refuse("UID", options.uid, uid ?? "");
  if (options.resourceVersion && options.resourceVersion !== resourceVersion) {
    throw refuse("ResourceVersion", options.resourceVersion, resourceVersion ?? "");
  }
}

/** The state to hold the object in until it may go, "hold" if it is in that state, undefined when it may go now. */
function mark(call: Call, old: KubeObject, options: DeleteOptions): Draft | "hold" | undefined {
  const { metadata } = old;
  // A namespace whose dependents are not to be left waits for their end.
  const waits = call.resource.storage === "/namespaces" && options.orphanDependents === false;
  const finalizers = finalizersAfter(metadata.finalizers ?? [], waits ? "Foreground" : options.policy);
  const grace = gracePeriod(old, options);
  const held = finalizers.length > 0 || grace > 0 || holdsContents(old);
  if (!held && !isPod(old)) return undefined;
  const sameFinalizers = finalizers.join() === (metadata.finalizers ?? []).join();
  const sameGrace = (metadata.deletionGracePeriodSeconds ?? 0) <= grace;
  if (metadata.deletionTimestamp && sameFinalizers && sameGrace) return held ? "hold" : undefined;
  const draft = copied(old) as Draft;
  delete draft.metadata.resourceVersion;
  if (finalizers.length > 0) draft.metadata.finalizers = finalizers;
  else delete draft.metadata.finalizers;
  if (!metadata.deletionTimestamp || !sameGrace) stampEnd(call, draft, grace);
  if (draft.kind === "Namespace") draft["status"] = { ...record(draft["status"]), phase: "Terminating" };
  return draft;
}

/** Writes when the object is to be over, in `grace` seconds; the first time that is a new generation of it. */
function stampEnd(call: Call, draft: Draft, grace: number): void {
  const { metadata } = draft;
  if (metadata.generation && !metadata.deletionTimestamp) metadata.generation += 1;
  metadata.deletionTimestamp = timestamp(call.cluster.clock.now() + grace * 1000);
  if (draft.kind !== "Namespace" || call.resource.custom) metadata.deletionGracePeriodSeconds = grace;
}

function finalizersAfter(finalizers: readonly string[], policy: DeleteOptions["policy"]): string[] {
  if (policy === undefined) return [...finalizers];
  const others = finalizers.filter((f) => f !== "orphan" && f !== "foregroundDeletion");
  if (policy === "Orphan") return [...others, "orphan"];
  return policy === "Foreground" ? [...others, "foregroundDeletion"] : others;
}

function isPod({ kind, apiVersion }: KubeObject): boolean {
  return kind === "Pod" && apiVersion === "v1";
}

/** Nothing is to be waited for. */
function isOver({ kind, apiVersion, metadata }: Draft): boolean {
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = metadata;
  return isPod({ kind, apiVersion, metadata }) && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
}

/** A dry run writes nothing, and leaves the object at the revision it had. */
function revisionOf(object: KubeObject, old: Read): number {
  return Number(object.metadata.resourceVersion ?? old.revision);
}

/** Only a pod on a node is given time to end. */
function gracePeriod(object: KubeObject, options: DeleteOptions): number {
  if (!isPod(object) || !text(at(object, "spec", "nodeName"))) return 0;
  const phase = at(object, "status", "phase");
  if (phase === "Succeeded" || phase === "Failed") return 0;
  const own = at(object, "spec", "terminationGracePeriodSeconds");
  const wanted = options.gracePeriodSeconds ?? (typeof own === "number" ? own : POD_GRACE_SECONDS);
  return Math.max(0, Math.min(wanted, object.metadata.deletionGracePeriodSeconds ?? wanted));
}

function holdsContents(object: KubeObject): boolean {
  if (object.kind !== "Namespace" || object.apiVersion !== "v1") return false;
  const finalizers = at(object, "spec", "finalizers");
  return Array.isArray(finalizers) && finalizers.length > 0;
}

async function hold(call: Call, old: Read, made: Draft): Promise<KubeObject> {
  const form = storedForm(call, made);
  const draft = form instanceof Promise ? await form : form;
  if (call.dryRun) return { ...draft, metadata: { ...draft.metadata, resourceVersion: String(old.revision) } };
  const stored = await call.cluster.store.update(keyOf(call), draft, old.revision);
  announce(call, "MODIFIED", stored.object, old.kept);
  return stored.object;
}

async function erase(call: Call, old: Read): Promise<KubeObject> {
  if (call.dryRun) return old.kept;
  const removed = await call.cluster.store.remove(keyOf(call), old.revision);
  announce(call, "DELETED", removed.object, old.kept);
  call.resource.strategy.released?.(removed.object, call.cluster);
  return removed.object;
}
