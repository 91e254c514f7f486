import { parseBoundedJson, type Log } from "@causeway/foundation";
import { decide } from "../policy/plan-decide.ts";
import type { Policy } from "../policy/policy.ts";
import type { TokenVerdict } from "../token/tokens.ts";
import type { KubernetesUser } from "../user.ts";
import { record, text, type Json } from "../values.ts";
import { accessReviewOf, readAccessReview } from "./plan-access-review.ts";
import { readTokenReview, tokenReviewOf, type ReviewVersion } from "./plan-token-review.ts";

/** What reviews are responded to with. */
export interface ReviewParts {
  /** Checks a token; the user is as the cluster sees it, with its mapped names and groups. */
  readonly authenticate: (token: string) => Promise<TokenVerdict>;
  readonly policy: () => Policy;
  /** Called for each user who came in, before the response. Must not reject. */
  readonly onUser: (user: KubernetesUser) => Promise<void>;
  readonly log: Log;
}

/** The HTTP response to a review. */
export interface ReviewResponse {
  readonly status: number;
  readonly body: Json;
}

const DEEPEST = 32;
const VERSIONS: readonly ReviewVersion[] = ["v1", "v1beta1"];

/** Responds to the body of a POST to /webhook. */
export async function review(parts: ReviewParts, body: string): Promise<ReviewResponse> {
  let given: Json;
  try {
    given = record(parseBoundedJson(body, DEEPEST));
  } catch {
    return problem("the body is not JSON");
  }
  const [kind, apiVersion] = [text(given["kind"]), text(given["apiVersion"])];
  const version = (group: string): ReviewVersion | undefined => VERSIONS.find((v) => apiVersion === `${group}/${v}`);
  const authentication = version("authentication.k8s.io");
  if (kind === "TokenReview" && authentication) return reviewToken(parts, given, authentication);
  const authorization = version("authorization.k8s.io");
  if (kind === "SubjectAccessReview" && authorization) return reviewAccess(parts, given, authorization);
  return problem("it is neither a TokenReview nor a SubjectAccessReview of v1 or v1beta1");
}

async function reviewToken(parts: ReviewParts, given: Json, version: ReviewVersion): Promise<ReviewResponse> {
  const token = readTokenReview(given);
  if (token === undefined) return problem("the TokenReview has no spec.token");
  const verdict = await parts.authenticate(token);
  if ("refused" in verdict) return { status: 200, body: tokenReviewOf(version, verdict) };
  await parts.onUser(verdict.user);
  return { status: 200, body: tokenReviewOf(version, verdict) };
}

function reviewAccess(parts: ReviewParts, given: Json, version: ReviewVersion): ReviewResponse {
  const request = readAccessReview(given, version);
  if (request === undefined)
    return problem("the SubjectAccessReview has no spec.resourceAttributes or spec.nonResourceAttributes");
  const decision = decide(parts.policy(), request);
  const { user, verb, path, resource } = request;
  parts.log.debug("access was reviewed", { user, verb, path, resource, ...decision });
  return { status: 200, body: accessReviewOf(version, decision) };
}

function problem(message: string): ReviewResponse {
  return {
    status: 400,
    body: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "BadRequest", code: 400, message },
  };
}
