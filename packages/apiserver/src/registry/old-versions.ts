/*
 * Versions of built-in kinds that are not served any more, but that kube-apiserver can still read: a body in one of
 * them is of another version, not of no kind. Source: k8s.io/api; "Deprecated API Migration Guide".
 */

const RBAC = "Role RoleBinding ClusterRole ClusterRoleBinding";
const KINDS: Readonly<Record<string, string>> = {
  "apps/v1beta1": "Deployment StatefulSet ControllerRevision",
  "apps/v1beta2": "Deployment StatefulSet DaemonSet ReplicaSet ControllerRevision",
  "extensions/v1beta1": "Deployment DaemonSet Ingress ReplicaSet NetworkPolicy",
  "batch/v1beta1": "CronJob",
  "policy/v1beta1": "PodDisruptionBudget",
  "autoscaling/v1": "HorizontalPodAutoscaler",
  "autoscaling/v2beta1": "HorizontalPodAutoscaler",
  "autoscaling/v2beta2": "HorizontalPodAutoscaler",
  "networking.k8s.io/v1beta1": "Ingress IngressClass",
  "rbac.authorization.k8s.io/v1beta1": RBAC,
  "rbac.authorization.k8s.io/v1alpha1": RBAC,
  "storage.k8s.io/v1beta1": "StorageClass VolumeAttachment CSIDriver CSINode CSIStorageCapacity",
  "coordination.k8s.io/v1beta1": "Lease",
  "discovery.k8s.io/v1beta1": "EndpointSlice",
  "scheduling.k8s.io/v1beta1": "PriorityClass",
  "scheduling.k8s.io/v1alpha1": "PriorityClass",
  "events.k8s.io/v1beta1": "Event",
  "node.k8s.io/v1beta1": "RuntimeClass",
  "node.k8s.io/v1alpha1": "RuntimeClass",
  "certificates.k8s.io/v1beta1": "CertificateSigningRequest",
  "admissionregistration.k8s.io/v1beta1":
    "ValidatingWebhookConfiguration MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
};

/** Whether Kubernetes once served a built-in kind in this version, such as Deployment in "apps/v1beta1". */
export function isOldVersion(apiVersion: string, kind: string): boolean {
  return KINDS[apiVersion]?.split(" ").includes(kind) ?? false;
}
