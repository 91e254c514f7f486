import type { KubernetesUser } from "../user.ts";
import { record, text, type Json } from "../values.ts";

/** The version of a review's API: the response has that of the request. */
export type ReviewVersion = "v1" | "v1beta1";

/** The token of a TokenReview; undefined where it has none. */
export function readTokenReview(review: Json): string | undefined {
  return text(record(review["spec"])["token"]) || undefined;
}

/** The response. The spec is left out: it has the token. */
export function tokenReviewOf(version: ReviewVersion, result: { user: KubernetesUser } | { refused: string }): Json {
  const head = { apiVersion: `authentication.k8s.io/${version}`, kind: "TokenReview", metadata: {} };
  if ("refused" in result) return { ...head, status: { authenticated: false, error: result.refused } };
  return { ...head, status: { authenticated: true, user: result.user } };
}
