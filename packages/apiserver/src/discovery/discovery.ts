import { createHash } from "node:crypto";
import type { Json } from "../json/json.ts";
import type { Catalog } from "../contract/catalog.ts";
import { apiVersionOf, type Resource, type ResourceVersion, type Subresource } from "../contract/resource.ts";
import { byPriority } from "../definitions/strategy.ts";

interface Entry {
  readonly resource: Resource;
  readonly version: ResourceVersion;
}

/** What a cluster serves, group by group and version by version. */
function groupsOf(catalog: Catalog): Map<string, Map<string, Entry[]>> {
  const groups = new Map<string, Map<string, Entry[]>>();
  for (const resource of catalog.all()) {
    const versions = groups.get(resource.group) ?? new Map<string, Entry[]>();
    groups.set(resource.group, versions);
    for (const version of resource.versions) {
      versions.set(version.name, [...(versions.get(version.name) ?? []), { resource, version }]);
    }
  }
  for (const [name, versions] of groups) {
    if (versions.size === 0) groups.delete(name);
    else groups.set(name, new Map([...versions].sort(([a], [b]) => byPriority(a, b))));
  }
  return groups;
}

/** GET /api: APIVersions. */
export function coreVersions(address: string): Json {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
  };
}

/** GET /apis: APIGroupList. */
export function groupList(catalog: Catalog): Json {
  const groups = [...groupsOf(catalog)]
    .filter(([name]) => name !== "")
    .map(([name, v]) => groupOf(name, [...v.keys()]));
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

/** GET /apis/GROUP: APIGroup, or undefined. */
export function group(catalog: Catalog, name: string): Json | undefined {
  const versions = groupsOf(catalog).get(name);
  return versions && name !== ""
    ? { kind: "APIGroup", apiVersion: "v1", ...groupOf(name, [...versions.keys()]) }
    : undefined;
}

function groupOf(name: string, names: readonly string[]): Json {
  const versions = names.map((version) => ({ groupVersion: apiVersionOf(name, version), version }));
  return { name, versions, preferredVersion: versions[0] };
}

/** GET /api/v1 and /apis/GROUP/VERSION: APIResourceList, or undefined. */
export function resourceList(catalog: Catalog, name: string, version: string): Json | undefined {
  const entries = groupsOf(catalog).get(name)?.get(version);
  if (!entries) return undefined;
  const resources = entries.flatMap(({ resource, version: v }) => [
    legacy(resource),
    ...(v.subresources ?? []).map((s) => legacySubresource(resource, s)),
  ]);
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(name, version), resources };
}

function legacy(resource: Resource): Json {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = resource;
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(resource.verbs.includes("watch") ? { storageVersionHash: hashOf(resource) } : {}),
  };
}

/**
 * Clients may see by it that objects are stored in another version than before: the same for all servers that store
 * the kind in that version.
 */
function hashOf({ storedAs, kind }: Resource): string {
  const name = `${storedAs.includes("/") ? storedAs : `/${storedAs}`}/${kind}`;
  return createHash("sha256").update(name).digest().subarray(0, 8).toString("base64");
}

function legacySubresource(resource: Resource, subresource: Subresource): Json {
  const type = otherType(resource, subresource);
  return {
    name: `${resource.plural}/${subresource.name}`,
    singularName: "",
    namespaced: resource.namespaced,
    ...(type ? { group: type.group, version: type.version } : {}),
    kind: subresource.type?.kind ?? resource.kind,
    verbs: subresource.verbs,
  };
}

/** The type of a subresource's body if it is of another group. */
function otherType({ group }: Resource, { type }: Subresource): Subresource["type"] {
  return type && type.group !== group ? type : undefined;
}

/** APIGroupDiscoveryList (apidiscovery.k8s.io) of the core group ("api") or of all others ("apis"). */
export function aggregated(catalog: Catalog, root: "api" | "apis", version = "v2"): Json {
  const items = [...groupsOf(catalog)]
    .filter(([name]) => (name === "") === (root === "api"))
    .map(([name, versions]) => ({
      metadata: { ...(name ? { name } : {}), creationTimestamp: null },
      versions: [...versions].map(([v, entries]) => ({
        version: v,
        resources: entries.map((e) => discovered(e)),
        freshness: "Current",
      })),
    }));
  return { kind: "APIGroupDiscoveryList", apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items };
}

function discovered({ resource, version }: Entry): Json {
  const { group: name, plural, singular, kind, namespaced, verbs, shortNames, categories, custom } = resource;
  // Built-in kinds have no group and version here: they are those of the enclosing list.
  const responseKind = { group: custom ? name : "", version: custom ? version.name : "", kind };
  const subresources = (version.subresources ?? []).map((s) => ({
    subresource: s.name,
    responseKind: otherType(resource, s) ?? { ...responseKind, kind: s.type?.kind ?? kind },
    verbs: s.verbs,
  }));
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  };
}
