import { isDeepStrictEqual } from "node:util";
import type { Plan, PlannedEvent } from "@causeway/kubernetes";
import type { ObservedBalancer } from "./balancer.ts";
import type { PlannedCall } from "./step-calls.ts";

interface Difference {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** A step of a plan with its calls. */
export interface ExplainedStep {
  readonly step: { readonly type: string };
  readonly calls: readonly PlannedCall[];
  /** What it changes, with the value of each field before and after it. */
  readonly aim: { readonly type: string; readonly target?: string; readonly differences: readonly Difference[] };
}

/** What the reconciles of an Ingress or a Gateway would do from now on, if nothing else happened. */
export interface Explanation {
  /** In their order. Before and after each a load balancer that is being changed is waited for. */
  readonly rounds: readonly (readonly ExplainedStep[])[];
  /** False: more rounds follow than are shown. */
  readonly complete: boolean;
  readonly wait: { readonly for: string } | undefined;
  /** Of the first round. */
  readonly events: readonly PlannedEvent[];
  /** As it would be published now. */
  readonly status: unknown;
}

/** Members that are sent one by one make the most rounds. */
const MOST = 10_000;

/** How the plans of one kind of owner are made, and what their steps would change in what is observed. */
export interface Explained<Observed, Step> {
  readonly plan: (observed: Observed, now: number) => Plan<Step, unknown>;
  readonly dryRun: (observed: Observed, steps: readonly Step[]) => Observed;
  readonly calls: (step: Step) => PlannedCall[];
  readonly balancerOf: (observed: Observed) => ObservedBalancer;
}

/** Plans to the end, and does nothing of it. */
export function explainRounds<Observed, Step extends { readonly type: string }>(
  { plan, dryRun, calls, balancerOf }: Explained<Observed, Step>,
  observed: Observed,
  now: number,
): Explanation {
  const first = plan(observed, now);
  const { status, events = [] } = first;
  const rounds: ExplainedStep[][] = [];
  for (let [at, planned] = [observed, first]; rounds.length < MOST; planned = plan(at, now)) {
    const { steps, wait } = planned;
    if (steps.length === 0)
      return {
        rounds,
        complete: true,
        wait: wait && { for: wait.for },
        events: warned(events, planned.events),
        status,
      };
    const current = balancerOf(at);
    rounds.push(steps.map((step) => ({ step, calls: calls(step), aim: aimOf(step, current) })));
    at = dryRun(at, steps);
  }
  return { rounds, complete: false, wait: undefined, events, status };
}

/** Warnings appear once the steps before them are done; each is shown once. */
function warned(first: readonly PlannedEvent[], last: readonly PlannedEvent[] = []): PlannedEvent[] {
  const more = last.filter(({ type, message }) => type === "Warning" && !first.some((e) => e.message === message));
  return [...first, ...more];
}

function aimOf(step: { readonly type: string }, observed: ObservedBalancer): ExplainedStep["aim"] {
  const { id, change, name } = step as { id?: string; change?: object; name?: string };
  const before = id === undefined ? undefined : partOf(observed, id);
  const fields = Object.entries(change ?? {}).map(([field, to]) => ({
    field,
    from: before?.[field],
    to: to as unknown,
  }));
  const target = id ?? name;
  return {
    type: step.type,
    ...(target === undefined ? {} : { target }),
    differences: fields.filter(({ from, to }) => !isDeepStrictEqual(from, to)),
  };
}

function partOf({ found, tree }: ObservedBalancer, id: string): Readonly<Record<string, unknown>> | undefined {
  const policies = [...(tree?.policies.values() ?? [])].flat().map(({ policy }) => policy);
  const pools = tree?.pools ?? [];
  const members = pools.flatMap((pool) => pool.members);
  const all: readonly { readonly id: string }[] = [
    ...found,
    ...(tree?.listeners ?? []),
    ...pools.map(({ pool }) => pool),
    ...members,
    ...policies,
  ];
  return all.find((part) => part.id === id) as Readonly<Record<string, unknown>> | undefined;
}
