import { annotations, KubeadmControlPlane, Machine } from "@causeway/api";
import { timestamp } from "@causeway/kubernetes";
import { isToRemediate } from "../machineset/remediation.ts";
import { lockOf } from "../objects/metadata.ts";
import { deleteStep, patchStep } from "../objects/steps.ts";
import type { Observed, OwnedMachine } from "./observed.ts";
import { byAge } from "./placement.ts";
import { survivesJoining, survivesReplacing, survivesWithout } from "./quorum.ts";
import type { ControlPlaneStep } from "./steps.ts";

/** What an annotation of the control plane, and later of the replacement, says of a remediation (upstream's form). */
export interface RemediationNote {
  readonly machine: string;
  readonly timestamp: string;
  readonly retryCount: number;
}

/** The note in an annotation; undefined if there is none, or it is no such JSON. */
export function noteIn(text: string | undefined): RemediationNote | undefined {
  try {
    const parsed: unknown = JSON.parse(text ?? "");
    if (typeof parsed !== "object" || parsed === null) return undefined;
    const { machine, timestamp: time, retryCount } = parsed as Partial<RemediationNote>;
    if (typeof machine !== "string" || typeof time !== "string" || typeof retryCount !== "number") return undefined;
    return { machine, timestamp: time, retryCount };
  } catch {
    return undefined;
  }
}

/** The remediation under way, from before its machine is deleted until its replacement exists. */
export function remediationUnderWay({ control }: Observed): RemediationNote | undefined {
  return noteIn(control.metadata.annotations?.[annotations.remediationInProgress]);
}

/** The last remediation: the one under way, else what the newest replacement says, else what the status says. */
export function lastRemediation(observed: Observed): RemediationNote | undefined {
  const { control, machines } = observed;
  const replacement = machines
    .map(({ machine }) => noteIn(machine.metadata.annotations?.[annotations.remediationFor]))
    .filter((note) => note !== undefined)
    .toSorted((a, b) => (a.timestamp < b.timestamp ? 1 : -1))[0];
  const { lastRemediation: before } = control.status ?? {};
  const known = before && { machine: before.machine, timestamp: before.time, retryCount: before.retryCount };
  return remediationUnderWay(observed) ?? replacement ?? known;
}

/** What to do about machines that failed their health check, or when to try again. */
export interface Remediation {
  readonly steps: readonly ControlPlaneStep[];
  /** Why a failed machine is not replaced now. */
  readonly blocked?: string;
  /** There are fewer machines than wanted, and with one more it could be replaced. */
  readonly needsMore?: boolean;
  readonly until?: number;
}

/** Replaces one machine that failed its health check, as far as etcd keeps its quorum. Undefined: no machine failed. */
export function remediation(observed: Observed, now: number): Remediation | undefined {
  const { machines } = observed;
  const failed = machines.filter(({ machine }) => isToRemediate(machine)).toSorted(byAge);
  const [first] = failed;
  if (!first) return undefined;
  const under = remediationUnderWay(observed);
  if (under) {
    // Noted, and stopped before the machine was deleted.
    const noted = failed.find(({ machine }) => machine.metadata.name === under.machine);
    if (noted) return { steps: deleteStep(Machine, noted.machine) };
    return { steps: [], blocked: `Machine ${under.machine} is being replaced` };
  }
  const refusal = refusalOf(observed, first);
  if (refusal) return { steps: [], blocked: refusal, needsMore: refusal === QUORUM && mayGrow(observed) };
  return retry(observed, first, now);
}

const QUORUM = "etcd could lose its quorum";

/** Of two machines neither could be replaced, nor a third one added, for ever. */
function mayGrow({ control, machines, workload }: Observed): boolean {
  if (machines.length >= (control.spec.replicas ?? 1) || workload.reach === "unreachable") return false;
  return "members" in workload.etcd && survivesJoining(workload.etcd.members);
}

function refusalOf(observed: Observed, { machine }: OwnedMachine): string | undefined {
  const { control, machines, workload } = observed;
  const leaving = machines.find((owned) => owned.machine.metadata.deletionTimestamp);
  if (leaving) return `Machine ${leaving.machine.metadata.name} is being deleted`;
  if (control.status?.initialization?.controlPlaneInitialized !== true) return undefined;
  if (machines.length <= 1) return "The control plane has one machine only, without which it does not serve";
  if (workload.reach === "unreachable")
    return "The workload cluster cannot be reached, so etcd's members are not known";
  if ("problem" in workload.etcd) return `etcd's members are not known: ${workload.etcd.problem}`;
  if ("external" in workload.etcd) return undefined;
  const name = machine.status?.nodeRef?.name ?? machine.metadata.name;
  // One too many is not replaced.
  const survives = machines.length > (control.spec.replicas ?? 1) ? survivesWithout : survivesReplacing;
  if (!survives(workload.etcd.members, name)) return QUORUM;
  return undefined;
}

function retry(observed: Observed, { machine }: OwnedMachine, now: number): Remediation {
  const { control } = observed;
  const { maxRetry, retryPeriodSeconds = 0, minHealthyPeriodSeconds = 3600 } = control.spec.remediation ?? {};
  const replaced = noteIn(machine.metadata.annotations?.[annotations.remediationFor]);
  const recent = replaced !== undefined && now - Date.parse(replaced.timestamp) < minHealthyPeriodSeconds * 1000;
  const count = recent ? replaced.retryCount + 1 : 0;
  if (recent && maxRetry !== undefined && count > maxRetry) {
    return { steps: [], blocked: `It was tried ${maxRetry} times already (remediation.maxRetry)` };
  }
  const due = recent ? Date.parse(replaced.timestamp) + retryPeriodSeconds * 1000 : now;
  if (due > now) return { steps: [], blocked: "Waiting for remediation.retryPeriodSeconds", until: due };
  const note: RemediationNote = { machine: machine.metadata.name, timestamp: timestamp(now), retryCount: count };
  return {
    steps: [
      ...patchStep(KubeadmControlPlane, control, {
        metadata: { ...lockOf(control), annotations: { [annotations.remediationInProgress]: JSON.stringify(note) } },
      }),
      ...deleteStep(Machine, machine),
    ],
  };
}

/** Once the replacement says what it is for, the control plane need not. */
export function remediationCleanup(observed: Observed): ControlPlaneStep[] {
  const under = remediationUnderWay(observed);
  const replaced =
    under !== undefined &&
    observed.machines.some(
      ({ machine }) =>
        noteIn(machine.metadata.annotations?.[annotations.remediationFor])?.timestamp === under.timestamp,
    );
  if (!replaced) return [];
  return patchStep(KubeadmControlPlane, observed.control, {
    metadata: { ...lockOf(observed.control), annotations: { [annotations.remediationInProgress]: null } },
  });
}
