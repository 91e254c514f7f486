import { createHash } from "node:crypto";
import { finalizers, type ClusterResourceSet } from "@causeway/api";
import { ConfigMap, keyOf, Secret, type Informer, type ObjectKey } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { isLeaving } from "../objects/metadata.ts";
import { matches } from "../objects/selector.ts";
import { names } from "./binding.ts";
import type { ObservedResource, Observed } from "./observed.ts";
import { valuesOf } from "./manifests.ts";

/** Reads caches; those of ConfigMaps and Secrets exist in the namespaces of sets only. */
export async function gather(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const { resourceSets, bindings, clusters, remoteClusters } = context;
  const set = resourceSets.get(key);
  if (!set || isLeaving(set, finalizers.clusterResourceSet)) return undefined;
  const chosen = clusters
    .list(key.namespace)
    .filter(
      (cluster) => !cluster.metadata.deletionTimestamp && matches(set.spec.clusterSelector, cluster.metadata.labels),
    );
  const resources = await Promise.all(set.spec.resources.map((named) => resourceOf(context, set, named, signal)));
  const targeted = new Set(chosen.map(({ metadata }) => metadata.name));
  return {
    set,
    targets: chosen.map((cluster) => ({
      cluster,
      binding: bindings.get(keyOf(cluster)),
      reachable: remoteClusters.get(keyOf(cluster)) !== undefined,
    })),
    resources,
    stale: bindings
      .list(key.namespace)
      .filter((binding) => !targeted.has(binding.spec.clusterName) && names(binding, key.name)),
  };
}

/** The ConfigMaps and Secrets of a namespace that sets read. */
export function contentsOf(
  { informers }: Context,
  namespace: string,
): {
  readonly configMaps: Informer<ConfigMap>;
  readonly secrets: Informer<Secret>;
} {
  return { configMaps: informers.for(ConfigMap, { namespace }), secrets: informers.for(Secret, { namespace }) };
}

async function resourceOf(
  context: Context,
  set: ClusterResourceSet,
  { kind, name }: { readonly kind: "Secret" | "ConfigMap"; readonly name: string },
  signal: AbortSignal,
): Promise<ObservedResource> {
  const namespace = set.metadata.namespace ?? "";
  const { configMaps, secrets } = contentsOf(context, namespace);
  const informer = kind === "Secret" ? secrets : configMaps;
  await informer.whenSynced(signal);
  const object = informer.get({ namespace, name });
  return { kind, name, object, hash: object && hashOf({ kind, object }) };
}

function hashOf(resource: Pick<ObservedResource, "kind" | "object">): string {
  const hash = createHash("sha256");
  for (const value of valuesOf(resource)) hash.update(value);
  return `sha256:${hash.digest("hex")}`;
}
