import type { KubeObject, Resource, ResourceType } from "./meta.ts";

/** Wire types of certificates.k8s.io/v1, rbac.authorization.k8s.io/v1 and coordination.k8s.io/v1. */

/** The PKCS #10 request, who should sign it, and who sent it. */
export interface CertificateSigningRequestSpec {
  /** PEM in base64. */
  request: string;
  signerName: string;
  usages?: string[];
  expirationSeconds?: number;
  /** The caller; set by the server. */
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

/** Whether a request was approved, denied or failed. */
export interface CertificateSigningRequestCondition {
  type: "Approved" | "Denied" | "Failed";
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

/** The conditions of a request, and its certificate. */
export interface CertificateSigningRequestStatus {
  conditions?: CertificateSigningRequestCondition[];
  /** PEM in base64. */
  certificate?: string;
}

/** certificates.k8s.io/v1 CertificateSigningRequest. */
export type CertificateSigningRequest = Resource<CertificateSigningRequestSpec, CertificateSigningRequestStatus>;

/** Verbs on resources that a role grants. */
export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

/** A user, group or service account that a binding grants a role to. */
export interface Subject {
  kind: "User" | "Group" | "ServiceAccount";
  name: string;
  namespace?: string;
  apiGroup?: string;
}

/** The role that a binding grants. */
export interface RoleRef {
  apiGroup: string;
  kind: "Role" | "ClusterRole";
  name: string;
}

/** rbac.authorization.k8s.io/v1 Role. */
export interface Role extends KubeObject {
  rules?: PolicyRule[];
}

/** rbac.authorization.k8s.io/v1 ClusterRole. */
export interface ClusterRole extends KubeObject {
  rules?: PolicyRule[];
  aggregationRule?: Record<string, unknown>;
}

/** rbac.authorization.k8s.io/v1 RoleBinding. */
export interface RoleBinding extends KubeObject {
  subjects?: Subject[];
  roleRef: RoleRef;
}

/** rbac.authorization.k8s.io/v1 ClusterRoleBinding. */
export interface ClusterRoleBinding extends KubeObject {
  subjects?: Subject[];
  roleRef: RoleRef;
}

/** Who holds a Lease, and until when. */
export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  /** MicroTime: six digits after the second. */
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

/** coordination.k8s.io/v1 Lease. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

/** The resource certificates.k8s.io/v1, certificatesigningrequests, as clients and informers name it. */
export const CertificateSigningRequest: ResourceType<CertificateSigningRequest> = {
  group: "certificates.k8s.io",
  version: "v1",
  kind: "CertificateSigningRequest",
  plural: "certificatesigningrequests",
  namespaced: false,
};

/** The resource rbac.authorization.k8s.io/v1, roles. */
export const Role: ResourceType<Role> = rbac("Role", "roles", true);
/** The resource rbac.authorization.k8s.io/v1, rolebindings. */
export const RoleBinding: ResourceType<RoleBinding> = rbac("RoleBinding", "rolebindings", true);
/** The resource rbac.authorization.k8s.io/v1, clusterroles. */
export const ClusterRole: ResourceType<ClusterRole> = rbac("ClusterRole", "clusterroles", false);
/** The resource rbac.authorization.k8s.io/v1, clusterrolebindings. */
export const ClusterRoleBinding: ResourceType<ClusterRoleBinding> = rbac(
  "ClusterRoleBinding",
  "clusterrolebindings",
  false,
);

/** The resource coordination.k8s.io/v1, leases. */
export const Lease: ResourceType<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

function rbac<T extends KubeObject>(kind: string, plural: string, namespaced: boolean): ResourceType<T> {
  return { group: "rbac.authorization.k8s.io", version: "v1", kind, plural, namespaced };
}
