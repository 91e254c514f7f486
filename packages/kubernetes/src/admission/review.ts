import { isDeepStrictEqual } from "node:util";
import { isRecord } from "@causeway/foundation";
import type { KubeObject } from "../types/meta.ts";
import type { AdmissionRequest, AdmissionRules, Replacement } from "./rules.ts";

type Json = Record<string, unknown>;

/**
 * The response to an AdmissionReview (admission.k8s.io/v1).
 * @throws Error if the body is not an AdmissionReview
 */
export async function reviewAdmission(body: unknown, rules: Pick<AdmissionRules, "refusals">): Promise<Json> {
  const { uid, operation, kind, object, oldObject, dryRun } = requestOf(body);
  if (operation === "UPDATE" && isSpecUnchanged(object, oldObject)) return respond({ uid, allowed: true });
  const problems = await rules.refusals({
    operation: operation as AdmissionRequest["operation"],
    kind: isRecord(kind) ? String(kind["kind"]) : "",
    object: isRecord(object) ? (object as unknown as KubeObject) : undefined,
    previous: isRecord(oldObject) ? (oldObject as unknown as KubeObject) : undefined,
    dryRun: dryRun === true,
  });
  const isDeletion = operation === "DELETE";
  const refusal = {
    allowed: false,
    status: {
      status: "Failure",
      reason: isDeletion ? "Forbidden" : "Invalid",
      code: isDeletion ? 403 : 422,
      message: problems.join("; "),
    },
  };
  return respond({ uid, ...(problems.length === 0 ? { allowed: true } : refusal) });
}

/** An object from before a rule keeps its spec, and its finalizers, labels and owners can be written. */
function isSpecUnchanged(object: unknown, old: unknown): boolean {
  if (!isRecord(object) || !isRecord(old) || object["spec"] === undefined) return false;
  return isDeepStrictEqual(object["spec"], old["spec"]);
}

/**
 * The response of defaults to an AdmissionReview: always allowed, with a JSON Patch where something changes.
 * @throws Error if the body is not an AdmissionReview
 */
export function reviewDefaults(body: unknown, { defaults }: Pick<AdmissionRules, "defaults">): Json {
  const { uid, object } = requestOf(body);
  const patch = isRecord(object) ? (defaults?.of(object as unknown as KubeObject) ?? []).map(operationOf) : [];
  if (patch.length === 0) return respond({ uid, allowed: true });
  const encoded = Buffer.from(JSON.stringify(patch)).toString("base64");
  return respond({ uid, allowed: true, patchType: "JSONPatch", patch: encoded });
}

function operationOf({ path, value }: Replacement): object {
  const escaped = path.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1"));
  return { op: "replace", path: `/${escaped.join("/")}`, value };
}

function requestOf(body: unknown): Json {
  const request = isRecord(body) && body["kind"] === "AdmissionReview" ? body["request"] : undefined;
  if (!isRecord(request)) throw new Error("the body is not an AdmissionReview of admission.k8s.io/v1");
  return request;
}

function respond(response: Json): Json {
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
}
