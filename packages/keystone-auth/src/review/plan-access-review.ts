import { isRecord } from "@causeway/foundation";
import type { Decision } from "../policy/plan-decide.ts";
import type { AccessRequest } from "../policy/policy.ts";
import { record, text, texts, type Json } from "../values.ts";
import type { ReviewVersion } from "./plan-token-review.ts";

/** What a SubjectAccessReview asks; undefined where it asks nothing. v1beta1 has the groups under `group`. */
export function readAccessReview(review: Json, version: ReviewVersion): AccessRequest | undefined {
  const spec = record(review["spec"]);
  const who = {
    user: text(spec["user"]),
    uid: text(spec["uid"]),
    groups: texts(spec[version === "v1" ? "groups" : "group"]),
    extra: isRecord(spec["extra"]) ? extraOf(spec["extra"]) : undefined,
  };
  const resource = spec["resourceAttributes"];
  if (isRecord(resource)) {
    return {
      ...who,
      verb: text(resource["verb"]),
      resource: {
        namespace: text(resource["namespace"]),
        apiGroup: text(resource["group"]),
        resource: text(resource["resource"]),
        subresource: text(resource["subresource"]),
      },
    };
  }
  const path = spec["nonResourceAttributes"];
  return isRecord(path) ? { ...who, verb: text(path["verb"]), path: text(path["path"]) } : undefined;
}

function extraOf(extra: Json): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, texts(values)]));
}

/** What is not allowed is no opinion, not a denial: authorizers after this one, such as RBAC, may allow it. */
export function accessReviewOf(version: ReviewVersion, { allowed, reason }: Decision): Json {
  const head = { apiVersion: `authorization.k8s.io/${version}`, kind: "SubjectAccessReview", metadata: {} };
  return { ...head, status: { allowed, reason } };
}
