import { ClusterResourceSetBinding, type Cluster, type ClusterResourceSet } from "@causeway/api";
import { ownerReference, timestamp } from "@causeway/kubernetes";
import type { ObservedResource } from "./observed.ts";

type Entry = NonNullable<ClusterResourceSetBinding["spec"]["bindings"]>[number];
type Record = NonNullable<Entry["resources"]>[number];

/** What a binding says of one resource of one set. */
export function recordOf(
  binding: ClusterResourceSetBinding | undefined,
  set: string,
  { kind, name }: Pick<ObservedResource, "kind" | "name">,
): Record | undefined {
  const entry = binding?.spec.bindings?.find(({ clusterResourceSetName }) => clusterResourceSetName === set);
  return entry?.resources?.find((record) => record.kind === kind && record.name === name);
}

/** What became of one resource: `applied` is false if that failed. */
export interface Outcome {
  readonly resource: ObservedResource;
  readonly applied: boolean;
}

/** The binding with these outcomes recorded. */
export function withOutcomes(
  binding: ClusterResourceSetBinding,
  set: ClusterResourceSet,
  { outcomes, now }: { readonly outcomes: readonly Outcome[]; readonly now: number },
): ClusterResourceSetBinding["spec"] {
  const name = set.metadata.name;
  const entries = binding.spec.bindings ?? [];
  const mine = entries.find(({ clusterResourceSetName }) => clusterResourceSetName === name);
  const kept = (mine?.resources ?? []).filter(
    (record) => !outcomes.some(({ resource }) => resource.kind === record.kind && resource.name === record.name),
  );
  const records = outcomes.map(({ resource, applied }): Record => ({
    kind: resource.kind,
    name: resource.name,
    applied,
    ...(resource.hash === undefined ? {} : { hash: resource.hash }),
    lastAppliedTime: timestamp(now),
  }));
  const entry: Entry = { clusterResourceSetName: name, resources: [...kept, ...records] };
  return {
    ...binding.spec,
    bindings: mine ? entries.map((one) => (one === mine ? entry : one)) : [...entries, entry],
  };
}

/** The binding of a Cluster before anything is applied: it has the Cluster's name, and is owned by its sets. */
export function newBinding(cluster: Cluster, set: ClusterResourceSet): ClusterResourceSetBinding {
  const { name, namespace = "" } = cluster.metadata;
  return {
    apiVersion: `${ClusterResourceSetBinding.group}/${ClusterResourceSetBinding.version}`,
    kind: ClusterResourceSetBinding.kind,
    metadata: { name, namespace, ownerReferences: [ownerReference(set)] },
    spec: { clusterName: name, bindings: [] },
  };
}

/** Whether the binding still has an entry of this ClusterResourceSet. */
export function names(binding: ClusterResourceSetBinding, set: string): boolean {
  return binding.spec.bindings?.some(({ clusterResourceSetName }) => clusterResourceSetName === set) ?? false;
}
