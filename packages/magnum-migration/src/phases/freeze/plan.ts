import { shortList } from "@causeway/foundation";
import type { PhasePlan, Step } from "../../phase.ts";
import type { MigrationRecord } from "../../record/record.ts";
import { caKeyRefusal } from "../ca-key.ts";
import type { CalledService } from "../switch/service-users.ts";
import { workloadText, type FoundWorkload, type Workload } from "../../workloads/workloads.ts";

/** What is read for `planFreeze`. */
export interface FreezeFacts {
  /** Those of `machineChangers` that the cluster has. */
  readonly changers: readonly FoundWorkload[];
  readonly agents: readonly { readonly name: string; readonly address: string; readonly isActive: boolean }[];
  /** Magnum refused a change by policy, in this run. */
  readonly isDenied: boolean;
  /** Phase import will have the private key of the cluster's CA. */
  readonly hasCaKey: boolean;
  /** Services of webhooks and APIServices, by their users: what the hosted API server has to reach. */
  readonly called: readonly CalledService[];
}

/** A step of phase freeze; rollback undoes each of them. */
export type FreezeStep = Step &
  (
    | { readonly type: "check-denied" }
    | { readonly type: "stop-workload"; readonly workload: Workload }
    | { readonly type: "stop-agent"; readonly address: string }
  );

/** Nothing may change the cluster's machines from here on: neither Magnum nor Heat, nor what drives them. */
export function planFreeze(
  { changers, agents, isDenied, hasCaKey, called }: FreezeFacts,
  { inventory }: MigrationRecord,
): PhasePlan<FreezeStep> {
  const refused = caKeyRefusal(hasCaKey, inventory);
  if (refused) return { steps: [], refused, proof: [] };
  const check: FreezeStep[] = isDenied
    ? []
    : [{ type: "check-denied", what: `check that Magnum's policy denies changes of cluster ${inventory.uuid}` }];
  const changing = changers
    .filter(({ state }) => state === "running")
    .map((workload): FreezeStep => ({
      type: "stop-workload",
      workload,
      what: `stop ${workloadText(workload)}: it gets no pods`,
    }));
  const stop = agents
    .filter(({ isActive }) => isActive)
    .map(({ name, address }): FreezeStep => ({
      type: "stop-agent",
      address,
      what: `stop heat-container-agent on ${name} (${address})`,
    }));
  return {
    ...calledNotes(called),
    steps: [...check, ...changing, ...stop],
    batch: check.length + changing.length + stop.length,
    proof: [
      `Magnum denies changes of cluster ${inventory.uuid}: status 403`,
      `heat-container-agent is stopped on ${agents.length} machines`,
      ...changers.map((workload) => `${workloadText(workload)} is to have no pods`),
    ],
  };
}

/** Users of Services that a note names; the others are counted. */
const NAMED = 10;

function calledNotes(called: readonly CalledService[]): { notes?: readonly string[] } {
  const users = called.flatMap((service) => service.users);
  if (users.length === 0) return {};
  return {
    notes: [
      `switch will be refused unless the hosted API server reaches the Services of ${shortList(users, NAMED)}: by a tunnel, or by routes to their pods`,
    ],
  };
}
