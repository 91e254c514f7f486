import { admitPriorityClass } from "../admission/builtin/priority.ts";
import {
  BINDING_COLUMNS,
  CLUSTER_ROLE_COLUMNS,
  CRD_COLUMNS,
  CSR_COLUMNS,
  DAEMON_SET_COLUMNS,
  DEPLOYMENT_COLUMNS,
  ENDPOINT_SLICE_COLUMNS,
  LEASE_COLUMNS,
  PRIORITY_CLASS_COLUMNS,
  REPLICA_SET_COLUMNS,
  STATEFUL_SET_COLUMNS,
  STORAGE_CLASS_COLUMNS,
} from "../tables/group-columns.ts";
import { JOB_COLUMNS } from "../tables/job-columns.ts";
import { csrStrategy } from "./certificate-signing-request.ts";
import { crdStrategy } from "../definitions/strategy.ts";
import { define, SCALE, STATUS, type Definition } from "../contract/define.ts";
import { groupEvents } from "./event.ts";
import { leaseStrategy } from "./lease.ts";
import { bindingStrategy, roleStrategy } from "./rbac.ts";
import type { Resource } from "../contract/resource.ts";
import { chosenOnce } from "./immutable-fields.ts";
import { priorityProblems } from "./policy-rules.ts";
import { checked, ruled } from "./rules.ts";
import { storageClassProblems } from "./volume-rules.ts";
import { PRIORITY_RULES, SLICE_RULES, STORAGE_CLASS_RULES } from "./stored-rules.ts";
import { jobStrategy } from "./job.ts";
import { daemonSetStrategy, workloadStrategy } from "./workload.ts";

const REVIEW = { clusterScoped: true, verbs: ["create"] } as const;

/** The built-in kinds beyond the core group. */
export function otherKinds(): Resource[] {
  return [
    ...rbacKinds().map(define),
    ...workloadKinds().map(define),
    ...reviewKinds().map(define),
    groupEvents(),
    define({
      group: "coordination.k8s.io",
      kind: "Lease",
      plural: "leases",
      columns: LEASE_COLUMNS,
      strategy: leaseStrategy,
    }),
    define({
      group: "discovery.k8s.io",
      kind: "EndpointSlice",
      plural: "endpointslices",
      columns: ENDPOINT_SLICE_COLUMNS,
      strategy: chosenOnce(ruled(SLICE_RULES)),
      generation: true,
    }),
    define({
      group: "certificates.k8s.io",
      kind: "CertificateSigningRequest",
      plural: "certificatesigningrequests",
      shortNames: ["csr"],
      clusterScoped: true,
      subresources: [STATUS, { name: "approval", verbs: ["get", "patch", "update"] }],
      selectable: ["spec.signerName"],
      columns: CSR_COLUMNS,
      strategy: csrStrategy,
    }),
    define({
      group: "apiextensions.k8s.io",
      kind: "CustomResourceDefinition",
      plural: "customresourcedefinitions",
      shortNames: ["crd", "crds"],
      categories: ["api-extensions"],
      clusterScoped: true,
      subresources: [STATUS],
      generation: true,
      columns: CRD_COLUMNS,
      strategy: crdStrategy,
    }),
    define({
      group: "scheduling.k8s.io",
      kind: "PriorityClass",
      plural: "priorityclasses",
      shortNames: ["pc"],
      clusterScoped: true,
      generation: true,
      columns: PRIORITY_CLASS_COLUMNS,
      strategy: { ...chosenOnce(checked(PRIORITY_RULES, priorityProblems)), admit: admitPriorityClass },
    }),
    define({
      group: "storage.k8s.io",
      kind: "StorageClass",
      plural: "storageclasses",
      shortNames: ["sc"],
      clusterScoped: true,
      columns: STORAGE_CLASS_COLUMNS,
      strategy: chosenOnce(checked(STORAGE_CLASS_RULES, storageClassProblems)),
    }),
  ];
}

function rbacKinds(): Definition[] {
  const group = "rbac.authorization.k8s.io";
  return [
    { group, kind: "Role", plural: "roles", strategy: roleStrategy },
    {
      group,
      kind: "ClusterRole",
      plural: "clusterroles",
      clusterScoped: true,
      strategy: roleStrategy,
      columns: CLUSTER_ROLE_COLUMNS,
    },
    { group, kind: "RoleBinding", plural: "rolebindings", strategy: bindingStrategy, columns: BINDING_COLUMNS },
    {
      group,
      kind: "ClusterRoleBinding",
      plural: "clusterrolebindings",
      clusterScoped: true,
      strategy: bindingStrategy,
      columns: BINDING_COLUMNS,
    },
  ];
}

function workloadKinds(): Definition[] {
  const group = "apps";
  const all = { group, categories: ["all"], generation: true, strategy: workloadStrategy };
  return [
    {
      ...all,
      kind: "Deployment",
      plural: "deployments",
      shortNames: ["deploy"],
      subresources: [STATUS, SCALE],
      columns: DEPLOYMENT_COLUMNS,
    },
    {
      ...all,
      kind: "ReplicaSet",
      plural: "replicasets",
      shortNames: ["rs"],
      subresources: [STATUS, SCALE],
      columns: REPLICA_SET_COLUMNS,
    },
    {
      ...all,
      kind: "StatefulSet",
      plural: "statefulsets",
      shortNames: ["sts"],
      subresources: [STATUS, SCALE],
      columns: STATEFUL_SET_COLUMNS,
    },
    {
      ...all,
      kind: "DaemonSet",
      plural: "daemonsets",
      shortNames: ["ds"],
      subresources: [STATUS],
      columns: DAEMON_SET_COLUMNS,
      strategy: daemonSetStrategy,
    },
    {
      ...all,
      group: "batch",
      kind: "Job",
      plural: "jobs",
      subresources: [STATUS],
      selectable: ["status.successful"],
      columns: JOB_COLUMNS,
      strategy: jobStrategy,
    },
  ];
}

/** Kinds that are asked, not stored. */
function reviewKinds(): Definition[] {
  const group = "authorization.k8s.io";
  return [
    { ...REVIEW, group, kind: "SelfSubjectAccessReview", plural: "selfsubjectaccessreviews" },
    { ...REVIEW, group, kind: "SelfSubjectRulesReview", plural: "selfsubjectrulesreviews" },
    { ...REVIEW, group, kind: "SubjectAccessReview", plural: "subjectaccessreviews" },
    { ...REVIEW, group, kind: "LocalSubjectAccessReview", plural: "localsubjectaccessreviews", clusterScoped: false },
    { ...REVIEW, group: "authentication.k8s.io", kind: "TokenReview", plural: "tokenreviews" },
    { ...REVIEW, group: "authentication.k8s.io", kind: "SelfSubjectReview", plural: "selfsubjectreviews" },
  ];
}
