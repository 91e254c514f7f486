import { InputError, isRecord, messageOf, parseBoundedJson } from "@causeway/foundation";
import { readPattern } from "./plan-pattern.ts";
import {
  MATCH_TYPES,
  type PathPermission,
  type Policy,
  type PolicyMatch,
  type PolicyRule,
  type ResourcePermission,
} from "./policy.ts";

/** A policy that was read from a file or ConfigMap. */
export interface ReadPolicy {
  readonly policy: Policy;
  /** What of it can never allow anything. */
  readonly warnings: readonly string[];
}

const DEEPEST = 16;
const MOST_RULES = 10_000;

/**
 * Reads a policy of version 1 or 2, rules of both mixed. Throws KEYSTONE_POLICY_INVALID for what is no policy; a rule
 * that can never allow anything is a warning, because upstream accepts it.
 */
export function readPolicy(text: string): ReadPolicy {
  let list: unknown;
  try {
    list = parseBoundedJson(text, DEEPEST);
  } catch (error) {
    throw invalid(`it is not JSON: ${messageOf(error)}`);
  }
  if (list === null) return { policy: [], warnings: [] };
  if (!Array.isArray(list)) throw invalid("it is not a list of rules");
  if (list.length > MOST_RULES) throw invalid(`it has more than ${MOST_RULES} rules`);
  const warnings: string[] = [];
  return { policy: list.map((rule, i) => readRule(rule, { path: `rule ${i}`, warnings })), warnings };
}

function invalid(why: string): InputError {
  return new InputError("KEYSTONE_POLICY_INVALID", `The authorization policy cannot be used: ${why}.`, {
    hint: "Fix the policy; docs/reference/keystone-auth.md has both versions of its format.",
  });
}

interface Place {
  readonly path: string;
  readonly warnings: string[];
}

function readRule(value: unknown, place: Place): PolicyRule {
  const rule = recordAt(value, place.path);
  const users =
    rule["users"] === undefined || rule["users"] === null ? undefined : recordAt(rule["users"], `${place.path}.users`);
  const read: PolicyRule = {
    match: listAt(rule["match"], `${place.path}.match`).map((m, i) => readMatch(m, within(place, `.match[${i}]`))),
    ...(users && {
      users: {
        roles: textsAt(users["roles"], `${place.path}.users.roles`),
        projects: textsAt(users["projects"], `${place.path}.users.projects`),
        domains: domainsAt(users["domains"], within(place, ".users.domains")),
      },
    }),
    ...resourceOf(rule["resource"], within(place, ".resource")),
    ...nonResourceOf(rule["nonresource"], within(place, ".nonresource")),
    ...permissionsOf(rule["resource_permissions"], within(place, ".resource_permissions")),
    ...pathsOf(rule["nonresource_permissions"], within(place, ".nonresource_permissions")),
  };
  if (read.users && read.users.projects.length === 0)
    warn(within(place, ".users"), "has no projects, so it is for no user");
  if (!read.resource && !read.nonResource && !read.resourcePermissions && !read.nonResourcePermissions)
    warn(place, "has none of resource, nonresource, resource_permissions, nonresource_permissions");
  return read;
}

function readMatch(value: unknown, place: Place): PolicyMatch {
  const match = recordAt(value, place.path);
  const type = MATCH_TYPES.find((known) => known === match["type"]);
  if (type === undefined) warn(place, `has a type other than ${MATCH_TYPES.join(", ")}`);
  const domains = domainsAt(match["domains"], within(place, ".domains"));
  if (domains !== undefined && type !== undefined && type !== "project" && type !== "user")
    throw invalid(`${place.path} has domains, which only matches of type project and user may have`);
  return { type, values: textsAt(match["values"], `${place.path}.values`), domains };
}

function resourceOf(value: unknown, place: Place): Pick<PolicyRule, "resource"> {
  if (value === undefined || value === null) return {};
  const spec = recordAt(value, place.path);
  const resources = textsAt(spec["resources"], `${place.path}.resources`);
  if (resources.length === 0) warn(place, "names no resources");
  return {
    resource: {
      resources,
      verbs: textsAt(spec["verbs"], `${place.path}.verbs`),
      apiGroup: textAt(spec["version"], `${place.path}.version`),
      namespace: textAt(spec["namespace"], `${place.path}.namespace`),
    },
  };
}

function nonResourceOf(value: unknown, place: Place): Pick<PolicyRule, "nonResource"> {
  if (value === undefined || value === null) return {};
  const spec = recordAt(value, place.path);
  const path = spec["path"] === undefined ? undefined : textAt(spec["path"], `${place.path}.path`);
  if (path === undefined) warn(place, "has no path");
  return { nonResource: { path, verbs: textsAt(spec["verbs"], `${place.path}.verbs`) } };
}

function permissionsOf(value: unknown, place: Place): Pick<PolicyRule, "resourcePermissions"> {
  if (value === undefined || value === null) return {};
  const entries = Object.entries(recordAt(value, place.path));
  const resourcePermissions = entries.flatMap(([key, verbs]): ResourcePermission[] => {
    const words = key.split("/").map((word) => readPattern(word.trim().toLowerCase()));
    const [namespaces, resources] = words;
    const lower = textsAt(verbs, `${place.path}["${key}"]`).map((verb) => verb.toLowerCase());
    if (namespaces && resources && words.length === 2) return [{ namespaces, resources, verbs: lower }];
    warn(place, `has the key "${key}", which is not NAMESPACE/RESOURCE with *, NAME, !NAME, ['A', 'B'] or !['A', 'B']`);
    return [];
  });
  return { resourcePermissions };
}

function pathsOf(value: unknown, place: Place): Pick<PolicyRule, "nonResourcePermissions"> {
  if (value === undefined || value === null) return {};
  const entries = Object.entries(recordAt(value, place.path));
  return {
    nonResourcePermissions: entries.map(([path, verbs]): PathPermission => ({
      path,
      verbs: textsAt(verbs, `${place.path}["${path}"]`),
    })),
  };
}

function within(place: Place, below: string): Place {
  return { ...place, path: `${place.path}${below}` };
}

function warn({ path, warnings }: Place, what: string): void {
  warnings.push(`${path} ${what}: it allows nothing`);
}

function recordAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw invalid(`${path} is not an object`);
}

function textAt(value: unknown, path: string): string {
  if (typeof value === "string") return value;
  throw invalid(`${path} is not a text`);
}

/** Absent: any domain. An empty list is a mistake that must not open anything. */
function domainsAt(value: unknown, place: Place): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const domains = textsAt(value, place.path);
  if (domains.length === 0) warn(place, "is empty");
  return domains;
}

function listAt(value: unknown, path: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw invalid(`${path} is not a list`);
}

function textsAt(value: unknown, path: string): readonly string[] {
  return listAt(value, path).map((item, i) => textAt(item, `${path}[${i}]`));
}
