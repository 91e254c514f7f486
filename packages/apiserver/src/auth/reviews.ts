import type { Cluster } from "../contract/cluster.ts";
import { isRecord, record, text, texts, timestamp, type Json } from "../json/json.ts";
import type { Served, UserRules } from "../contract/resource.ts";
import { invalidValue } from "../errors/problems.ts";
import type { RequestInfo } from "../contract/request-info.ts";
import { badRequest, invalid } from "../errors/status.ts";
import type { Attributes, Authorize } from "../contract/attributes.ts";
import { nodeNameOf } from "./node.ts";
import { aggregated, notFoundShown } from "./rbac.ts";
import { attributesProblems, metadataProblems, subjectProblems } from "./review-problems.ts";
import { selectorsOf } from "../contract/attribute-selectors.ts";
import type { User } from "../contract/user.ts";

interface ReviewContext {
  readonly cluster: Cluster;
  readonly authorize: Authorize;
  rulesFor(user: User, namespace: string): UserRules;
}

interface ReviewRequest {
  readonly found: Served;
  readonly info: RequestInfo;
  readonly user: User;
  readonly body: unknown;
}

/** An access or token review: a kind whose create is responded to and stored nowhere. */
export function isAccessReview({ group }: Served["resource"]): boolean {
  return group === "authorization.k8s.io" || group === "authentication.k8s.io";
}

/** Responds to access and token reviews; undefined for all other kinds. Throws 400, 422. */
export async function serveReview(asking: ReviewContext, request: ReviewRequest): Promise<Json | undefined> {
  const { found, info, user, body } = request;
  if (!isAccessReview(found.resource)) return undefined;
  if (info.verb !== "create") return undefined;
  const review = record(body);
  const spec = record(review["spec"]);
  if (review["kind"] !== found.resource.kind) throw badRequest(`the body must be a ${found.resource.kind}`);
  switch (found.resource.kind) {
    case "SelfSubjectAccessReview":
      checkAccess([...attributesProblems(spec), ...metadataProblems(review)]);
      return answered(review, access(asking, user, spec));
    case "SubjectAccessReview":
      checkAccess([...attributesProblems(spec), ...subjectProblems(spec), ...metadataProblems(review)]);
      return answered(review, access(asking, subject(spec), spec));
    case "LocalSubjectAccessReview":
      return answered(review, localAccess(asking, review, info.namespace));
    case "SelfSubjectRulesReview": {
      const namespace = text(spec["namespace"]);
      if (!namespace) throw badRequest("no namespace on request");
      return { ...answered(review, rules(asking, user, namespace)), spec: {} };
    }
    case "SelfSubjectReview":
      return {
        ...review,
        metadata: { creationTimestamp: timestamp(asking.cluster.clock.now()) },
        status: { userInfo: userInfo(user) },
      };
    case "TokenReview":
      return answered(review, await tokenStatus(asking.cluster, spec));
    default:
      return undefined;
  }
}

function answered(review: Json, status: Json): Json {
  return { ...review, metadata: { creationTimestamp: null, ...record(review["metadata"]) }, status };
}

/** kube-apiserver leaves out which kind it is. */
function checkAccess(problems: ReturnType<typeof attributesProblems>): void {
  if (problems.length > 0) throw invalid({ group: "authorization.k8s.io", kind: "" }, "", problems);
}

function localAccess(asking: ReviewContext, review: Json, namespace: string): Json {
  const spec = record(review["spec"]);
  const { resourceAttributes, nonResourceAttributes } = spec;
  const asked = record(resourceAttributes)["namespace"] ?? "";
  const own = text(record(review["metadata"])["namespace"]) || namespace;
  checkAccess([
    ...attributesProblems(spec),
    ...subjectProblems(spec),
    ...metadataProblems(review, "must be empty except for namespace"),
    ...(resourceAttributes && asked !== own
      ? [invalidValue("spec.resourceAttributes.namespace", asked, "must match metadata.namespace")]
      : []),
    ...(nonResourceAttributes
      ? [invalidValue("spec.nonResourceAttributes", nonResourceAttributes, "disallowed on this kind of request")]
      : []),
  ]);
  if (own !== namespace) throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  return access(asking, subject(spec), spec);
}

function subject(spec: Json): User {
  const { user, groups, uid, extra } = spec;
  const given = isRecord(extra) ? Object.entries(extra).map(([k, v]) => [k.toLowerCase(), texts(v)] as const) : [];
  return {
    name: text(user),
    groups: texts(groups),
    ...(text(uid) ? { uid: text(uid) } : {}),
    ...(given.length > 0 ? { extra: Object.fromEntries(given) } : {}),
  };
}

function access({ authorize }: ReviewContext, user: User, spec: Json): Json {
  const resource = record(spec["resourceAttributes"]);
  const path = record(spec["nonResourceAttributes"]);
  const { selectors, errors } = selectorsOf(resource);
  const asked: Attributes = {
    user,
    verb: text(spec["resourceAttributes"] ? resource["verb"] : path["verb"]),
    namespace: text(resource["namespace"]),
    group: text(resource["group"]),
    version: text(resource["version"]),
    plural: text(resource["resource"]),
    subresource: text(resource["subresource"]),
    name: text(resource["name"]),
    ...selectors,
    ...(spec["nonResourceAttributes"] ? { path: text(path["path"]) } : {}),
  };
  const { allowed, reason } = authorize(asked);
  return {
    allowed,
    ...(reason ? { reason } : {}),
    ...(errors.length > 0 ? { evaluationError: errors.join(", ") } : {}),
  };
}

/** What a user may do, as far as rules say it: what nodes may do depends on their pods. */
function rules(asking: ReviewContext, user: User, namespace: string): Json {
  const { rules: all, unresolved } = asking.rulesFor(user, namespace);
  const isPath = (rule: Json): boolean => texts(rule["nonResourceURLs"]).length > 0;
  const isNode = nodeNameOf(user) !== undefined;
  const errors = [
    ...(isNode ? ["node authorizer does not support user rule resolution"] : []),
    ...(unresolved.length > 0 ? [aggregated(unresolved.map(notFoundShown))] : []),
  ];
  return {
    resourceRules: all.filter((r) => !isPath(r)),
    nonResourceRules: all.filter(isPath).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: isNode,
    ...(errors.length > 0 ? { evaluationError: aggregated(errors) } : {}),
  };
}

function userInfo(user: User): Json {
  return {
    username: user.name,
    ...(user.uid ? { uid: user.uid } : {}),
    groups: user.groups,
    ...(user.extra ? { extra: user.extra } : {}),
  };
}

async function tokenStatus({ tokens, issuer }: Cluster, spec: Json): Promise<Json> {
  const token = text(spec["token"]);
  if (!token) throw badRequest("token is required for TokenReview in authentication");
  const audiences = texts(spec["audiences"]);
  const found = await tokens.verify(token, audiences.length > 0 ? audiences : [issuer]);
  if ("error" in found) return { user: {}, error: found.error };
  return { authenticated: true, user: userInfo(found.user), audiences: found.audiences };
}
