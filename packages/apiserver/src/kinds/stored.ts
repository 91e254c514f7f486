import { defaultIngressClass } from "../admission/builtin/classes.ts";
import { protectedBy } from "../admission/builtin/protection.ts";
import { CRON_JOB_COLUMNS } from "../tables/job-columns.ts";
import {
  CONTROLLER_REVISION_COLUMNS,
  POD_TEMPLATE_COLUMNS,
  REPLICATION_CONTROLLER_COLUMNS,
} from "../tables/group-columns.ts";
import {
  INGRESS_CLASS_COLUMNS,
  INGRESS_COLUMNS,
  NAME_AND_AGE,
  NETWORK_POLICY_COLUMNS,
  POD_DISRUPTION_BUDGET_COLUMNS,
  RESOURCE_CLAIM_COLUMNS,
  RESOURCE_SLICE_COLUMNS,
  RUNTIME_CLASS_COLUMNS,
} from "../tables/network-columns.ts";
import {
  CSI_DRIVER_COLUMNS,
  CSI_NODE_COLUMNS,
  RESOURCE_QUOTA_COLUMNS,
  VOLUME_ATTACHMENT_COLUMNS,
  VOLUME_ATTRIBUTES_CLASS_COLUMNS,
} from "../tables/storage-columns.ts";
import { autoscalers } from "./autoscaler.ts";
import { chosenOnce } from "./immutable-fields.ts";
import { define, SCALE, STATUS, type Definition } from "../contract/define.ts";
import type { Resource } from "../contract/resource.ts";
import { jobSpecProblems } from "./job-rules.ts";
import { limitRangeProblems } from "./limit-rules.ts";
import { ingressClassProblems, ingressProblems, networkPolicyProblems } from "./network-rules.ts";
import { budgetProblems, runtimeClassProblems } from "./policy-rules.ts";
import { quotaProblems } from "./quota-rules.ts";
import { attachmentProblems, driverSpecProblems } from "./volume-rules.ts";
import { at, record } from "../json/json.ts";
import { checked, ruled } from "./rules.ts";
import {
  ATTRIBUTES_RULES,
  BUDGET_RULES,
  CAPACITY_RULES,
  CRON_RULES,
  CSI_DRIVER_RULES,
  CSI_NODE_RULES,
  INGRESS_CLASS_RULES,
  INGRESS_RULES,
  POLICY_RULES,
  REVISION_RULES,
  RUNTIME_RULES,
  TEMPLATE_RULES,
} from "./stored-rules.ts";

/**
 * Kinds that are kept for the programs that act on them: read, filled in and checked here, but nothing is made of them.
 */
export function storedKinds(): Resource[] {
  const plain = [...coreKinds(), ...networkKinds(), ...storageKinds(), ...deviceKinds(), ...otherKinds()];
  return [...plain.map((kind) => define({ ...kind, strategy: chosenOnce(kind.strategy) })), autoscalers()];
}

function coreKinds(): Definition[] {
  return [
    {
      kind: "LimitRange",
      plural: "limitranges",
      shortNames: ["limits"],
      strategy: checked([], ({ spec }) => limitRangeProblems(record(spec))),
    },
    {
      kind: "PodTemplate",
      plural: "podtemplates",
      generation: true,
      columns: POD_TEMPLATE_COLUMNS,
      strategy: ruled(TEMPLATE_RULES),
    },
    {
      kind: "ReplicationController",
      plural: "replicationcontrollers",
      shortNames: ["rc"],
      categories: ["all"],
      subresources: [STATUS, SCALE],
      selectable: ["status.replicas"],
      generation: true,
      columns: REPLICATION_CONTROLLER_COLUMNS,
    },
    {
      kind: "ResourceQuota",
      plural: "resourcequotas",
      shortNames: ["quota"],
      subresources: [STATUS],
      columns: RESOURCE_QUOTA_COLUMNS,
      strategy: checked([], ({ spec }) => quotaProblems(record(spec))),
    },
  ];
}

function networkKinds(): Definition[] {
  const all = { group: "networking.k8s.io", generation: true };
  return [
    {
      ...all,
      kind: "Ingress",
      plural: "ingresses",
      shortNames: ["ing"],
      subresources: [STATUS],
      columns: INGRESS_COLUMNS,
      strategy: {
        mutate: defaultIngressClass,
        ...checked(INGRESS_RULES, ({ spec }) => ingressProblems(record(spec))),
      },
    },
    {
      ...all,
      kind: "IngressClass",
      plural: "ingressclasses",
      clusterScoped: true,
      columns: INGRESS_CLASS_COLUMNS,
      strategy: checked(INGRESS_CLASS_RULES, ({ spec }) => ingressClassProblems(record(spec))),
    },
    {
      ...all,
      kind: "NetworkPolicy",
      plural: "networkpolicies",
      shortNames: ["netpol"],
      columns: NETWORK_POLICY_COLUMNS,
      strategy: checked(POLICY_RULES, ({ spec }) => networkPolicyProblems(record(spec))),
    },
  ];
}

function storageKinds(): Definition[] {
  const all = { group: "storage.k8s.io", clusterScoped: true };
  return [
    {
      ...all,
      kind: "CSIDriver",
      plural: "csidrivers",
      columns: CSI_DRIVER_COLUMNS,
      strategy: checked(CSI_DRIVER_RULES, ({ spec }) => driverSpecProblems(record(spec))),
    },
    { ...all, kind: "CSINode", plural: "csinodes", columns: CSI_NODE_COLUMNS, strategy: ruled(CSI_NODE_RULES) },
    {
      ...all,
      kind: "CSIStorageCapacity",
      plural: "csistoragecapacities",
      clusterScoped: false,
      strategy: ruled(CAPACITY_RULES),
    },
    {
      ...all,
      kind: "VolumeAttachment",
      plural: "volumeattachments",
      subresources: [STATUS],
      columns: VOLUME_ATTACHMENT_COLUMNS,
      strategy: checked([], ({ spec }) => attachmentProblems(record(spec))),
    },
    {
      ...all,
      kind: "VolumeAttributesClass",
      plural: "volumeattributesclasses",
      shortNames: ["vac"],
      columns: VOLUME_ATTRIBUTES_CLASS_COLUMNS,
      strategy: { mutate: protectedBy("kubernetes.io/vac-protection"), ...ruled(ATTRIBUTES_RULES) },
    },
  ];
}

function deviceKinds(): Definition[] {
  const group = "resource.k8s.io";
  return [
    {
      group,
      kind: "DeviceClass",
      plural: "deviceclasses",
      clusterScoped: true,
      generation: true,
      columns: NAME_AND_AGE,
    },
    {
      group,
      kind: "ResourceClaim",
      plural: "resourceclaims",
      subresources: [STATUS],
      columns: RESOURCE_CLAIM_COLUMNS,
    },
    { group, kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates", columns: NAME_AND_AGE },
    {
      group,
      kind: "ResourceSlice",
      plural: "resourceslices",
      clusterScoped: true,
      selectable: ["spec.nodeName", "spec.driver"],
      generation: true,
      columns: RESOURCE_SLICE_COLUMNS,
    },
  ];
}

function otherKinds(): Definition[] {
  return [
    {
      group: "policy",
      kind: "PodDisruptionBudget",
      plural: "poddisruptionbudgets",
      shortNames: ["pdb"],
      subresources: [STATUS],
      generation: true,
      columns: POD_DISRUPTION_BUDGET_COLUMNS,
      strategy: checked(BUDGET_RULES, ({ spec }) => budgetProblems(record(spec))),
    },
    {
      group: "batch",
      kind: "CronJob",
      plural: "cronjobs",
      shortNames: ["cj"],
      categories: ["all"],
      subresources: [STATUS],
      generation: true,
      columns: CRON_JOB_COLUMNS,
      strategy: checked(CRON_RULES, ({ spec }) =>
        jobSpecProblems(record(at(spec, "jobTemplate", "spec")), "spec.jobTemplate.spec", false),
      ),
    },
    {
      group: "apps",
      kind: "ControllerRevision",
      plural: "controllerrevisions",
      columns: CONTROLLER_REVISION_COLUMNS,
      strategy: ruled(REVISION_RULES),
    },
    {
      group: "node.k8s.io",
      kind: "RuntimeClass",
      plural: "runtimeclasses",
      clusterScoped: true,
      columns: RUNTIME_CLASS_COLUMNS,
      strategy: checked(RUNTIME_RULES, runtimeClassProblems),
    },
  ];
}
