import type { Cluster } from "../clusters/cluster.ts";
import { record, text, texts, type Json } from "../json.ts";
import type { Served } from "../kinds/resource.ts";
import type { RequestInfo } from "../server/request-info.ts";
import { badRequest } from "../server/status.ts";
import { timestamp } from "../json.ts";
import type { Attributes, Authorize } from "./attributes.ts";
import { tokenUser } from "./authenticate.ts";
import { verifyServiceAccountToken } from "./service-account-tokens.ts";
import type { User } from "./user.ts";

interface Asking {
  readonly cluster: Cluster;
  readonly authorize: Authorize;
  rulesFor(user: User, namespace: string): readonly Json[];
}

interface ReviewRequest {
  readonly found: Served;
  readonly info: RequestInfo;
  readonly user: User;
  readonly body: unknown;
}

/** Answers the kinds that are questions; undefined for all others. Throws 400. */
export async function serveReview(asking: Asking, request: ReviewRequest): Promise<Json | undefined> {
  const { found, info, user, body } = request;
  if (!["authorization.k8s.io", "authentication.k8s.io"].includes(found.resource.group)) return undefined;
  if (info.verb !== "create") return undefined;
  const review = record(body);
  const spec = record(review["spec"]);
  if (review["kind"] !== found.resource.kind) throw badRequest(`the body must be a ${found.resource.kind}`);
  switch (found.resource.kind) {
    case "SelfSubjectAccessReview":
      return { ...review, status: access(asking, user, spec) };
    case "SubjectAccessReview":
      return { ...review, status: access(asking, subject(spec), spec) };
    case "LocalSubjectAccessReview": {
      const attributes = record(spec["resourceAttributes"]);
      if (attributes["namespace"] !== info.namespace) {
        throw badRequest("spec.resourceAttributes.namespace must match metadata.namespace");
      }
      return { ...review, status: access(asking, subject(spec), spec) };
    }
    case "SelfSubjectRulesReview":
      return { ...review, status: rules(asking.rulesFor(user, text(spec["namespace"]))) };
    case "SelfSubjectReview":
      return {
        ...review,
        metadata: { creationTimestamp: timestamp(asking.cluster.clock.now()) },
        status: { userInfo: userInfo(user) },
      };
    case "TokenReview":
      return { ...review, spec: { ...spec, token: "" }, status: await tokenStatus(asking.cluster, spec) };
    default:
      return undefined;
  }
}

function subject(spec: Json): User {
  const groups = texts(spec["groups"]);
  if (!text(spec["user"]) && groups.length === 0) throw badRequest("at least one of user or group must be specified");
  return { name: text(spec["user"]), groups };
}

function access({ authorize }: Asking, user: User, spec: Json): Json {
  const resource = record(spec["resourceAttributes"]);
  const path = record(spec["nonResourceAttributes"]);
  if (Boolean(spec["resourceAttributes"]) === Boolean(spec["nonResourceAttributes"])) {
    throw badRequest("exactly one of nonResourceAttributes or resourceAttributes must be specified");
  }
  const asked: Attributes = {
    user,
    verb: text(spec["resourceAttributes"] ? resource["verb"] : path["verb"]),
    namespace: text(resource["namespace"]),
    group: text(resource["group"]),
    version: text(resource["version"]),
    plural: text(resource["resource"]),
    subresource: text(resource["subresource"]),
    name: text(resource["name"]),
    ...(spec["nonResourceAttributes"] ? { path: text(path["path"]) } : {}),
  };
  const { allowed, reason } = authorize(asked);
  return { allowed, ...(reason ? { reason } : {}) };
}

function rules(all: readonly Json[]): Json {
  const isPath = (rule: Json): boolean => texts(rule["nonResourceURLs"]).length > 0;
  return {
    incomplete: false,
    resourceRules: all.filter((r) => !isPath(r)),
    nonResourceRules: all.filter(isPath).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
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

async function tokenStatus(cluster: Cluster, spec: Json): Promise<Json> {
  const token = text(spec["token"]);
  const audiences = texts(spec["audiences"]);
  const verified =
    audiences.length > 0
      ? await verifyServiceAccountToken(cluster, token, audiences)
      : await tokenUser(cluster, token).then((user) => user && { user, audiences: [cluster.issuer] });
  if (!verified) return { user: {}, error: "invalid bearer token" };
  const matched = verified.audiences.length > 0 ? { audiences: verified.audiences } : {};
  return { authenticated: true, user: userInfo(verified.user), ...matched };
}
