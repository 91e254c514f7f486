import { compareStatus, timestamp, type ContainerStatus, type Pod, type PodStatus } from "@causeway/kubernetes";
import { askedOf, type PodBehaviour } from "./annotations.ts";
import { conditionsOf } from "./conditions.ts";
import { containersAt, stopped, waitingAll, type Containers } from "./containers.ts";
import type { Step } from "./steps.ts";

/** A pod with what its node knows. */
export interface Observed {
  readonly pod: Pod;
  readonly hostIPs: readonly string[];
  /** The addresses that the pod has or gets; the host's for one in the host's network. */
  readonly podIPs: readonly string[];
  /** All its volumes are attached. */
  readonly hasVolumes: boolean;
}

/** What is done now, and when to plan again. */
export interface PodPlan {
  readonly steps: readonly Step[];
  /** Milliseconds since the epoch when the pod changes by itself. */
  readonly until?: number;
}

const DEFAULT_GRACE = 30;

/**
 * What a kubelet would do with a pod now if its containers did what the annotations say. Source: Kubernetes, "Pod
 * Lifecycle".
 */
export function plan(observed: Observed, now: number): PodPlan {
  const { pod } = observed;
  const { status = {} } = pod;
  const isOver = status.phase === "Succeeded" || status.phase === "Failed";
  if (pod.metadata.deletionTimestamp !== undefined) return planStop(observed, now, isOver);
  if (isOver) return { steps: [] };
  const asked = askedOf(pod);
  const startTime = status.startTime ?? timestamp(now);
  const startsAt = Date.parse(startTime) + asked.startAfter;
  const hasStarted = status.phase === "Running";
  if (!observed.hasVolumes && !hasStarted)
    return { steps: report(observed, { startTime, containers: waitingAll(pod, false), phase: "Pending" }, now) };
  const neverStarts = asked.outcome === "hang" || asked.outcome === "image-pull-error";
  if (neverStarts || now < startsAt) {
    const containers = waitingAll(pod, asked.outcome === "image-pull-error");
    const until = neverStarts ? {} : { until: startsAt };
    return { steps: report(observed, { startTime, containers, phase: "Pending" }, now), ...until };
  }
  const containers = containersAt(pod, asked, now);
  const steps = report(observed, { startTime, containers, phase: phaseOf(pod, containers) }, now);
  return containers.until === undefined ? { steps } : { steps, until: containers.until };
}

/** A pod that is to be deleted: its containers stop within the grace period, then its object goes. */
function planStop(observed: Observed, now: number, isOver: boolean): PodPlan {
  const { pod } = observed;
  const grace = (pod.metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE) * 1000;
  const asked: PodBehaviour = askedOf(pod);
  // The deletion timestamp is when the grace period ends.
  const requested = Date.parse(pod.metadata.deletionTimestamp ?? "") - grace;
  const stopsAt = requested + Math.min(asked.stopAfter, grace);
  if (!isOver && now < stopsAt) return { steps: [], until: stopsAt };
  if (isOver || pod.status?.containerStatuses === undefined) return { steps: [{ type: "delete" }] };
  const { startTime = timestamp(now) } = pod.status;
  const containers = stopped(pod, now, asked.stopAfter > grace);
  return { steps: [...report(observed, { startTime, containers, phase: "Running" }, now), { type: "delete" }] };
}

interface Reported {
  readonly startTime: string;
  readonly containers: Containers;
  readonly phase: NonNullable<PodStatus["phase"]>;
}

function phaseOf({ spec }: Pod, { main }: Containers): Reported["phase"] {
  const ended = main.every(({ state }) => state?.terminated);
  if (!ended || main.length === 0) return "Running";
  if (spec["restartPolicy"] === "Always" || spec["restartPolicy"] === undefined) return "Running";
  return main.every(({ state }) => state?.terminated?.exitCode === 0) ? "Succeeded" : "Failed";
}

function report({ pod, hostIPs, podIPs }: Observed, { startTime, containers, phase }: Reported, now: number): Step[] {
  const before = pod.status ?? {};
  const [hostIP] = hostIPs;
  const ips = phase === "Pending" && before.podIP === undefined ? [] : podIPs;
  const [podIP] = ips;
  const status: PodStatus & {
    hostIPs?: readonly { ip: string }[];
    ephemeralContainerStatuses?: readonly ContainerStatus[];
  } = {
    phase,
    startTime,
    conditions: conditionsOf(before.conditions ?? [], { phase, containers, spec: pod.spec }, now),
    containerStatuses: [...containers.main],
    ...(containers.init.length > 0 ? { initContainerStatuses: [...containers.init] } : {}),
    ...(containers.ephemeral.length > 0 ? { ephemeralContainerStatuses: [...containers.ephemeral] } : {}),
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: hostIPs.map((ip) => ({ ip })) }),
    ...(podIP === undefined ? {} : { podIP, podIPs: ips.map((ip) => ({ ip })) }),
  };
  return compareStatus(status, before).same ? [] : [{ type: "report", status }];
}
