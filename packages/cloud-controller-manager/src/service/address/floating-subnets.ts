import type { Subnet } from "@causeway/openstack";

interface Wanted {
  readonly floatingSubnet: string | undefined;
  readonly floatingSubnetTags: string | undefined;
}

/** Subnets of an external network whose name and tags are wanted; undefined when any will do. */
export function matchingSubnets(wanted: Wanted, subnets: readonly Subnet[]): Subnet[] | undefined {
  const { floatingSubnet: pattern, floatingSubnetTags: tags } = wanted;
  if (pattern === undefined && tags === undefined) return undefined;
  return subnets.filter(
    (s) => (pattern === undefined || nameMatches(pattern, s.name)) && (tags === undefined || tagsMatch(tags, s.tags)),
  );
}

/**
 * A glob, or "~" and a regular expression; a leading "!" turns it round. A regular expression that is none matches
 * nothing.
 */
export function nameMatches(pattern: string, name: string): boolean {
  if (pattern.startsWith("!")) return !nameMatches(pattern.slice(1), name);
  return expressionOf(pattern)?.test(name) ?? false;
}

function expressionOf(pattern: string): RegExp | undefined {
  const source = pattern.startsWith("~") ? pattern.slice(1) : `^${globSource(pattern)}$`;
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}

function globSource(glob: string): string {
  return glob
    .replaceAll(/[.+^${}()|\\]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]");
}

/** "a,b": any; "&a,b": all; "!a,b": none; "!&a,b": at least one is missing. */
export function tagsMatch(wanted: string, tags: readonly string[]): boolean {
  if (wanted.startsWith("!")) return !tagsMatch(wanted.slice(1), tags);
  const all = wanted.startsWith("&");
  const names = (all ? wanted.slice(1) : wanted)
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return all ? names.every((name) => tags.includes(name)) : names.some((name) => tags.includes(name));
}
