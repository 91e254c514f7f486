import type { ObjectKey, PlannedEvent, ServiceStatus, Wait } from "@causeway/kubernetes";
import { foresee } from "./foresee.ts";
import { gather, type Observed } from "./gather.ts";
import { gatherFrom, type ServiceSurroundings } from "./gather-from.ts";
import { planBoth } from "./plan-both.ts";
import { foresee as foreseeGroup } from "./security-group/foresee.ts";
import { gather as gatherGroup, type Observed as ObservedGroup } from "./security-group/gather.ts";
import { Leftovers } from "./security-group/leftovers.ts";
import { plan as planGroup } from "./security-group/plan.ts";
import { callsOfGroup } from "./security-group/step-calls.ts";
import type { Step as GroupStep } from "./security-group/steps.ts";
import { callsOf, type PlannedCall } from "./step-calls.ts";
import type { Step } from "./steps.ts";

/** Its informers are `run` by the caller. */
export type ExplainOptions = ServiceSurroundings;

export interface ExplainedStep<S = Step> {
  readonly step: S;
  readonly calls: readonly PlannedCall[];
}

/** Steps between two looks. */
export type ExplainedRound<S = Step> = readonly ExplainedStep<S>[];

/** What the reconciles of a Service would do from now on, if nothing else happened. */
export interface ServiceExplanation {
  /** Of its security group, which come first. */
  readonly securityGroup: readonly ExplainedRound<GroupStep>[];
  /** In their order. After each the load balancer is waited for where it is being changed. */
  readonly rounds: readonly ExplainedRound[];
  /** False: a load balancer is being changed or in ERROR now, so that only the next round can be told. */
  readonly complete: boolean;
  /** What they would wait for in the end. */
  readonly wait: Wait | undefined;
  /** Of the first round. */
  readonly events: readonly PlannedEvent[];
  /** As it would be published now. */
  readonly status: ServiceStatus;
}

/** Members that are sent one by one make the most rounds. */
const most = 10_000;

/**
 * Reads what a reconcile reads, and plans to the end, and does nothing of it. Undefined where there is no such Service, or none that
 * concerns load balancers here.
 */
export async function explainService(
  options: ExplainOptions,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ServiceExplanation | undefined> {
  const from = gatherFrom(options);
  await Promise.all([from.services.whenSynced(signal), from.nodes.whenSynced(signal)]);
  const observed = await gather(from, key, signal);
  if (!observed) return undefined;
  const group = await gatherGroup({ ...from, leftovers: new Leftovers(from.cloud, from.watch) }, key, signal);
  const { status, events = [] } = planBoth(observed, options.clock.now());
  const securityGroup = group ? groupRounds(group) : [];
  return { securityGroup, ...serviceRounds(observed, options.clock.now()), events, status };
}

function serviceRounds(observed: Observed, now: number): Pick<ServiceExplanation, "rounds" | "complete" | "wait"> {
  const rounds: ExplainedRound[] = [];
  const complete = [observed, observed.second].every(isWhole);
  for (let at = observed; rounds.length < most;) {
    const { steps, status, wait } = planBoth(at, now);
    if (steps.length === 0) return { rounds, complete, wait };
    rounds.push(steps.map((step) => ({ step, calls: callsOf(step) })));
    if (!complete) return { rounds, complete, wait };
    at = foresee(at, steps, status);
  }
  return { rounds, complete: false, wait: undefined };
}

/** The parts of a load balancer are read while it is ACTIVE only. */
function isWhole(observed: Observed | undefined): boolean {
  const lb = observed?.loadBalancers[0];
  return lb === undefined || lb.provisioning_status === "ACTIVE";
}

function groupRounds(observed: ObservedGroup): ExplainedRound<GroupStep>[] {
  const rounds: ExplainedRound<GroupStep>[] = [];
  for (let at = observed; rounds.length < most;) {
    const { steps } = planGroup(at);
    if (steps.length === 0) break;
    rounds.push(steps.map((step) => ({ step, calls: callsOfGroup(step) })));
    at = foreseeGroup(at, steps);
  }
  return rounds;
}
