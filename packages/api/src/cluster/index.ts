export { ClusterClass, type ClusterClassSpec, type ClusterClassStatus } from "./cluster-class.ts";
export { MachineDrainRule, type MachineDrainRuleSpec } from "./machine-drain-rule.ts";
export {
  MachineHealthCheck,
  type MachineHealthCheckSpec,
  type MachineHealthCheckStatus,
} from "./machine-health-check.ts";
export { MachinePool, type MachinePoolSpec, type MachinePoolStatus } from "./machine-pool.ts";
export { Cluster, type ClusterSpec, type ClusterStatus } from "./cluster.ts";
export { nodeMetadataApplied, nodeMetadataOf } from "./node-metadata.ts";
export { Machine, type MachineSpec, type MachineStatus } from "./machine.ts";
export { MachineSet, type MachineSetSpec, type MachineSetStatus } from "./machine-set.ts";
export { MachineDeployment, type MachineDeploymentSpec, type MachineDeploymentStatus } from "./machine-deployment.ts";
