import {
  controllerOf,
  type Deployment,
  type Informer,
  type KubeObject,
  type ObjectKey,
  type OwnerReference,
  type Pod,
  type ReplicaSet,
  type ReplicationController,
  type StatefulSet,
} from "@causeway/kubernetes";
import type { PodDisruptionBudget } from "../objects/budget.ts";
import { by } from "../objects/caches.ts";
import type { Scales } from "./scales.ts";
import { labelTest } from "../model/selector.ts";

/** A controller of pods, and how many it is to keep. */
export interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** A budget with its pods and, where it counts in percent or from above, how many there should be. */
export interface Observed {
  readonly budget: PodDisruptionBudget;
  /** Pods that the budget selects. */
  readonly pods: readonly Pod[];
  /** By the uid of the pods' controllers: the scale, or why there is none. */
  readonly scales: ReadonlyMap<string, Scale | string>;
}

/** What gather reads; `scales` reads the scale of controllers of other kinds from the server. */
export interface Caches {
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly pods: Informer<Pod>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly deployments: Informer<Deployment>;
  readonly replicationControllers: Informer<ReplicationController>;
  readonly statefulSets: Informer<StatefulSet>;
  readonly scales: Scales;
}

/** Undefined: the budget does not exist. */
export async function gather(caches: Caches, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const budget = caches.budgets.get(key);
  if (!budget) return undefined;
  const selects = labelTest(budget.spec?.selector);
  const pods = caches.pods
    .byIndex(by.namespace, key.namespace)
    .filter(({ metadata }) => selects(metadata.labels ?? {}));
  const scales = new Map<string, Scale | string>();
  if (!needsScales(budget)) return { budget, pods, scales };
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner || scales.has(owner.uid)) continue;
    scales.set(owner.uid, await scaleOf(caches, { owner, pod, namespace: key.namespace }, signal));
  }
  return { budget, pods, scales };
}

/** An absolute minAvailable counts the pods that are there. */
function needsScales({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string";
}

async function scaleOf(
  caches: Caches,
  { owner, pod, namespace }: { readonly owner: OwnerReference; readonly pod: Pod; readonly namespace: string },
  signal: AbortSignal,
): Promise<Scale | string> {
  const key = { namespace, name: owner.name };
  const missing = `found no controllers for pod ${JSON.stringify(pod.metadata.name)}`;
  switch (`${owner.apiVersion} ${owner.kind}`) {
    case "apps/v1 ReplicaSet": {
      const set = same(caches.replicaSets.get(key), owner.uid);
      const above = set && controllerOf(set);
      if (above?.kind !== "Deployment") return set ? scale(set, set.spec.replicas) : missing;
      const deployment = same(caches.deployments.get({ namespace, name: above.name }), above.uid);
      return deployment ? scale(deployment, deployment.spec.replicas) : missing;
    }
    case "v1 ReplicationController": {
      const found = same(caches.replicationControllers.get(key), owner.uid);
      return found ? scale(found, found.spec.replicas) : missing;
    }
    case "apps/v1 StatefulSet": {
      const found = same(caches.statefulSets.get(key), owner.uid);
      return found ? scale(found, found.spec.replicas) : missing;
    }
    default:
      return (await caches.scales.find(owner, namespace, signal)) ?? missing;
  }
}

function same<T extends KubeObject>(found: T | undefined, uid: string): T | undefined {
  return found?.metadata.uid === uid ? found : undefined;
}

function scale({ metadata }: KubeObject, replicas = 1): Scale {
  return { uid: metadata.uid ?? "", replicas };
}
