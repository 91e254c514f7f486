import type { Policy, PolicyRule } from "./policy.ts";

/** Ids of users and projects: 32 hexadecimal digits of Keystone's own, 64 of an LDAP or federated user. */
const ID = /^([\da-f]{32}|[\da-f]{64})$/;
const MOST_SHOWN = 20;

/** Indices of the first rules that name a user or a project of no certain domain: a name is free in each domain. Pure. */
export function rulesByName(policy: Policy): readonly number[] {
  const found: number[] = [];
  for (const [index, rule] of policy.entries()) {
    if (found.length === MOST_SHOWN) break;
    if (isByName(rule)) found.push(index);
  }
  return found;
}

function isByName({ users, match }: PolicyRule): boolean {
  if (users !== undefined && users.domains === undefined && users.projects.some(isName)) return true;
  return match.some(
    ({ type, values, domains }) =>
      (type === "user" || type === "project") && domains === undefined && values.some(isName),
  );
}

function isName(value: string): boolean {
  return value !== "*" && !ID.test(value);
}
