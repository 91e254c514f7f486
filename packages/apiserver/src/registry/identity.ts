import type { KubeObject, ObjectMeta } from "@causeway/kubernetes";
import { same, type Json } from "../json/json.ts";
import type { Draft } from "../contract/resource.ts";
import { apiError, badRequest, conflict, type FieldProblem } from "../errors/status.ts";
import { invalidValue } from "../errors/problems.ts";
import type { Call } from "../contract/call.ts";

/** Resources that upstream keeps under other names, which messages about its storage have. */
const STORED_UNDER: Readonly<Record<string, string>> = {
  "/services": "services/specs",
  "/endpoints": "services/endpoints",
  "/nodes": "minions",
  "/replicationcontrollers": "controllers",
};

/** Throws 409 where a whole object is sent that names another uid than the stored one has; a new one has none. */
export function checkIdentity(call: Call, uid: string | undefined, old: KubeObject | undefined): void {
  const was = old?.metadata.uid ?? "";
  if (!uid || uid === was) return;
  const what = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${was}`;
  const why = `StorageError: invalid object, Code: 4, Key: ${storageKey(call)}, ResourceVersion: 0, AdditionalErrorMsg: ${what}`;
  throw conflict(call.resource, call.name, why);
}

/** Where kube-apiserver keeps an object: some of its messages have the key. */
function storageKey({ resource, namespace, name, dryRun }: Call): string {
  const { group, plural, custom, storage } = resource;
  const folder = custom ? `${group}/${plural}` : (STORED_UNDER[storage] ?? plural);
  // A dry run checks before the store adds where everything is.
  return `${dryRun ? "" : "/registry"}/${folder}/${namespace}${namespace ? "/" : ""}${name}`;
}

/** Throws 400 for an object that is not the one that is called. */
export function refuseOtherName(call: Pick<Call, "name">, name: string): void {
  if (!name) throw nameless(call);
  if (name === call.name) return;
  throw badRequest(`the name of the object (${name}) does not match the name on the URL (${call.name})`);
}

/** A request that releases all metadata releases the name with it. */
export function nameless({ name }: Pick<Call, "name">): Error {
  return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
}

/** Throws for a resourceVersion that is not a number: kube-apiserver takes that for a failure of its own. */
export function refuseUnreadable(resourceVersion: string | undefined): void {
  if (!resourceVersion || /^\d+$/.test(resourceVersion)) return;
  throw apiError(500, "", `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
}

/** Whether an update is for any revision: kube-apiserver reads 0 as none. */
export function isUnpinned(resourceVersion: unknown): boolean {
  return !resourceVersion || (typeof resourceVersion === "string" && /^0+$/.test(resourceVersion));
}

/** Gives an update what the object is and its writer did not say, or cannot change. */
export function keepIdentity(draft: Draft, old: KubeObject): void {
  const was = old.metadata as unknown as Json;
  const now = draft.metadata as unknown as Json;
  const kept = ["creationTimestamp", "generation", ...(old.metadata.deletionTimestamp ? ["deletionTimestamp"] : [])];
  for (const field of kept) {
    if (was[field] === undefined) delete now[field];
    else now[field] = was[field];
  }
  if (was["uid"] !== undefined) now["uid"] ||= was["uid"];
  const grace = "deletionGracePeriodSeconds";
  if (was[grace] !== undefined) now[grace] ??= was[grace];
  delete now["resourceVersion"];
}

/** What an update may not change, and would. */
export function identityProblems(metadata: ObjectMeta, old: ObjectMeta): FieldProblem[] {
  const [now, was] = [metadata as unknown as Json, old as unknown as Json];
  return ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"]
    .filter((field) => !same(now[field] ?? null, was[field] ?? null))
    .map((field) => invalidValue(`metadata.${field}`, now[field], "field is immutable"));
}
