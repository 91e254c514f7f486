import { allKinds, contractLabels, type Kind } from "@causeway/api";
import type { CustomResourceDefinition, KubeObject } from "@causeway/kubernetes";

/** The label that names the versions of a CRD that serve the contract, separated by "_". */
export const CONTRACT_LABEL = Object.keys(contractLabels)[0] ?? "";

/**
 * The kinds of Cluster API's providers that a cluster serves, by the contract's label of their CRDs: of the versions
 * that it lists the last. Handles for reading and writing by the contract's paths alone, so they have no schema. Kinds
 * that we know convert to their other versions: a ClusterClass may refer to a template at one, and its patches are
 * written for it.
 */
export function contractKinds(definitions: readonly CustomResourceDefinition[]): Kind<KubeObject>[] {
  return definitions.flatMap(({ metadata, spec }) => {
    const listed = metadata.labels?.[CONTRACT_LABEL]?.split("_") ?? [];
    const version = listed.findLast((name) => spec.versions.some((one) => one.name === name && one.served));
    if (version === undefined) return [];
    const { group, names, scope } = spec;
    return [
      {
        group,
        version,
        kind: names.kind,
        plural: names.plural,
        namespaced: scope === "Namespaced",
        schema: {},
        shortNames: [],
        columns: [],
        versions: versionsOf({ group, kind: names.kind, version }),
        labels: metadata.labels ?? {},
      },
    ];
  });
}

function versionsOf({
  group,
  kind,
  version,
}: {
  group: string;
  kind: string;
  version: string;
}): Kind<KubeObject>["versions"] {
  return allKinds.find((one) => one.group === group && one.kind === kind && one.version === version)?.versions ?? [];
}

/** What changes when a provider is installed, upgraded or removed. */
export function kindsKey(kinds: readonly Kind<KubeObject>[]): string {
  return kinds
    .map(({ group, kind, version }) => `${kind}.${group}/${version}`)
    .toSorted()
    .join(" ");
}
