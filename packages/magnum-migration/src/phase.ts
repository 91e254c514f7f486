import type { Clock } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";
import type { Cloud } from "@causeway/openstack";
import type { KeystoneAddress } from "@causeway/magnum-api";
import type { MagnumDatabase } from "./database/database.ts";
import type { MachineShell } from "./masters/shell.ts";
import type { MigrationRecord, PhaseName } from "./record/record.ts";

/** What phases work with. */
export interface Tools {
  /** The management cluster. */
  readonly management: KubernetesClient;
  /** The cluster that is migrated, at its own address. */
  readonly source: KubernetesClient;
  readonly cloud: Cloud;
  /** An administrator's cloud, for Magnum's trustee; undefined: the trustee is kept. */
  readonly admin?: Cloud;
  /** Magnum's own; undefined: its row is kept. */
  readonly database?: MagnumDatabase;
  readonly shell: MachineShell;
  readonly clock: Clock;
  /** clouds.yaml with an entry "magnum", for the cluster's controllers. */
  readonly cloudsYaml: string;
  /** Keystone, as the Magnum API gives it to control planes. */
  readonly keystone: KeystoneAddress;
  /** The address at which the masters reach the host of the hosted control plane. */
  readonly peerHost: string;
  /** URLs of the masters' etcd. Default: port 2379 of each master. */
  readonly etcdUrls?: readonly string[];
  /** Of this run, unlike any other's. Default: by host and process. */
  readonly identity?: string;
  /** Whether the run of an identity is known to have ended. Default: by the processes of this machine. */
  readonly isGone?: (identity: string) => boolean;
  /** The private key of the cluster's CA, as PEM. Default: that of the first master. */
  readonly caKey?: string;
  /** Switch although the hosted API server does not reach Services of webhooks and APIServices. */
  readonly acceptUnreachable?: boolean;
  /** Name or id of the image of new nodes. Default: what the record has. */
  readonly nodeImage?: string;
  /** Shows a line of progress. */
  readonly report: (line: string) => void;
  /** What was checked in this run. */
  readonly checked: Set<string>;
}

/** One thing to do, with its words for people. */
export interface Step {
  readonly type: string;
  readonly what: string;
}

/** The steps that are left of a phase, or why it cannot begin. */
export interface PhasePlan<S extends Step> {
  readonly steps: readonly S[];
  /** How many of the first steps may be done one after the other without another read. Default: 1. */
  readonly batch?: number;
  /** Nothing to do now, and it is not done yet. */
  readonly wait?: string;
  /** What of `wait` must change for the phase to be making progress. Default: all of it. */
  readonly progress?: string;
  /** What users of the project read in place of `wait`, which may have addresses of the management cluster. */
  readonly publicWait?: string;
  /** It cannot continue, in words. */
  readonly refused?: { readonly code: string; readonly message: string; readonly hint: string };
  /** What to know before the steps are done. It holds nothing up. */
  readonly notes?: readonly string[];
  /** What is true when the phase is done. */
  readonly proof: readonly string[];
}

/** What will be read later, as far as that is known. */
export interface Prediction<F> {
  /** Undefined: what comes next depends on what will be read. */
  readonly facts?: F;
  /** What the steps that follow depend on, in words that follow "would". */
  readonly depends?: string;
}

/** One phase: what it reads, what it decides, how it acts. */
export interface Phase<F, S extends Step> {
  readonly name: PhaseName | "rollback";
  /** The record with what this run is given for it: checked before anything is written. */
  prepare?(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<MigrationRecord>;
  gather(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<F>;
  plan(facts: F, record: MigrationRecord): PhasePlan<S>;
  /** What will be read once the plan's next steps were done, or what it waits for is there. For plans to read first. */
  predict?(facts: F, plan: PhasePlan<S>, record: MigrationRecord): Prediction<F> | undefined;
  perform(tools: Tools, record: MigrationRecord, step: S, signal: AbortSignal): Promise<void>;
}

/** What of a phase is read and decided, ready to be performed. */
export interface Round {
  readonly plan: PhasePlan<Step>;
  /** All that is left of the phase, as far as it is known, with what it waits for in between. */
  remaining(): PhasePlan<Step>;
  perform(index: number): Promise<void>;
}

/** A phase without its types. */
export interface AnyPhase {
  readonly name: PhaseName | "rollback";
  prepare(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<MigrationRecord>;
  round(tools: Tools, record: MigrationRecord, signal: AbortSignal): Promise<Round>;
}

/** More rounds than the largest cluster has: a plan that does not end is cut off. */
const ROUNDS = 10_000;
/** The type of what is no step: the refusal that is known to follow. */
const REFUSED = "refused";

/** As a step, since it comes after others. */
function laterRefusal({ code, message, hint }: NonNullable<PhasePlan<Step>["refused"]>): Step {
  return { type: REFUSED, what: `be refused then: ${message} (${code}). ${hint}` };
}

/** Whether a phase is refused now, or is known to be refused after steps that it can do. For plans with all steps. */
export const isBlocked = ({ refused, steps }: Pick<PhasePlan<Step>, "refused" | "steps">): boolean =>
  refused !== undefined || steps.some(({ type }) => type === REFUSED);

/**
 * The plan with all steps that are left, by the effect that each has on what is read. Waits between them are steps,
 * too; what it waits for now comes before its steps. Pure.
 */
export function remainingOf<F, S extends Step>(
  phase: Pick<Phase<F, S>, "plan" | "predict">,
  facts: F,
  record: MigrationRecord,
): PhasePlan<Step> {
  const first = phase.plan(facts, record);
  const steps: Step[] = [];
  let plan = first;
  let known = facts;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round > 0 && plan.refused) steps.push(laterRefusal(plan.refused));
    if (round > 0 && plan.wait !== undefined) steps.push({ type: "wait", what: `wait for ${plan.wait}` });
    const isOver = plan.refused !== undefined || (plan.steps.length === 0 && plan.wait === undefined);
    const next = isOver ? undefined : phase.predict?.(known, plan, record);
    steps.push(...(next === undefined ? plan.steps : plan.steps.slice(0, plan.batch ?? 1)));
    if (next?.depends !== undefined) steps.push({ type: "depends", what: next.depends });
    if (next?.facts === undefined) break;
    known = next.facts;
    plan = phase.plan(known, record);
  }
  return { ...first, steps };
}

/** A phase whose plan and the steps that it performs are of one read each. */
export function definePhase<F, S extends Step>(phase: Phase<F, S>): AnyPhase {
  return {
    name: phase.name,
    prepare: async (tools, record, signal) => (await phase.prepare?.(tools, record, signal)) ?? record,
    async round(tools, record, signal) {
      const facts = await phase.gather(tools, record, signal);
      const plan = phase.plan(facts, record);
      return {
        plan,
        remaining: () => remainingOf(phase, facts, record),
        async perform(index) {
          const step = plan.steps[index];
          if (step) await phase.perform(tools, record, step, signal);
        },
      };
    },
  };
}
