export { createClusterApi, type ClusterApi, type ClusterApiOptions } from "./cluster-api.ts";
export { planCluster } from "./cluster/plan.ts";
export { planKubeadmConfig } from "./kubeadm-config/plan.ts";
export { planMachine } from "./machine/plan.ts";
export { planMachineDeployment } from "./machinedeployment/plan.ts";
export { planMachineSet } from "./machineset/plan.ts";
export { cloudConfig } from "./kubeadm-config/cloud-config.ts";
export { planControlPlane } from "./kubeadmcontrolplane/plan.ts";
export type { ControlPlaneAccess, EtcdMember, EtcdPlace } from "./objects/access.ts";
