import { hasFormOfId } from "../plan-id.ts";
import type { Policy, PolicyRule } from "./policy.ts";

const MOST_SHOWN = 20;

/**
 * Indices of the first rules that name a user or a project of no certain domain: a name is free in each domain. Pure.
 */
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
  return value !== "*" && !hasFormOfId(value);
}
