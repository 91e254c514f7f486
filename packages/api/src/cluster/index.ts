export { Cluster, type ClusterSpec, type ClusterStatus } from "./cluster.ts";
export { Machine, type MachineSpec, type MachineStatus } from "./machine.ts";
export { MachineSet, type MachineSetSpec, type MachineSetStatus } from "./machine-set.ts";
export { MachineDeployment, type MachineDeploymentSpec, type MachineDeploymentStatus } from "./machine-deployment.ts";
