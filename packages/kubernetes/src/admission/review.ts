import { isRecord } from "@causeway/foundation";
import type { KubeObject } from "../types/meta.ts";
import type { AdmissionRequest, AdmissionRules } from "./rules.ts";

type Json = Record<string, unknown>;

/**
 * The response to an AdmissionReview (admission.k8s.io/v1).
 * @throws Error if the body is no AdmissionReview
 */
export async function reviewAdmission(body: unknown, rules: Pick<AdmissionRules, "refusals">): Promise<Json> {
  const request = isRecord(body) && body["kind"] === "AdmissionReview" ? body["request"] : undefined;
  if (!isRecord(request)) throw new Error("the body is no AdmissionReview of admission.k8s.io/v1");
  const { uid, operation, kind, object, oldObject, dryRun } = request;
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
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, ...(problems.length === 0 ? { allowed: true } : refusal) },
  };
}
