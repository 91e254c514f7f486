import type { PhasePlan, Step } from "../../run/phase.ts";
import type { MigrationRecord } from "../../record/record.ts";

/** Programs in the cluster that change it by Magnum or Heat. */
export const drivers = ["cluster-autoscaler", "magnum-auto-healer", "draino"] as const;

/** Keeps how many replicas a Deployment had, for a rollback. */
export const replicasAnnotation = "migration.causeway.dev/replicas";

/** What is read for `planFreeze`. */
export interface FreezeFacts {
  readonly deployments: readonly { readonly name: string; readonly replicas: number }[];
  readonly agents: readonly { readonly name: string; readonly address: string; readonly isActive: boolean }[];
  /** Magnum refused a change by policy, in this run. */
  readonly isDenied: boolean;
}

/** A step of phase freeze; rollback undoes each of them. */
export type FreezeStep = Step &
  (
    | { readonly type: "check-denied" }
    | { readonly type: "scale-down"; readonly name: string; readonly replicas: number }
    | { readonly type: "stop-agent"; readonly address: string }
  );

/** Nothing may change the cluster's machines from here on: neither Magnum nor Heat, nor what drives them. */
export function planFreeze(
  { deployments, agents, isDenied }: FreezeFacts,
  { inventory }: MigrationRecord,
): PhasePlan<FreezeStep> {
  const check: FreezeStep[] = isDenied
    ? []
    : [{ type: "check-denied", what: `check that Magnum's policy denies changes of cluster ${inventory.uuid}` }];
  const scale = deployments
    .filter(({ replicas }) => replicas > 0)
    .map(({ name, replicas }): FreezeStep => ({
      type: "scale-down",
      name,
      replicas,
      what: `scale Deployment kube-system/${name} from ${replicas} to 0`,
    }));
  const stop = agents
    .filter(({ isActive }) => isActive)
    .map(({ name, address }): FreezeStep => ({
      type: "stop-agent",
      address,
      what: `stop heat-container-agent on ${name} (${address})`,
    }));
  return {
    steps: [...check, ...scale, ...stop],
    batch: check.length + scale.length + stop.length,
    proof: [
      `Magnum denies changes of cluster ${inventory.uuid}: status 403`,
      `heat-container-agent is stopped on ${agents.length} machines`,
      ...deployments.map(({ name }) => `Deployment kube-system/${name} has 0 replicas`),
    ],
  };
}
