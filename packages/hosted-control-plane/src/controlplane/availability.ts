import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";
import type { ControlPlaneProblem, ControlPlaneState } from "../runtime.ts";
import type { Observed } from "./gather.ts";
import { usableKubeconfig } from "./plan-kubeconfig.ts";

type Parked = NonNullable<ControlPlaneState["parked"]>;

/** It has no Cluster yet. */
export const withoutCluster: WantedCondition = {
  type: "Available",
  status: "False",
  reason: "WaitingForCluster",
  message: "waiting for its Cluster",
};

/** A control plane that was not started is not available for it. */
export function refusedBy(problem: ControlPlaneProblem): WantedCondition {
  return { type: "Available", status: "False", reason: actorReasons.user, message: problemMessage(problem) };
}

/** Are its roots there? */
export function certificates({ roots, initialized }: Observed): WantedCondition {
  const type = "CertificatesAvailable";
  const missing = (["ca", "proxy", "sa"] as const).filter((purpose) => roots[purpose] === undefined);
  if (missing.length === 0) return { type, status: "True", reason: "Available" };
  const names = missing.join(", ");
  if (!initialized) return { type, status: "False", reason: "Creating", message: `to be created: ${names}` };
  const message = `Secrets are missing and are not recreated: ${names}; restore them from a backup`;
  return { type, status: "False", reason: "SecretsMissing", message };
}

/** Did it serve once? */
export function initialization(observed: Observed): WantedCondition {
  const type = "Initialized";
  if (observed.initialized || isReady(observed)) return { type, status: "True", reason: "Initialized" };
  return { type, status: "False", reason: "Starting" };
}

/** Does it serve, where its machines join, and if not: who must act. */
export function availability(observed: Observed): WantedCondition {
  const type = "Available";
  const { parked } = observed.state ?? {};
  if (parked) return { type, status: "False", reason: "Parked", message: parkedMessage(parked) };
  const { spec, status: past } = observed.object;
  if (spec.runtime !== undefined && past?.runtime !== undefined && spec.runtime !== past.runtime) {
    const message = `runtime ${past.runtime} was chosen when the control plane was created and holds its data; spec.runtime cannot change it to ${spec.runtime}`;
    return { type, status: "False", reason: "RuntimeImmutable", message };
  }
  const elsewhere = endpointElsewhere(observed);
  if (isReady(observed) && elsewhere !== undefined)
    return { type, status: "False", reason: "EndpointMismatch", message: elsewhere };
  if (isReady(observed)) return { type, status: "True", reason: "Available" };
  const { problem } = observed.state ?? {};
  if (problem !== undefined && problem.actor !== "none")
    return { type, status: "False", reason: actorReasons[problem.actor], message: problemMessage(problem) };
  if (isHibernated(observed))
    return {
      type,
      status: "False",
      reason: "Hibernated",
      message: "spec.replicas is 0: no programs run, and the data is kept",
    };
  const unplaced = observed.defaults.host === undefined;
  const going = unplaced
    ? "waiting for the address at which machines reach this host"
    : "the control plane is being started";
  return { type, status: "False", reason: "Starting", message: observed.state?.message ?? going };
}

/** The reason says who must act. */
const actorReasons = { user: "SpecRefused", operator: "OperatorNeeded" } as const;

function problemMessage({ message, code, actor }: ControlPlaneProblem): string {
  const who = actor === "user" ? "change the object" : "the operator of the service cluster must act";
  return `${message}; ${who} (${code})`;
}

function isHibernated({ object, state }: Observed): boolean {
  return object.spec.replicas === 0 && state?.runtime === "Pods" && state.starting !== true && !state.ready;
}

/** Only for runtimes that know more than ready or not: is everything as the object has it? */
export function upToDate({ state, object }: Observed): WantedCondition[] {
  if (state?.requested === undefined) return [];
  const type = "UpToDate";
  const { problem } = state;
  if (problem === undefined) return [{ type, status: "True", reason: "UpToDate" }];
  if (problem.actor === "none") {
    const versions = state.ready ? `; version ${state.version} serves, ${object.spec.version} is wanted` : "";
    const message = `${problem.message} (${problem.code})${versions}`;
    return [{ type, status: "False", reason: "RollingOut", message }];
  }
  return [{ type, status: "False", reason: actorReasons[problem.actor], message: problemMessage(problem) }];
}

function parkedMessage({ until, reason }: Parked): string {
  return `not served until ${new Date(until).toISOString()}: ${reason}`;
}

/** One event for each pause: when the condition does not say it yet. */
export function parkedEvents({ object, state }: Observed): PlannedEvent[] {
  if (!state?.parked) return [];
  const message = parkedMessage(state.parked);
  const known = object.status?.conditions?.find((condition) => condition.type === "Available");
  return known?.message === message ? [] : [{ type: "Warning", reason: "Parked", message }];
}

/**
 * The Cluster's endpoint is another one, which the infrastructure or a person set: machines join there and do not find
 * this control plane. An address that forwards to it is among the names of its certificate.
 */
function endpointElsewhere({ object, cluster, state }: Observed): string | undefined {
  const { host = "", port = 0 } = cluster?.spec.controlPlaneEndpoint ?? {};
  if (state === undefined || host === "" || host === state.endpoint.host) return undefined;
  if (object.spec.names?.includes(host) === true) return undefined;
  const own = `${state.endpoint.host}:${state.endpoint.port}`;
  return `machines join at the Cluster's endpoint ${host}:${port}, but this control plane serves at ${own}; let the infrastructure object create no endpoint of its own, or add ${host} to spec.names if it forwards to this control plane`;
}

/** It serves, and its kubeconfig is written. */
export function isReady(observed: Observed): boolean {
  return observed.state?.ready === true && usableKubeconfig(observed) !== undefined;
}
