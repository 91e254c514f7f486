export { createClusterApi, type ClusterApi, type ClusterApiOptions } from "./cluster-api.ts";
export { plan as planCluster } from "./cluster/plan.ts";
export { plan as planKubeadmConfig } from "./kubeadm-config/plan.ts";
export { plan as planMachine } from "./machine/plan.ts";
export { plan as planMachineDeployment } from "./machinedeployment/plan.ts";
export { plan as planMachineSet } from "./machineset/plan.ts";
export { cloudConfig } from "./kubeadm-config/cloud-config.ts";
export { plan as planControlPlane } from "./kubeadmcontrolplane/plan.ts";
export type { ControlPlaneAccess, EtcdMember, EtcdPlace } from "./objects/access.ts";
export { restoreClusters, saveClusters, type RestoreOptions, type SaveOptions } from "./move/folder.ts";
export {
  moveClusters,
  type ControlPlaneTransfer,
  type Measurement,
  type MoveOptions,
  type MoveResult,
} from "./move/move.ts";
export { isMoving, namespacesToMove } from "./move/namespaces.ts";
export { classKeyOf, type Related } from "./admission/request.ts";
export { clusterApiRules } from "./admission/rules.ts";
