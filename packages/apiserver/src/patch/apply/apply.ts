import type { KubeObject } from "@causeway/kubernetes";
import { CausewayError } from "@causeway/foundation";
import { type Json, jsonEqual, type JsonObject, own } from "../../json/values.ts";
import { typeProblem } from "./check.ts";
import { type ApplyConflict, conflictsOf } from "./manager-conflicts.ts";
import { difference, EMPTY, type FieldSet, isEmpty, without } from "./field-set.ts";
import { allowedByAnnotation, withLastApplied } from "./last-applied.ts";
import { type Manager, managerKey, type Managers, ownable, readManagers, withManagers } from "./managers.ts";
import { merge } from "./merge.ts";
import { settle, type Typed } from "./ownership.ts";
import { pruned } from "./prune.ts";
import { bare, changedBy } from "./track-update.ts";
import { fieldsOf } from "./values.ts";

/** A server-side apply, worked out without the store. */
export interface ApplyRequest {
  /** The object as stored; absent when it is to be made. */
  readonly live?: KubeObject;
  /** What a new object has before its maker says anything. */
  readonly initial?: KubeObject | undefined;
  /** The applied configuration, in the version of `typed`. */
  readonly applied: KubeObject;
  readonly manager: string;
  /** Take over what others own. */
  readonly force?: boolean;
  /** "status", "scale"; absent for the object itself. */
  readonly subresource?: string;
  readonly typed: Typed;
  /** RFC 3339 in seconds. */
  readonly now: string;
}

/** What a server-side apply comes to. */
export interface ApplyResult {
  /** The object as the applier wants it, with its managedFields; `live` when there are conflicts. */
  readonly object: KubeObject;
  /** Why nothing was applied; always empty with `force`. */
  readonly conflicts: readonly ApplyConflict[];
}

/** The one manager that client-side apply had; it may take over what that says it applied. */
const KUBECTL = "kubectl";

/**
 * Server-side apply (KEP-555): merges the configuration into the live object, removes what this manager applied before
 * and no manager owns now, and records who owns what. Throws APPLY_INVALID for a configuration that is not of its type.
 */
export function applyServerSide(request: ApplyRequest): ApplyResult {
  const { applied, typed, live } = request;
  const before = live === undefined ? {} : bare(live);
  // Fields without an owner come first: they get their owner before the configuration is applied.
  const known = readManagers(live?.metadata.managedFields);
  const isOwned = (known?.size ?? 0) > 0;
  if (live !== undefined && !isOwned) refuseUntyped(live, before, { typed, isOwned });
  const problem = typeProblem(applied as unknown as Json, typed.type, "refused");
  if (problem !== undefined) throw invalidObject("patch", applied, problem);
  if (live !== undefined && isOwned) refuseUntyped(live, before, { typed, isOwned });
  const outcome = attempt(request, before, known);
  if (outcome.contested.length === 0 || request.force === true) return finished(request, before, outcome);
  const allowed = request.manager === KUBECTL ? allowedByAnnotation(live, before, typed) : undefined;
  const left =
    allowed === undefined
      ? outcome.contested
      : outcome.contested.map(([m, set]) => [m, difference(set, allowed)] as const);
  const conflicts = conflictsOf(left);
  if (conflicts.length > 0) return { object: live ?? applied, conflicts };
  return finished(request, before, outcome);
}

/** A live object may have come to be what its type does not allow, by changes of the type or of what is checked. */
function refuseUntyped(
  live: KubeObject,
  before: Json,
  { typed, isOwned }: { readonly typed: Typed; readonly isOwned: boolean },
): void {
  const problem = typeProblem(before, typed.type, "allowed");
  if (problem === undefined) return;
  if (isOwned) throw invalidObject("live", live, problem);
  const what = objectName(live);
  const why = `failed to convert new object (${what}) to smd typed: ${problem}`;
  throw invalid(`failed to create manager for existing fields: ${why}`);
}

interface Outcome {
  readonly merged: Json;
  readonly managers: Managers;
  readonly contested: readonly (readonly [Manager, FieldSet])[];
  readonly key: string;
}

function attempt(request: ApplyRequest, before: Json, read: Managers | undefined): Outcome {
  const { typed } = request;
  const configuration = request.applied as unknown as Json;
  const applier: Manager = {
    name: request.manager,
    operation: "Apply",
    apiVersion: typed.apiVersion,
    subresource: request.subresource ?? "",
    time: request.now,
    fields: { ...without(fieldsOf(configuration, typed.type), typed.reset), member: false },
  };
  const key = managerKey(applier);
  const known = managersOf(request, before, read);
  const claimed = new Map(known).set(key, applier);
  const laid = merge(before, configuration, typed.type) ?? {};
  const last = known.get(key) ?? applier;
  // What is applied again in the same version is owned again: nothing of it goes.
  const isLess = last.apiVersion !== applier.apiVersion || !isEmpty(difference(last.fields, applier.fields));
  const merged = isLess ? pruned(laid, last, claimed, typed) : laid;
  const { others, contested } = settle(claimed, key, { before, after: merged }, typed);
  const isNoop = jsonEqual(before, merged);
  const time = isNoop ? known.get(key)?.time : request.now;
  const fields = ownable(applier.fields);
  const managers = isEmpty(fields) ? others : new Map(others).set(key, { ...applier, time, fields });
  return { merged, managers, contested, key };
}

function finished(request: ApplyRequest, before: Json, { merged, managers }: Outcome): ApplyResult {
  const object = (jsonEqual(before, merged) ? before : merged) as JsonObject;
  const metadata = (own(object, "metadata") ?? {}) as JsonObject;
  const whole = { ...object, metadata } as unknown as KubeObject;
  const annotated = request.manager === KUBECTL ? withLastApplied(whole, request.applied) : whole;
  return { object: withManagers(annotated, managers), conflicts: [] };
}

/** Objects that were never tracked belong, as they are, to an entry of their own. */
function managersOf(request: ApplyRequest, before: Json, managers: Managers | undefined): Managers {
  const { live, initial, typed, now, subresource = "" } = request;
  if (managers === undefined)
    throw new CausewayError("APPLY_INVALID", "the live object's managed fields cannot be read");
  if (managers.size > 0 || live === undefined) return managers;
  const manager: Manager = {
    name: "before-first-apply",
    operation: "Update",
    apiVersion: typed.apiVersion,
    subresource,
    time: now,
    fields: EMPTY,
  };
  return changedBy(manager, managers, { before: bare(initial), after: before, typed });
}

function invalidObject(which: "patch" | "live", object: KubeObject, problem: string): CausewayError {
  return invalid(`failed to create typed ${which} object (${objectName(object)}): ${problem}`);
}

function objectName({ apiVersion, kind, metadata }: KubeObject): string {
  const version = apiVersion.includes("/") ? apiVersion : `/${apiVersion}`;
  return `${nameIn(metadata?.namespace)}/${nameIn(metadata?.name)}; ${version}, Kind=${kind}`;
}

/** A configuration that was only read as JSON may have anything in place of a name. */
function nameIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function invalid(message: string): CausewayError {
  return new CausewayError("APPLY_INVALID", message, { hint: "Correct the applied configuration." });
}
