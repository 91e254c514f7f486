import { texts, type Json } from "../json/json.ts";

/**
 * Compares sets of RBAC rules: what one gives that the other does not.
 * Source: component-helpers' auth/rbac/validation, whose results kube-apiserver prints when it refuses an escalation.
 */
export function missingRules(owned: readonly Json[], wanted: readonly Json[]): readonly Json[] {
  return compacted(wanted.flatMap(atoms).filter((atom) => !owned.some((rule) => coversAtom(rule, atom))));
}

/** One verb on one resource (of one name, where names are given), or one verb on one path. */
interface Atom {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly name?: string | undefined;
  readonly path?: string;
}

function atoms(rule: Json): Atom[] {
  const verbs = texts(rule["verbs"]);
  const given = texts(rule["resourceNames"]);
  const names = given.length > 0 ? given : [undefined];
  const resources = texts(rule["apiGroups"]).flatMap((group) =>
    texts(rule["resources"]).flatMap((resource) =>
      verbs.flatMap((verb) => names.map((name) => ({ group, resource, verb, name }))),
    ),
  );
  return [...resources, ...texts(rule["nonResourceURLs"]).flatMap((path) => verbs.map((verb) => ({ path, verb })))];
}

function coversAtom(rule: Json, { verb, group, resource, name, path }: Atom): boolean {
  const verbs = texts(rule["verbs"]);
  const names = texts(rule["resourceNames"]);
  if (!verbs.includes("*") && !verbs.includes(verb)) return false;
  if (path !== undefined) return names.length === 0 && texts(rule["nonResourceURLs"]).some((p) => coversPath(p, path));
  const groups = texts(rule["apiGroups"]);
  return (
    (groups.includes("*") || groups.includes(group ?? "")) &&
    coversResource(texts(rule["resources"]), resource ?? "") &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

function coversResource(owned: readonly string[], resource: string): boolean {
  if (owned.includes("*") || owned.includes(resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && owned.includes(`*${resource.slice(slash)}`);
}

function coversPath(owned: string, path: string): boolean {
  return owned === path || (owned.endsWith("*") && path.startsWith(owned.replace(/\*+$/, "")));
}

/** Puts the verbs of one resource, and of one name of it, together. */
function compacted(missing: readonly Atom[]): Json[] {
  const resources = new Map<string, { rule: Json; verbs: string[] }>();
  const paths: Json[] = [];
  for (const { verb, group, resource, name, path } of missing) {
    if (path !== undefined) {
      paths.push({ nonResourceURLs: [path], verbs: [verb] });
      continue;
    }
    const key = JSON.stringify([group, resource, name]);
    const known = resources.get(key);
    if (known) known.verbs.push(verb);
    else {
      const verbs = [verb];
      const named = name === undefined ? {} : { resourceNames: [name] };
      resources.set(key, { rule: { apiGroups: [group], resources: [resource], ...named, verbs }, verbs });
    }
  }
  return [...paths, ...[...resources.values()].map(({ rule }) => rule)];
}
