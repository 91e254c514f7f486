import type {
  HealthMonitorCreate,
  HealthMonitorUpdate,
  L7PolicyCreate,
  L7RuleCreate,
  ListenerCreate,
  ListenerUpdate,
  LoadBalancerUpdate,
  MemberCreate,
  MemberUpdate,
  PoolCreate,
  PoolUpdate,
} from "@causeway/openstack";

/** A change of a pool's members. `more`: another change of the load balancer follows it. */
export type MemberStep = { readonly poolId: string; readonly more?: true } & (
  | { readonly type: "replace-members"; readonly members: readonly MemberCreate[] }
  | { readonly type: "create-member"; readonly body: MemberCreate }
  | { readonly type: "update-member"; readonly id: string; readonly change: MemberUpdate }
  | { readonly type: "delete-member"; readonly id: string }
);

/** A change of a health monitor. */
export type MonitorStep =
  | { readonly type: "create-monitor"; readonly body: HealthMonitorCreate }
  | {
      readonly type: "update-monitor";
      readonly id: string;
      readonly poolId: string;
      readonly change: HealthMonitorUpdate;
    }
  | { readonly type: "delete-monitor"; readonly id: string; readonly poolId: string };

/**
 * Changes of a load balancer and its parts, without L7. Each leaves it PENDING: a plan never has two of them, and waits
 * after each.
 */
export type TreeStep =
  | { readonly type: "update-load-balancer"; readonly id: string; readonly change: LoadBalancerUpdate }
  | { readonly type: "create-listener"; readonly body: ListenerCreate }
  | { readonly type: "update-listener"; readonly id: string; readonly change: ListenerUpdate }
  | { readonly type: "delete-listener"; readonly id: string }
  | { readonly type: "create-pool"; readonly body: PoolCreate }
  | { readonly type: "update-pool"; readonly id: string; readonly change: PoolUpdate }
  | { readonly type: "delete-pool"; readonly id: string }
  | MemberStep
  | MonitorStep;

/** Changes of L7 policies and their rules. Each leaves the load balancer PENDING, too. */
export type PolicyStep = { readonly listenerId: string } & (
  | { readonly type: "create-policy"; readonly body: L7PolicyCreate }
  | {
      readonly type: "update-policy";
      readonly id: string;
      readonly change: Partial<Omit<L7PolicyCreate, "listener_id">>;
    }
  | { readonly type: "delete-policy"; readonly id: string }
  | { readonly type: "create-rule"; readonly policyId: string; readonly body: L7RuleCreate }
);

/** Whether a step changes members of a pool. */
export function isOfMembers(step: { readonly type: string }): step is MemberStep {
  return ["replace-members", "create-member", "update-member", "delete-member"].includes(step.type);
}

/** Whether a step changes L7 policies or their rules. */
export function isOfPolicies(step: { readonly type: string }): step is PolicyStep {
  return ["create-policy", "update-policy", "delete-policy", "create-rule"].includes(step.type);
}
