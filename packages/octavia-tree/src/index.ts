export { listenerSettings, monitorBody } from "./bodies.ts";
export { partsInCreate } from "./create-body.ts";
export {
  restriction,
  type DesiredListener,
  type DesiredMonitor,
  type DesiredPolicy,
  type DesiredPool,
  type DesiredTree,
  type Upkeep,
  type ListenerSettings,
  type ListenerTimeouts,
} from "./desired.ts";
export { treeAfter, treeOfCreate } from "./dry-run-tree.ts";
export * from "./backoffs.ts";
export { isAtLeast, OctaviaReader, type OctaviaFacts } from "./octavia-facts.ts";
export { performPolicy, performTree, type PerformTree } from "./perform-tree.ts";
export { enabled, listenerChange } from "./plan-listener.ts";
export { isSinglyCheaper, memberChange } from "./plan-members.ts";
export { policyChanges, type PolicyGoal } from "./plan-policies.ts";
export { poolChanges, poolOf, removal, transport } from "./plan-pool.ts";
export { nextTreeChange, treeChanges, type AnyTreeStep, type ObservedTree, type Ownership } from "./plan-tree.ts";
export { PolicyDetails } from "./policy-details.ts";
export { policyName, rulesNamed, type ObservedPolicy } from "./policy-key.ts";
export { asWritten, PoolDetails, type ObservedPool, type PoolRecord } from "./pool-details.ts";
export { defaultProvider, isSameProvider, limitsOf, type MemberCosts, type ProviderLimits } from "./provider.ts";
export { sameSet } from "./same-set.ts";
export { treeCall, type TreeCall } from "./step-calls.ts";
export {
  isOfMembers,
  isOfPolicies,
  type MemberStep,
  type MonitorStep,
  type PolicyStep,
  type TreeStep,
} from "./steps.ts";
export { TreeFreshness } from "./tree-freshness.ts";
