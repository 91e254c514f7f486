import { isDeepStrictEqual } from "node:util";
import type { ObjectKey, PlannedEvent, ServiceStatus, StepAim, Wait } from "@causeway/kubernetes";
import { aimOf } from "./brake.ts";
import { dryRun } from "./dry-run.ts";
import { gather } from "./gather.ts";
import type { Observed } from "./observed.ts";
import { gatherFrom, type ServiceSurroundings } from "./gather-from.ts";
import { planBoth } from "./plan-both.ts";
import { dryRun as dryRunGroup } from "./security-group/dry-run.ts";
import { gather as gatherGroup, type Observed as ObservedGroup } from "./security-group/gather.ts";
import { Leftovers } from "./security-group/leftovers.ts";
import { plan as planGroup } from "./security-group/plan.ts";
import { callsOfGroup } from "./security-group/step-calls.ts";
import type { Step as GroupStep } from "./security-group/steps.ts";
import { callsOf, type PlannedCall } from "./step-calls.ts";
import type { Step } from "./steps.ts";

/** Its informers are `run` by the caller. */
export type ExplainOptions = ServiceSurroundings;

/** A step of a plan with its calls, and what it changes from and to. */
export interface ExplainedStep<S = Step> {
  readonly step: S;
  readonly calls: readonly PlannedCall[];
  /** What the step changes, with the value of each field before and after it. */
  readonly aim: StepAim;
}

/** Steps between two reads. */
export type ExplainedRound<S = Step> = readonly ExplainedStep<S>[];

/** What the reconciles of a Service would do from now on, if nothing else happened. */
export interface ServiceExplanation {
  /** The name of its load balancer, which has another cluster name in it; the plan renames it. */
  readonly formerName?: string | undefined;
  /** Of its security group, which come first. */
  readonly securityGroup: readonly ExplainedRound<GroupStep>[];
  /**
   * In their order. Before and after each a load balancer that is being changed is waited for: its parts are thought to
   * become as they are requested.
   */
  readonly rounds: readonly ExplainedRound[];
  /**
   * False when a load balancer is in ERROR: whether the cloud permits a failover, or an operator repairs it, is not
   * known.
   */
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
 * Reads what a reconcile reads, and plans to the end, and does nothing of it. Undefined where there is no such Service,
 * or none that concerns load balancers here.
 */
export async function explainService(
  options: ExplainOptions,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<ServiceExplanation | undefined> {
  const from = { ...gatherFrom(options), whole: true };
  await Promise.all([from.services.whenSynced(signal), from.nodes.whenSynced(signal)]);
  const observed = await gather(from, key, signal);
  if (!observed) return undefined;
  const group = await gatherGroup({ ...from, leftovers: new Leftovers(from.cloud, from.watch) }, key, signal);
  const { formerName } = observed;
  return {
    ...(formerName === undefined ? {} : { formerName }),
    securityGroup: group ? groupRounds(group) : [],
    ...serviceRounds(observed, options.clock.now()),
  };
}

function serviceRounds(observed: Observed, now: number): Omit<ServiceExplanation, "securityGroup"> {
  const first = planBoth(observed, now);
  const { status, events = [] } = first;
  const rounds: ExplainedRound[] = [];
  for (let [at, planned] = [observed, first]; rounds.length < most; planned = planBoth(at, now)) {
    const { steps, wait } = planned;
    const broken = isBroken(at) || rounds.flat().some(({ step }) => isFailover(step));
    if (steps.length === 0 && !isUnderWay(at)) return { rounds, complete: !broken, wait, events, status };
    const current = at;
    if (steps.length > 0) rounds.push(steps.map((step) => ({ step, calls: callsOf(step), aim: aimIn(current, step) })));
    at = dryRun(at, steps, planned.status);
  }
  return { rounds, complete: false, wait: undefined, events, status };
}

function aimIn(observed: Observed, step: Step): StepAim {
  const aim = aimOf(step, observed);
  return { ...aim, differences: (aim.differences ?? []).filter(({ from, to }) => !isDeepStrictEqual(from, to)) };
}

/** A load balancer is being changed or deleted. */
function isUnderWay({ loadBalancers, leaving, second }: Observed): boolean {
  const changing = loadBalancers.some((lb) => lb.provisioning_status.startsWith("PENDING_"));
  return changing || leaving.length > 0 || (second !== undefined && isUnderWay(second));
}

function isBroken({ loadBalancers, second }: Observed): boolean {
  return loadBalancers[0]?.provisioning_status === "ERROR" || (second !== undefined && isBroken(second));
}

function isFailover(step: Step): boolean {
  return step.type === "of-second" ? isFailover(step.step) : step.type === "failover";
}

function groupRounds(observed: ObservedGroup): ExplainedRound<GroupStep>[] {
  const rounds: ExplainedRound<GroupStep>[] = [];
  for (let at = observed; rounds.length < most;) {
    const { steps } = planGroup(at);
    if (steps.length === 0) break;
    rounds.push(steps.map((step) => ({ step, calls: callsOfGroup(step), aim: { type: step.type } })));
    at = dryRunGroup(at, steps);
  }
  return rounds;
}
