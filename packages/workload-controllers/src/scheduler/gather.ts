import { controllerOf, type Pod } from "@causeway/kubernetes";
import { byStorageClass, type Caches } from "./caches.ts";
import type { PodInfo } from "../model/pod-info.ts";
import { labelTest, type LabelTest } from "../model/selector.ts";
import type { LabelSelector } from "../model/spec.ts";
import type { ClusterView, DisruptionBudget, StorageView } from "./view.ts";
import type { Observed } from "./plan.ts";
import type { ClusterState } from "./state.ts";

/** Reads caches only. */
export function gather(
  pod: PodInfo,
  from: { readonly caches: Caches; readonly state: ClusterState; readonly start: number; readonly choice: number },
): Observed {
  const { caches, state, start, choice } = from;
  return {
    pod,
    view: clusterView(caches, state),
    budgets: budgetsOf(caches),
    nominatedTo: (node) => state.nominatedTo(node),
    start,
    choice,
  };
}

function clusterView(caches: Caches, state: ClusterState): ClusterView {
  return {
    nodes: state.nodes,
    namespaceLabels: (name) => caches.namespaces.get({ namespace: "", name })?.metadata.labels ?? {},
    spreadSelector: (pod) => spreadSelector(pod, caches),
    storage: storageView(caches),
  };
}

function storageView(caches: Caches): StorageView {
  return {
    claim: (namespace, name) => caches.claims.get({ namespace, name }),
    volume: (name) => caches.volumes.get({ namespace: "", name }),
    volumesOf: (storageClass) => caches.volumes.byIndex(byStorageClass, storageClass),
    storageClass: (name) => caches.storageClasses.get({ namespace: "", name }),
    csiNode: (name) => caches.csiNodes.get({ namespace: "", name }),
    csiDriver: (name) => caches.csiDrivers.get({ namespace: "", name }),
    capacitiesOf: (storageClass) => caches.capacities.byIndex(byStorageClass, storageClass),
  };
}

/** Selected by the Services that select the pod, and by its controller. */
function spreadSelector({ pod, namespace, labels }: PodInfo, caches: Caches): LabelTest | undefined {
  const services = caches.services
    .list(namespace)
    .flatMap(({ spec }) =>
      Object.keys(spec.selector ?? {}).length > 0 ? [labelTest({ matchLabels: spec.selector ?? {} })] : [],
    )
    .filter((selects) => selects(labels));
  const owner = ownerSelector(pod, caches);
  const all = owner ? [...services, labelTest(owner)] : services;
  return all.length === 0 ? undefined : (other) => all.every((selects) => selects(other));
}

function ownerSelector(pod: Pod, caches: Caches): LabelSelector | undefined {
  const owner = controllerOf(pod);
  if (!owner) return undefined;
  const key = { namespace: pod.metadata.namespace ?? "", name: owner.name };
  switch (owner.kind) {
    case "ReplicaSet":
      return caches.replicaSets.get(key)?.spec?.selector;
    case "StatefulSet":
      return caches.statefulSets.get(key)?.spec?.selector;
    case "ReplicationController": {
      const matchLabels = caches.replicationControllers.get(key)?.spec?.selector;
      return matchLabels && { matchLabels };
    }
    default:
      return undefined;
  }
}

function budgetsOf(caches: Caches): DisruptionBudget[] {
  return caches.budgets.list().map(({ metadata, spec, status }) => ({
    namespace: metadata.namespace ?? "",
    selector: spec?.selector,
    allowed: status?.disruptionsAllowed ?? 0,
    disrupted: new Set(Object.keys(status?.disruptedPods ?? {})),
  }));
}
