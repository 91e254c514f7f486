export { identityUsersOf } from "./admission/identity.ts";
export { openStackRules } from "./admission/rules.ts";
export {
  createOpenStackInfrastructure,
  type OpenStackInfrastructure,
  type OpenStackInfrastructureOptions,
} from "./infrastructure.ts";
export { resolveIdentity, type IdentityOwner } from "./identity/resolve.ts";
export { plan as planCluster, type ClusterPlan } from "./openstackcluster/plan.ts";
export type { ClusterCloud, Observed as ClusterObserved } from "./openstackcluster/model.ts";
export type { ClusterStep } from "./openstackcluster/steps.ts";
export { plan as planMachine, type MachinePlan } from "./openstackmachine/plan.ts";
export type { MachineCloud, Observed as MachineObserved, MachineOwner } from "./openstackmachine/model.ts";
export type { MachineStep } from "./openstackmachine/steps.ts";
export type { Hold, IdentityState } from "./identity/state.ts";
export { openSources, type Sources, type SourcesOptions } from "./sources.ts";
export {
  explainCluster,
  explainMachine,
  type ChangedObjects,
  type ClusterExplanation,
  type ExplainSources,
  type MachineGroup,
} from "./explain/explain.ts";
export type { ExplainedStep, Explanation } from "./explain/explanation.ts";
export type { ClusterOrphan } from "./sweep/model.ts";
export { sweepClusters, type ClusterSweep, type SweptResource } from "./sweep/sweep.ts";
