import type { OpenStackDeploymentStatus } from "@causeway/api";
import { setConditions, type Plan, type PlannedEvent } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import type { Step } from "./steps.ts";

type Status = OpenStackDeploymentStatus;

/** What the maintenance of nodes publishes is its own. */
function ownStatus({ deployment }: Observed): Status {
  const { maintenance: _nodes, ...status } = deployment.status ?? {};
  const { generation } = deployment.metadata;
  return { ...status, ...(generation === undefined ? {} : { observedGeneration: generation }) };
}

/** Nothing is changed while spec.paused is true. */
export function paused(observed: Observed, now: number): Plan<Step, Status> {
  const status = ownStatus(observed);
  const conditions = setConditions(
    status.conditions,
    [{ type: "Progressing", status: "False", reason: "Paused", message: "spec.paused is true" }],
    { generation: observed.deployment.metadata.generation, now },
  );
  return { steps: [], status: { ...status, conditions, phase: "Paused" }, events: [] };
}

const REASONS: Readonly<Record<string, string>> = {
  OPENSTACK_DEPENDENCY_CYCLE: "DependencyCycle",
  OPENSTACK_SERVICE_MISSING: "ServiceMissing",
  OPENSTACK_SEGMENT_UNREACHABLE: "SegmentUnreachable",
  OPENSTACK_CELL_UNKNOWN: "CellUnknown",
};
/** The reason of a condition that a refusal of the specification has. */
export const reasonOf = (code: string): string => REASONS[code] ?? code;

/** Nothing is changed; what runs continues as it is. */
export function refused(
  observed: Observed,
  now: number,
  why: { readonly reason: string; readonly message: string },
): Plan<Step, Status> {
  const status = ownStatus(observed);
  const conditions = setConditions(
    status.conditions,
    [
      { type: "ConfigurationValid", status: "False", ...why },
      { type: "Ready", status: "False", ...why },
    ],
    { generation: observed.deployment.metadata.generation, now },
  );
  const isNew = status.conditions?.find(({ type }) => type === "ConfigurationValid")?.message !== why.message;
  const events: PlannedEvent[] = !isNew
    ? []
    : [{ type: "Warning", reason: why.reason, message: why.message.slice(0, 1000) }];
  return { steps: [], status: { ...status, conditions, phase: "Refused" }, events };
}

/** Nothing can be rendered before another program has written something. */
export function waiting(
  observed: Observed,
  now: number,
  why: { readonly reason: string; readonly message: string },
): Plan<Step, Status> {
  const status = ownStatus(observed);
  const conditions = setConditions(
    status.conditions,
    [
      { type: "Ready", status: "False", reason: why.reason, message: why.message.slice(0, 4_000) },
      { type: "Progressing", status: "True", reason: why.reason, message: "" },
    ],
    { generation: observed.deployment.metadata.generation, now },
  );
  const phase = status.release === undefined ? "Installing" : "Updating";
  return { steps: [], status: { ...status, conditions, phase }, wait: { for: why.message } };
}
