import { isDeepStrictEqual } from "node:util";
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
  /** As it is now: only what differs from it is printed. Absent: the status is printed whole. */
  readonly published?: unknown;
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
    ...("published" in plan ? statusLines(plan.published, status) : [`status ${JSON.stringify(status)}`]),
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

/** What of a status changes, field by field. */
function statusLines(from: unknown, to: unknown): string[] {
  const changes = changesOf(from, to, "");
  if (changes.length === 0) return ["status does not change"];
  return ["status:", ...changes.map((change) => `    ~ ${change.field}: ${shown(change.from)} -> ${shown(change.to)}`)];
}

interface Change {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

function changesOf(from: unknown, to: unknown, field: string): Change[] {
  const [before, after] = [partsOf(from), partsOf(to)];
  if (before === undefined || after === undefined) return isDeepStrictEqual(from, to) ? [] : [{ field, from, to }];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const path = Array.isArray(to) ? `${field}[${key}]` : field === "" ? key : `${field}.${key}`;
    return changesOf(before.get(key), after.get(key), path);
  });
}

/** The fields of an object, and the elements of a list by their type, name or place. Undefined: it has no parts. */
function partsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value).filter(([, field]) => field !== undefined));
  const keys = value.map(keyOf);
  // Addresses of one type, or subnets of one name, differ by their place.
  const isUnique = new Set(keys).size === keys.length;
  return new Map(value.map((element: unknown, i) => [(isUnique ? keys[i] : undefined) ?? String(i), element]));
}

function keyOf(element: unknown): string | undefined {
  const { type, name, id } = (element ?? {}) as Readonly<Record<string, unknown>>;
  return [type, name, id].find((each) => typeof each === "string");
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
