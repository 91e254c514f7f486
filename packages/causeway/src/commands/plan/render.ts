import type { ServiceExplanation } from "@causeway/cloud-controller-manager";

/** What is printed of an explanation, whatever it is of. */
export interface PrintedPlan {
  readonly formerName?: string | undefined;
  readonly securityGroup?: readonly Round[];
  readonly rounds: readonly Round[];
  readonly complete: boolean;
  readonly wait: { readonly for: string } | undefined;
  readonly events: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  readonly status: unknown;
}

type Round = readonly {
  readonly step: { readonly type: string };
  readonly calls: readonly { readonly method: string; readonly service: string; readonly route: string }[];
  readonly aim: {
    readonly target?: string | undefined;
    readonly differences?:
      | readonly { readonly field: string; readonly from?: unknown; readonly to?: unknown }[]
      | undefined;
  };
}[];

/** A Service, and what its next reconciles would do. */
export interface PlannedService {
  /** NAMESPACE/NAME. */
  readonly service: string;
  readonly explained: ServiceExplanation;
}

/** The rounds with their steps, fields that change, and calls; then what they come to. */
export function renderPlan(plan: PrintedPlan): string {
  const { formerName, securityGroup = [], rounds, complete, wait, events, status } = plan;
  const steps = [...securityGroup, ...rounds].flat();
  const calls = steps.flatMap((step) => step.calls);
  const lines = [
    ...(formerName === undefined ? [] : [renaming(formerName)]),
    ...securityGroup.flatMap((round, i) => roundLines(`security group, round ${i + 1}:`, round)),
    ...rounds.flatMap((round, i) => roundLines(`round ${i + 1}:`, round)),
    ...events.map((event) => `event ${event.type} ${event.reason}: ${event.message}`),
    ...(wait === undefined ? [] : [`then waits for ${wait.for}`]),
    `status ${JSON.stringify(status)}`,
    steps.length === 0
      ? "nothing to do"
      : [
          counted(steps.length, "step"),
          `in ${counted(securityGroup.length + rounds.length, "round")},`,
          counted(calls.length, "call"),
        ].join(" "),
    ...(complete ? [] : ["a load balancer is in ERROR: where the cloud cannot fail it over, other steps follow"]),
  ];
  return `${lines.join("\n")}\n`;
}

/** A plan with a wrong --cluster-name looks like that of a cluster that was renamed. */
function renaming(formerName: string): string {
  return `warning: the load balancer is ${formerName}, of another cluster name: unless the cluster was renamed, give its own with --cluster-name`;
}

/** True if a reconcile would change something. */
export function hasSteps({ securityGroup = [], rounds }: PrintedPlan): boolean {
  return securityGroup.length + rounds.length > 0;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** A heading, and the steps with what they change and their calls. */
function roundLines(heading: string, round: Round): string[] {
  return [
    heading,
    ...round.flatMap(({ step, calls, aim }) => [
      aim.target === undefined ? nameOf(step) : `${nameOf(step)} ${aim.target}`,
      ...(aim.differences ?? []).map(({ field, from, to }) => `    ~ ${field}: ${shown(from)} -> ${shown(to)}`),
      ...calls.map(callLine),
    ]),
  ];
}

function shown(value: unknown): string {
  return value === undefined ? "(unset)" : JSON.stringify(value);
}

/** Of a step for the other address family: which. */
function nameOf(step: { readonly type: string; readonly step?: { readonly type: string } }): string {
  return step.step ? `${step.step.type} (other family)` : step.type;
}

function callLine({ method, service, route }: Round[number]["calls"][number]): string {
  return `    ${method} ${service} ${route}`;
}
