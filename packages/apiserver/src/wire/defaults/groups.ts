import { array, isRecord, record, type Json } from "../../json/json.ts";
import { fill, type Rules } from "./rule.ts";

const CPU = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } },
};

const PERCENT = { type: "Percent", value: 100, periodSeconds: 15 };
const UP: Json = {
  stabilizationWindowSeconds: 0,
  selectPolicy: "Max",
  policies: [{ type: "Pods", value: 4, periodSeconds: 15 }, PERCENT],
};
const DOWN: Json = { selectPolicy: "Max", policies: [PERCENT] };

function fillAutoscaler(spec: Json): void {
  spec["minReplicas"] ??= 1;
  if (array(spec["metrics"]).length === 0) spec["metrics"] = [structuredClone(CPU)];
  const { behavior } = spec;
  if (!isRecord(behavior)) return;
  behavior["scaleUp"] = { ...structuredClone(UP), ...record(behavior["scaleUp"]) };
  behavior["scaleDown"] = { ...structuredClone(DOWN), ...record(behavior["scaleDown"]) };
}

function fillPolicy(spec: Json): void {
  spec["policyTypes"] ??= array(spec["egress"]).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}

const RBAC = "rbac.authorization.k8s.io";

function fillRoleRef(binding: Json): void {
  const role = record(binding["roleRef"]);
  role["apiGroup"] ||= RBAC;
  binding["roleRef"] = role;
}

function fillDevices(request: Json): void {
  request["allocationMode"] ??= "ExactCount";
  if (request["allocationMode"] === "ExactCount") request["count"] ??= 1;
}

/** Defaults of all other groups: autoscaling, networking, storage, scheduling, discovery, rbac and resource. */
export const GROUP_DEFAULTS: Rules = {
  "autoscaling.HorizontalPodAutoscalerSpec": fill({ minReplicas: 1 }),
  "autoscaling2.HorizontalPodAutoscalerSpec": fillAutoscaler,
  "networking.NetworkPolicyPort": fill({ protocol: "TCP" }),
  "networking.NetworkPolicySpec": fillPolicy,
  "networking.IngressClassParametersReference": fill({ scope: "Cluster" }),
  "storage.StorageClass": fill({ reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "storage.CSIDriverSpec": fill({
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    volumeLifecycleModes: ["Persistent"],
    requiresRepublish: false,
    seLinuxMount: false,
  }),
  "scheduling.PriorityClass": fill({ preemptionPolicy: "PreemptLowerPriority" }),
  "discovery.EndpointPort": fill({ name: "", protocol: "TCP" }),
  "rbac.RoleBinding": fillRoleRef,
  "rbac.ClusterRoleBinding": fillRoleRef,
  "rbac.Subject"(subject) {
    if (subject["kind"] === "User" || subject["kind"] === "Group") subject["apiGroup"] ??= RBAC;
  },
  "resource.ExactDeviceRequest": fillDevices,
  "resource.DeviceSubRequest": fillDevices,
};
