import type { Discovered } from "../contract/aggregation.ts";
import { array, isRecord, record, records, text, type Json } from "../json/json.ts";

type Extensions = readonly Discovered[];

/** A version that /apis names: of extensions that are not available, too, as kube-apiserver's. */
function versionsOf(extensions: Extensions, group: string): Json[] {
  return extensions
    .filter(({ extension }) => extension.group === group)
    .map(({ extension: { version } }) => ({ groupVersion: `${group}/${version}`, version }));
}

function groupsOf(extensions: Extensions): string[] {
  return [...new Set(extensions.map(({ extension }) => extension.group))];
}

/** An APIGroup with the versions of extensions after its own. */
export function mergedGroup(local: Json | undefined, name: string, extensions: Extensions): Json | undefined {
  const more = versionsOf(extensions, name);
  if (more.length === 0) return local;
  const versions = [...records(local?.["versions"]), ...more];
  return { kind: "APIGroup", apiVersion: "v1", ...local, name, versions, preferredVersion: versions[0] };
}

/** An APIGroupList with the groups of extensions after its own. */
export function mergedGroups(local: Json, extensions: Extensions): Json {
  if (extensions.length === 0) return local;
  const own = records(local["groups"]);
  const known = new Set(own.map((each) => text(each["name"])));
  const bare = (group: Json | undefined): Json => {
    const { kind: _kind, apiVersion: _version, ...rest } = group ?? {};
    return rest;
  };
  const groups = [
    ...own.map((each) => bare(mergedGroup(each, text(each["name"]), extensions))),
    ...groupsOf(extensions)
      .filter((name) => !known.has(name))
      .map((name) => bare(mergedGroup(undefined, name, extensions))),
  ];
  return { ...local, groups };
}

/**
 * An APIGroupDiscoveryList with what extension servers said of their resources. Those that are not available are stale.
 */
export function mergedDiscovery(local: Json, extensions: Extensions): Json {
  if (extensions.length === 0) return local;
  const items = records(local["items"]).map((item) => ({ ...item, versions: array(item["versions"]) }));
  const merged: Json[] = [...items];
  for (const group of groupsOf(extensions)) {
    const versions = extensions
      .filter(({ extension }) => extension.group === group)
      .map(({ extension, resources }) => ({
        version: extension.version,
        resources: discoveredResources(resources, extension),
        freshness: extension.available && resources.length > 0 ? "Current" : "Stale",
      }));
    const at = merged.findIndex((item) => record(item["metadata"])["name"] === group);
    const own = merged[at];
    if (own) merged[at] = { ...own, versions: [...array(own["versions"]), ...versions] };
    else merged.push({ metadata: { name: group, creationTimestamp: null }, versions });
  }
  return { ...local, items: merged };
}

/** The resources of an APIResourceList as aggregated discovery has them: subresources within their resource. */
function discoveredResources(resources: readonly Json[], of: { group: string; version: string }): Json[] {
  const kindOf = (each: Json): Json => ({
    group: text(each["group"]) || of.group,
    version: text(each["version"]) || of.version,
    kind: text(each["kind"]),
  });
  const subresources = (plural: string): Json[] =>
    resources
      .filter((each) => text(each["name"]).startsWith(`${plural}/`))
      .map((each) => ({
        subresource: text(each["name"]).slice(plural.length + 1),
        responseKind: kindOf(each),
        verbs: array(each["verbs"]),
      }));
  return resources
    .filter((each) => isRecord(each) && !text(each["name"]).includes("/"))
    .map((each) => {
      const below = subresources(text(each["name"]));
      return {
        resource: text(each["name"]),
        responseKind: kindOf(each),
        scope: each["namespaced"] === true ? "Namespaced" : "Cluster",
        singularResource: text(each["singularName"]),
        verbs: array(each["verbs"]),
        ...(array(each["shortNames"]).length > 0 ? { shortNames: array(each["shortNames"]) } : {}),
        ...(array(each["categories"]).length > 0 ? { categories: array(each["categories"]) } : {}),
        ...(below.length > 0 ? { subresources: below } : {}),
      };
    });
}

/**
 * The paths of a group and version in a Swagger document, with the models that they refer to; models of equal names
 * remain ours.
 */
export function mergedSwagger(
  local: Json,
  others: readonly { readonly prefix: string; readonly document: Json }[],
): Json {
  if (others.length === 0) return local;
  const paths = { ...record(local["paths"]) };
  const definitions = { ...record(local["definitions"]) };
  for (const { prefix, document } of others) {
    const theirs = record(document["definitions"]);
    const wanted: unknown[] = [];
    for (const [path, item] of Object.entries(record(document["paths"]))) {
      if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
      paths[path] = item;
      wanted.push(item);
    }
    // Models that other models refer to are added when those are.
    while (wanted.length > 0) {
      for (const name of modelsIn(wanted.pop())) {
        if (Object.hasOwn(definitions, name) || !Object.hasOwn(theirs, name)) continue;
        definitions[name] = theirs[name];
        wanted.push(theirs[name]);
      }
    }
  }
  return { ...local, paths, definitions };
}

const REFERENCE = /"\$ref":"#\/definitions\/([^"]{1,512})"/g;

function modelsIn(value: unknown): string[] {
  return [...(JSON.stringify(value) ?? "").matchAll(REFERENCE)].map(([, name = ""]) => name);
}
