import type { KubeObject } from "@causeway/kubernetes";
import { at, text, type Json } from "../json/json.ts";
import { invalidValue, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";

const APPROVED = "api-approved.kubernetes.io";
const SEE = "see https://github.com/kubernetes/enhancements/pull/1111";

interface Approval {
  readonly verdict: "MissingAnnotation" | "UnapprovedAnnotation" | "ApprovedAnnotation" | "InvalidAnnotation";
  readonly message: string;
}

/** Whether the community has approved a kind in one of its groups; undefined for groups that need no approval. */
function approvalOf(object: KubeObject): Approval | undefined {
  const group = text(at(object, "spec", "group"));
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return undefined;
  const given = object.metadata.annotations?.[APPROVED] ?? "";
  const must = `protected groups must have approval annotation ${JSON.stringify(APPROVED)}`;
  if (given === "") return { verdict: "MissingAnnotation", message: `${must}, ${SEE}` };
  if (given.startsWith("unapproved")) {
    return { verdict: "UnapprovedAnnotation", message: `not approved: ${JSON.stringify(given)}` };
  }
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(given) && URL.canParse(given)) {
    return { verdict: "ApprovedAnnotation", message: `approved in ${given}` };
  }
  const how = 'with either a URL or a reason starting with "unapproved"';
  return { verdict: "InvalidAnnotation", message: `${must} ${how}, ${SEE}` };
}

/** What is wrong with the approval annotation of a CRD in a group of the community; what was stored so may remain. */
export function approvalProblems(object: KubeObject, old: KubeObject | undefined): FieldProblem[] {
  const approval = approvalOf(object);
  if (!approval || (old && approvalOf(old)?.verdict === approval.verdict)) return [];
  const field = `metadata.annotations[${APPROVED}]`;
  if (approval.verdict === "MissingAnnotation") return [required(field, approval.message)];
  if (approval.verdict !== "InvalidAnnotation") return [];
  return [invalidValue(field, object.metadata.annotations?.[APPROVED] ?? "", approval.message)];
}

/** The condition KubernetesAPIApprovalPolicyConformant. */
export function approvalCondition(object: KubeObject): Json | undefined {
  const approval = approvalOf(object);
  if (!approval) return undefined;
  const status = approval.verdict === "ApprovedAnnotation" ? "True" : "False";
  return { status, reason: approval.verdict, message: approval.message };
}
