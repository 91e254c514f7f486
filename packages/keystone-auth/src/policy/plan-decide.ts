import { isOneOf, type Known } from "../plan-id.ts";
import {
  DOMAIN_ID,
  DOMAIN_NAME,
  PROJECT_DOMAIN_ID,
  PROJECT_DOMAIN_NAME,
  PROJECT_ID,
  PROJECT_NAME,
  ROLES,
} from "../user.ts";
import { matchesPattern } from "./plan-pattern.ts";
import type {
  AccessRequest,
  NonResourceSpec,
  PathPermission,
  Policy,
  PolicyMatch,
  PolicyRule,
  ResourcePermission,
  ResourceSpec,
} from "./policy.ts";

/** The outcome of a SubjectAccessReview. What is not allowed is not denied either: another authorizer may allow it. */
export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** Whether a rule of the policy allows the request. The decisions are those of k8s-keystone-auth. */
export function decide(policy: Policy, request: AccessRequest): Decision {
  if (policy.length === 0) return { allowed: false, reason: "no authorization policy is loaded" };
  if (request.extra === undefined) return { allowed: false, reason: "the user was not authenticated by Keystone" };
  const index = policy.findIndex((rule) => isFor(rule, request) && allows(rule, request));
  if (index < 0) return { allowed: false, reason: "no rule of the policy allows it" };
  return { allowed: true, reason: `rule ${index} of the policy allows it` };
}

function isFor({ users }: PolicyRule, request: AccessRequest): boolean {
  if (users === undefined) return true;
  const roles = request.extra?.[ROLES] ?? [];
  return (
    users.roles.every((role) => roles.includes(role)) &&
    isOneOf(users.projects, projectOf(request)) &&
    isIn(users.domains, "project", request)
  );
}

/** A user without these facts, such as one whom an older version let in, is in no domain. */
function isIn(domains: readonly string[] | undefined, of: "project" | "user", { extra }: AccessRequest): boolean {
  if (domains === undefined) return true;
  const [id, name] = of === "project" ? [PROJECT_DOMAIN_ID, PROJECT_DOMAIN_NAME] : [DOMAIN_ID, DOMAIN_NAME];
  return isOneOf(domains, { ids: extra?.[id] ?? [], names: extra?.[name] ?? [] });
}

function projectOf({ extra }: AccessRequest): Known {
  return { ids: extra?.[PROJECT_ID] ?? [], names: extra?.[PROJECT_NAME] ?? [] };
}

function allows(rule: PolicyRule, request: AccessRequest): boolean {
  if (request.resource !== undefined) {
    const { resource } = request;
    if (rule.resourcePermissions) return rule.resourcePermissions.some((p) => permits(p, resource, request.verb));
    return (
      rule.resource !== undefined && covers(rule.resource, resource, request.verb) && matchesAll(rule.match, request)
    );
  }
  const path = request.path ?? "";
  if (rule.nonResourcePermissions) return rule.nonResourcePermissions.some((p) => permitsPath(p, path, request.verb));
  return (
    rule.nonResource !== undefined &&
    coversPath(rule.nonResource, path, request.verb) &&
    matchesAll(rule.match, request)
  );
}

type RequestedResource = NonNullable<AccessRequest["resource"]>;

/** Version 2. Subresources are judged by their resource. */
function permits(
  { namespaces, resources, verbs }: ResourcePermission,
  asked: RequestedResource,
  verb: string,
): boolean {
  if (asked.namespace === "" && namespaces.type !== "any") return false;
  return (
    includes(verbs, verb) && matchesPattern(namespaces, asked.namespace) && matchesPattern(resources, asked.resource)
  );
}

function permitsPath(permission: PathPermission, path: string, verb: string): boolean {
  return permission.path === path && includes(permission.verbs, verb);
}

/** Version 1. */
function covers(spec: ResourceSpec, asked: RequestedResource, verb: string): boolean {
  if (spec.apiGroup !== "*" && spec.apiGroup !== asked.apiGroup) return false;
  if (spec.namespace !== "*" && spec.namespace !== asked.namespace) return false;
  const { resource, subresource } = asked;
  const names = subresource === "" ? [resource] : [`${resource}/*`, `${resource}/${subresource}`];
  return names.some((name) => includes(spec.resources, name)) && includes(spec.verbs, verb);
}

function coversPath({ verbs, path: wanted }: NonResourceSpec, path: string, verb: string): boolean {
  if (wanted === undefined || verbs.includes("") || !includes(verbs, verb)) return false;
  return wanted === "*" || wanted === path || (wanted.endsWith("*") && path.startsWith(wanted.replace(/\*+$/, "")));
}

function matchesAll(matches: readonly PolicyMatch[], request: AccessRequest): boolean {
  return matches.every((match) => {
    if (match.type === undefined) return false;
    if (match.domains !== undefined && !isIn(match.domains, match.type === "user" ? "user" : "project", request))
      return false;
    return match.values.includes("*") || isOneOf(match.values, knownOf(match.type, request));
  });
}

function knownOf(type: NonNullable<PolicyMatch["type"]>, request: AccessRequest): Known {
  switch (type) {
    // Of the groups those in the form of an id are the project and what role mappings add: Keystone's own are left out.
    case "group":
      return { ids: request.groups, names: [] };
    case "user":
      return { ids: [request.uid], names: [request.user] };
    // A token has names of the cloud's own roles only.
    case "role":
      return { ids: request.extra?.[ROLES] ?? [], names: [] };
    case "project":
      return projectOf(request);
  }
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}
