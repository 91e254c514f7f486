import type { OpenStackDeploymentStatus } from "@causeway/api";
import type { DaemonSet, KubeObject, Node } from "@causeway/kubernetes";
import type { Component } from "../model/component.ts";
import type { Desired } from "../render/desired.ts";
import { differs } from "./difference.ts";
import { idOf, type Observed } from "./gather.ts";
import { readinessOf, serves, type Readiness } from "./readiness.ts";
import { containerFailure, podProblem } from "./pod-problem.ts";
import { readCredentials } from "../credentials/credentials.ts";

/** A component as the status of the deployment has it. */
export type ComponentStatus = NonNullable<OpenStackDeploymentStatus["components"]>[number];

/** One component: how it is, what should be written, and what is before it. */
export interface Judged {
  readonly component: Component;
  readonly readiness: Readiness;
  /** Workloads that must be written. */
  readonly writes: readonly KubeObject[];
  /** Dependencies that are not ready, or whose own change comes first. */
  readonly unmet: readonly string[];
}

/** Judges components in their order: what a component needs is judged before it. */
export function judgeComponents(desired: Desired, observed: Observed): ReadonlyMap<string, Judged> {
  const judged = new Map<string, Judged>();
  for (const component of desired.catalogue.graph.order) {
    if (component.runs !== undefined) continue;
    const wanted = (desired.workloads.get(component.name) ?? []).map(({ object }) => object);
    const writes = wanted.filter((object) => mustWrite(object, observed.objects.get(idOf(object))));
    const found = wanted.map((object) => readinessOf(component, observed.objects.get(idOf(object))));
    const needs = desired.catalogue.graph.needs.get(component.name) ?? [];
    const unmet = needs.filter((name) => !isDone(judged.get(name)));
    const failed = component.gate && failedNode(observed, component.name);
    const isAwaited = component.everyNode === true && isMissingOnNodes(wanted, observed);
    const readiness: Readiness = failed
      ? { state: "Failed", step: failed.slice(0, 256) }
      : worst(isAwaited ? found.map(notYet) : found);
    judged.set(component.name, { component, readiness, writes, unmet });
  }
  return judged;
}

/** What a node that is up lacks. Nodes that are away hold back nothing: their pods check them when they are back. */
function failedNode(observed: Observed, component: string): string | undefined {
  const { pods, nodes } = observed;
  const up = new Set(nodes.filter(isUp).map(({ metadata }) => metadata.name));
  return containerFailure(
    pods.filter(({ spec }) => spec.nodeName !== undefined && up.has(spec.nodeName)),
    component,
    secretsOf(observed),
  );
}

/** Shorter values are counters: digits of other words. */
const SHORTEST_SECRET = 8;

/** What no status may have, whatever a program prints. */
const secretsOf = ({ credentials }: Observed): string[] =>
  Object.values(readCredentials(credentials?.data)?.values ?? {}).filter(({ length }) => length >= SHORTEST_SECRET);

/** Whether fewer nodes have it available than are up. */
function isMissingOnNodes(wanted: readonly KubeObject[], { objects, nodes }: Observed): boolean {
  const down = nodes.filter((node) => !isUp(node)).length;
  return wanted.some((object) => {
    const { status } = (objects.get(idOf(object)) ?? {}) as Partial<DaemonSet>;
    return (status?.numberAvailable ?? 0) < (status?.desiredNumberScheduled ?? 0) - down;
  });
}

const notYet = (readiness: Readiness): Readiness =>
  readiness.state === "Degraded" ? { ...readiness, state: "Progressing" } : readiness;

const isUp = ({ status }: Node): boolean =>
  status?.conditions?.find(({ type }) => type === "Ready")?.status !== "False" &&
  status?.conditions?.find(({ type }) => type === "Ready")?.status !== "Unknown";

/** A Job's template is immutable, and its name says what it was made from. */
function mustWrite(wanted: KubeObject, found: KubeObject | undefined): boolean {
  return wanted.kind === "Job" ? found === undefined : differs(wanted, found);
}

/** Up to date, and serving. */
export const isDone = (judged: Judged | undefined): boolean =>
  judged !== undefined && judged.writes.length === 0 && serves(judged.readiness);

const ranks: readonly Readiness["state"][] = ["Failed", "Absent", "Progressing", "Degraded", "Ready"];

function worst(all: readonly Readiness[]): Readiness {
  const sorted = all.toSorted((a, b) => ranks.indexOf(a.state) - ranks.indexOf(b.state));
  return sorted[0] ?? { state: "Ready", step: "no node is in its groups" };
}

/** The components of the status, with what each waits for and why; texts are cut to the CRD's limits. */
export function statusOf(judged: ReadonlyMap<string, Judged>, observed: Observed): ComponentStatus[] {
  return [...judged.values()].map((each) => {
    const { component, readiness, unmet } = each;
    const cause = isDone(each) ? undefined : rootCauseOf(judged, component.name, observed);
    return {
      name: component.name,
      kind: component.kind,
      state: stateOf(each),
      step: stepOf(each).slice(0, 256),
      ...(unmet.length > 0 && !isDone(each) ? { waitingFor: [...unmet].slice(0, 32) } : {}),
      ...(cause === undefined || readiness.state === "Ready" ? {} : { rootCause: cause.slice(0, 1024) }),
    };
  });
}

function stateOf({ readiness, unmet, writes }: Judged): ComponentStatus["state"] {
  if (readiness.state === "Absent") return unmet.length > 0 ? "Waiting" : "Progressing";
  if (readiness.state === "Ready" && writes.length > 0) return "Progressing";
  return readiness.state;
}

function stepOf({ readiness, unmet, writes }: Judged): string {
  if (writes.length === 0 || unmet.length === 0) return readiness.step;
  return readiness.state === "Absent" ? `waits for ${unmet.join(", ")}` : `its change waits for ${unmet.join(", ")}`;
}

/** The chain from a component to the first one that waits for no other, and what is wrong with that. */
export function chainOf(judged: ReadonlyMap<string, Judged>, name: string): Judged[] {
  const chain: Judged[] = [];
  for (let next = judged.get(name); next;) {
    chain.push(next);
    const further = next.unmet.map((each) => judged.get(each)).find((each) => each && !chain.includes(each));
    next = further;
  }
  return chain;
}

/**
 * What is wrong with the component at the end of the chain: "mariadb: 1 of 3 pods are ready". "" of an unknown name.
 */
export function rootCauseOf(judged: ReadonlyMap<string, Judged>, name: string, observed: Observed): string {
  const last = chainOf(judged, name).at(-1);
  if (!last) return "";
  const problem = podProblem(observed.pods, last.component.name, secretsOf(observed));
  const about = problem ?? last.readiness.step;
  return `${last.component.name}: ${about}`;
}
