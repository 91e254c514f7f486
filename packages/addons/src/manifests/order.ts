import type { KubeObject } from "@causeway/kubernetes";

/**
 * Kinds in the order in which they are applied; a kind that is not named comes between the workloads and what
 * intercepts requests.
 */
const ranks: readonly (readonly string[])[] = [
  ["Namespace"],
  ["CustomResourceDefinition"],
  ["PriorityClass", "StorageClass", "RuntimeClass", "CSIDriver", "ServiceAccount", "ResourceQuota", "LimitRange"],
  ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "NetworkPolicy"],
  ["ConfigMap", "Secret", "PersistentVolume", "PersistentVolumeClaim"],
  ["Service"],
  ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet", "Pod", "Job", "CronJob", "PodDisruptionBudget"],
];
const others = ranks.length;
/** These fail the requests of others while nothing serves them. */
const last = [
  "APIService",
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
];

function rankOf(kind: string): number {
  const rank = ranks.findIndex((kinds) => kinds.includes(kind));
  if (rank >= 0) return rank;
  return last.includes(kind) ? others + 1 : others;
}

/** Objects in the order in which they are applied; objects of equal rank remain in the order of the manifests. */
export function applyOrder<T extends KubeObject>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => rankOf(a.kind) - rankOf(b.kind));
}

/** Kinds that are never deleted, by pruning or with the AddonSet: their loss takes objects of others, or data. */
const kept = ["Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"];

/** Whether objects of a kind remain in the cluster when they are declared no more. */
export function isNeverDeleted(kind: string): boolean {
  return kept.includes(kind);
}
