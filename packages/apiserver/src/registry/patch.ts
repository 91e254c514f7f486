import { hasCode, messageOf } from "@causeway/foundation";
import type { JsonPatchOperation, KubeObject } from "@causeway/kubernetes";
import { cutJson } from "../bounds.ts";
import { copied, fields, isRecord, record, text, timestamp, type Json } from "../json/json.ts";
import { apiVersionOf, inVersion, type Draft } from "../contract/resource.ts";
import {
  applyConflictMessage,
  applyJsonPatch,
  applyMergePatch,
  applyServerSide,
  mergeStrategically,
  goText,
  type ApplyConflict,
  type JsonValue,
} from "../patch/index.ts";
import { inWireOrder } from "../wire/order.ts";
import { conversionProblem } from "../wire/convert.ts";
import { duplicatesOf } from "../json/duplicates.ts";
import { invalidValue } from "../errors/problems.ts";
import { apiError, badRequest, conflict, invalid } from "../errors/status.ts";
import { draftOf, type BodyRules } from "./body.ts";
import { keyOf, type Call } from "../contract/call.ts";
import { isUnpinned, nameless, refuseOtherName, refuseUnreadable } from "./identity.ts";
import { createDraft } from "./create.ts";
import { emptyMembers, rememberEmptyKeys, emptyKeysOf } from "./empty-metadata.ts";
import { initialFor, typedOf } from "./tracking.ts";
import { change, dropRevision } from "./update.ts";

/** How a patch is written: RFC 6902, RFC 7386, strategic merge patch, or an applied configuration. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

/** The patch type that a Content-Type names, or undefined. */
export function patchTypeOf(contentType: string): PatchType | undefined {
  const types: Readonly<Record<string, PatchType>> = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
    "application/apply-patch+cbor": "apply",
  };
  return types[contentType];
}

/** Changes an object by a JSON, merge or strategic merge patch; answers the stored form. */
export async function patch(call: Call, type: Exclude<PatchType, "apply">, body: unknown): Promise<KubeObject> {
  return change(call, ({ object }) => {
    const seen = inVersion(call.resource, call.version, object);
    const { patched, reading } = patchedBy(call, type, { seen, body });
    const isSame = record(patched["metadata"])["resourceVersion"] === object.metadata.resourceVersion;
    const draft = draftOf(call, copied(patched), reading);
    refuseOtherName(call, draft.metadata.name);
    if (isUnpinned(draft.metadata.resourceVersion)) dropRevision(call, draft);
    if (isSame && !namesRevision(type, body)) delete draft.metadata.resourceVersion;
    return { draft, tracked: false };
  });
}

/** What a patch makes of an object cannot be read as one of its kind. */
function unreadablePatch(shown: string, problem: string): Error {
  return invalid({ group: "", kind: "" }, "", [invalidValue("patch", shown, problem)]);
}

/** What a patch makes of an object, and how that is read: refusals show it, but of a strategic merge the patch. */
export interface Patched {
  readonly patched: Json;
  readonly reading: BodyRules;
}

/**
 * What a patch makes of an object as clients see it. Throws 400, 422, or 500 for what kube-apiserver takes for failures
 * of its own.
 */
export function patchedBy(
  call: Call,
  type: Exclude<PatchType, "apply">,
  { seen, body }: { seen: KubeObject; body: unknown },
): Patched {
  if (type === "json") {
    const operations: unknown = body ?? [];
    if (!Array.isArray(operations))
      throw badRequest(
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
      );
    try {
      const before = call.resource.custom ? seen : inWireOrder(call.cluster.catalog.tables, seen);
      return whole(record(applyJsonPatch(before, operations as JsonPatchOperation[])));
    } catch (error) {
      if (hasCode(error, "PATCH_TOO_LARGE")) throw apiError(413, "RequestEntityTooLarge", messageOf(error));
      throw unprocessable();
    }
  }
  if (body === null && type === "merge") throw badRequest("Invalid JSON Patch");
  if (!isRecord(body)) {
    const why = "json: cannot unmarshal array into Go value of type map[string]interface {}";
    throw badRequest(type === "merge" ? `error decoding patch: ${why}` : why);
  }
  if (type === "merge") return whole(record(applyMergePatch(seen, body)));
  try {
    const { merged, patch: left } = mergeStrategically(fields(seen), body, call.cluster.catalog.types);
    const refuse = (problem: string): Error => unreadablePatch(goText(left as JsonValue), problem);
    return { patched: record(merged), reading: { refuse, problemOf: conversionProblem } };
  } catch (error) {
    // kube-apiserver takes these for failures of its own.
    if (hasCode(error, "PATCH_DIRECTIVE")) throw apiError(500, "", messageOf(error));
    if (hasCode(error, "PATCH_FAILED")) throw unprocessable();
    throw error;
  }
}

function whole(patched: Json): Patched {
  return { patched, reading: { refuse: (problem) => unreadablePatch(cutJson(patched, 4000), problem) } };
}

function unprocessable(): Error {
  return apiError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

/** The patch itself says for which revision it is. */
export function namesRevision(type: PatchType, body: unknown): boolean {
  if (type === "json") return ((body ?? []) as Json[]).some((op) => op["path"] === "/metadata/resourceVersion");
  return record(record(body)["metadata"])["resourceVersion"] !== undefined;
}

/** Merges; throws for a configuration or a live object that does not match its type. */
function typed(request: Parameters<typeof applyServerSide>[0]): ReturnType<typeof applyServerSide> {
  try {
    return applyServerSide(request);
  } catch (error) {
    if (hasCode(error, "APPLY_INVALID")) throw apiError(500, "", messageOf(error));
    throw error;
  }
}

/** Duplicate fields of a configuration are a warning, or an error with strict field validation. */
function noticeDuplicates(call: Call, body: Json): void {
  const twice = call.fieldValidation === "Ignore" ? [] : duplicatesOf(body);
  if (twice.length === 0) return;
  if (call.fieldValidation === "Warn") return twice.forEach((t) => call.warn(t));
  const duplicates = twice.join("\n  ");
  throw badRequest(
    `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${duplicates}`,
  );
}

/** Server-side apply. `created`: the object is new. */
export async function apply(
  call: Call,
  body: unknown,
  force: boolean,
): Promise<{ object: KubeObject; created: boolean }> {
  if (body !== null && !isRecord(body)) throw badRequest("the apply patch must be an object");
  noticeDuplicates(call, body ?? {});
  const applied = appliedConfiguration(call, copied(body ?? {}));
  const emptyMetadata: NonNullable<Call["emptyMetadata"]> = { emptyKeys: "", members: {} };
  const merge = (live?: KubeObject): Draft => {
    const object = laid(call, {
      ...(live ? { live: inVersion(call.resource, call.version, live) } : {}),
      initial: initialFor(call, applied),
      applied,
      force,
      typed: typedOf(call),
    });
    emptyMetadata.emptyKeys = emptyKeysOf(call, fields(object));
    emptyMetadata.members = emptyMembers(call, fields(object));
    const draft = readApplied(call, applied, object);
    // A manager that releases all metadata that it applied releases the name with it.
    if (!draft.metadata.name) throw nameless(call);
    return draft;
  };
  if (call.cluster.store.get(keyOf(call)) || (call.subresource && !call.resource.createdByUpdate)) {
    const object = await change({ ...call, emptyMetadata }, (old) => {
      const draft = merge(old.object);
      if (!record(applied.metadata)["resourceVersion"]) delete draft.metadata.resourceVersion;
      return { draft, tracked: true };
    });
    if (!call.dryRun) rememberEmptyKeys(call, object.metadata.resourceVersion, emptyMetadata.emptyKeys);
    return { object, created: false };
  }
  const draft = merge();
  refuseUid(call, draft.metadata.uid);
  refuseUnreadable(draft.metadata.resourceVersion);
  delete draft.metadata.resourceVersion;
  const object = await createDraft({ ...call, emptyMetadata }, draft, true);
  if (!call.dryRun) rememberEmptyKeys(call, object.metadata.resourceVersion, emptyMetadata.emptyKeys);
  return { object, created: true };
}

/**
 * A configuration laid over a live object, with its owners. Throws 409 for what others own, 500 for what is not of its
 * type.
 */
export function laid(
  call: Call,
  request: Pick<Parameters<typeof applyServerSide>[0], "live" | "initial" | "applied" | "force" | "typed">,
): KubeObject {
  const { fieldManager: manager, subresource } = call;
  const now = timestamp(call.cluster.clock.now());
  const { object, conflicts } = typed({ ...request, manager, subresource, now });
  if (conflicts.length > 0) throw applyConflict(conflicts);
  return object;
}

/** What an apply made, as an object of the called resource. */
export function readApplied(call: Call, applied: KubeObject, object: KubeObject): Draft {
  const refuse = (problem: string): Error => unconvertible(applied, problem);
  return draftOf({ ...call, fieldValidation: "Ignore" }, copied(object), {
    refuse,
    problemOf: conversionProblem,
    isApplied: true,
  });
}

/** The configuration as it was sent: values that its type does not allow are reported by the merge. */
export function appliedConfiguration(call: Call, body: Json): Draft {
  const { resource, version, name, namespace } = call;
  const metadata = record(body["metadata"]);
  if (metadata["managedFields"] !== undefined && metadata["managedFields"] !== null) {
    throw badRequest("metadata.managedFields must be nil");
  }
  const apiVersion = apiVersionOf(resource.group, version.name);
  if (text(body["apiVersion"]) !== apiVersion || text(body["kind"]) !== resource.kind) {
    const sent = text(body["apiVersion"]);
    const shown = sent.includes("/") ? sent : `/${sent}`;
    throw badRequest(`invalid object type: ${shown}, Kind=${text(body["kind"])}`);
  }
  const given = text(metadata["name"]);
  if (given !== "" && given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
  const own = text(metadata["namespace"]);
  if (own !== "" && own !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return body as unknown as Draft;
}

/** What was applied makes an object that its kind cannot hold. */
function unconvertible({ apiVersion, kind, metadata }: KubeObject, problem: string): Error {
  const type = `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
  const what = `${text(metadata?.namespace)}/${text(metadata?.name)}; ${type}`;
  const why = `unable to convert unstructured object to ${type}: ${problem}`;
  return apiError(500, "", `failed to convert new object (${what}) to proper version: ${why}`);
}

/** Who names a uid means an object that is there. */
function refuseUid({ resource, name }: Call, uid: string | undefined): void {
  if (!uid) return;
  throw conflict(
    resource,
    name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}

function applyConflict(conflicts: readonly ApplyConflict[]): Error {
  const causes = conflicts.map((c) => ({ reason: "FieldManagerConflict", message: c.message, field: c.field }));
  return apiError(409, "Conflict", applyConflictMessage(conflicts), { causes });
}
