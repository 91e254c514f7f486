import { CausewayError } from "@causeway/foundation";
import {
  ConfigMap,
  CustomResourceDefinition,
  Namespace,
  Secret,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import type { Member } from "./graph.ts";

/** Kinds that are moved: those of Cluster API and its providers, our add-ons, and what has clusterctl's label. */
function isMoved({ metadata, spec }: CustomResourceDefinition): boolean {
  const { group, scope } = spec;
  if (scope !== "Namespaced") return false;
  return (
    /(^|\.)cluster\.x-k8s\.io$|^addons\.causeway\.dev$/.test(group) ||
    metadata.labels?.["clusterctl.cluster.x-k8s.io/move"] !== undefined
  );
}

/** The kinds that are moved, in the version that the source stores. */
export async function movedTypes(client: KubernetesClient, signal: AbortSignal): Promise<ResourceType<KubeObject>[]> {
  const { items } = await client.list(CustomResourceDefinition, { signal });
  const own = items.filter(isMoved).flatMap(({ spec }) => {
    const version = spec.versions.find((each) => each.storage)?.name;
    if (version === undefined) return [];
    const { kind, plural } = spec.names;
    return [{ group: spec.group, version, kind, plural, namespaced: true }];
  });
  return [...own, Secret as ResourceType<KubeObject>, ConfigMap as ResourceType<KubeObject>];
}

/** Every object of these types in the namespace. */
export async function readMembers(
  client: KubernetesClient,
  types: readonly ResourceType<KubeObject>[],
  namespace: string,
  signal: AbortSignal,
): Promise<Member[]> {
  const members: Member[] = [];
  for (const type of types) {
    const { items } = await client.list(type, { namespace, signal });
    members.push(...items.map((object) => ({ type, object })));
  }
  return members;
}

/** The identity of a cluster, whatever its address: the uid of namespace kube-system. */
export async function clusterId(client: KubernetesClient, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.get(Namespace, { namespace: "", name: "kube-system" }, { signal });
  return metadata.uid ?? "";
}

/**
 * Refuses a target that lacks a kind or a version that objects of the graph have.
 * @throws MOVE_KIND_MISSING
 */
export async function refuseMissingKinds(
  target: KubernetesClient,
  graph: readonly Member[],
  signal: AbortSignal,
): Promise<void> {
  const { items } = await target.list(CustomResourceDefinition, { signal });
  const served = new Set(
    items.flatMap(({ spec }) =>
      spec.versions.filter((each) => each.served).map(({ name }) => `${spec.group}/${name} ${spec.names.kind}`),
    ),
  );
  const types = graph.map(({ type }) => type).filter(({ group }) => group !== "");
  const missing = new Set(
    types.map(({ group, version, kind }) => `${group}/${version} ${kind}`).filter((kind) => !served.has(kind)),
  );
  if (missing.size === 0) return;
  throw new CausewayError("MOVE_KIND_MISSING", `the target does not serve ${[...missing].join(", ")}`, {
    hint: "Install the same or newer providers there first. Nothing was changed.",
  });
}
