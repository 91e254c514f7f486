import { timestamp, type Container, type ContainerStatus, type Pod } from "@causeway/kubernetes";
import type { PodBehaviour } from "./annotations.ts";

/** The containers of a pod as a status reports them, and when one changes by itself. */
export interface Containers {
  readonly init: readonly ContainerStatus[];
  readonly main: readonly ContainerStatus[];
  /** Those that `kubectl debug` added; none before the others run. */
  readonly ephemeral: readonly ContainerStatus[];
  readonly until?: number;
}

/**
 * As the kubelet: the first restart is at once, the second after 10 s, doubled for each further one, at most five
 * minutes.
 */
const FIRST_BACK_OFF = 10_000;
const LONGEST_BACK_OFF = 300_000;

/** No container has started: images are being pulled, or cannot be. */
export function waitingAll(pod: Pod, isPullError: boolean): Containers {
  const init = pod.spec.initContainers ?? [];
  const [reason, first] = isPullError
    ? ["ImagePullBackOff", "ImagePullBackOff"]
    : ["ContainerCreating", "PodInitializing"];
  const waiting = (container: Container, why: string): ContainerStatus => {
    const image = imageOf(container);
    const message = isPullError ? { message: `Back-off pulling image "${image}"` } : {};
    return { ...base(container), ready: false, started: false, state: { waiting: { reason: why, ...message } } };
  };
  return {
    init: init.map((container, i) => waiting(container, i === 0 && isPullError ? reason : "PodInitializing")),
    main: pod.spec.containers.map((container) =>
      waiting(container, init.length > 0 ? "PodInitializing" : isPullError ? first : reason),
    ),
    ephemeral: [],
  };
}

/** Init containers have completed, sidecars run, and each container does what the pod asks for. */
export function containersAt(pod: Pod, asked: PodBehaviour, now: number): Containers {
  const main = pod.spec.containers.map((container) => containerAt(pod, { container, asked, now }));
  const statuses = main.map(({ status }) => status);
  const isOver = statuses.length > 0 && statuses.every(({ state }) => state?.terminated !== undefined);
  const init = (pod.spec.initContainers ?? []).map((container) => initAt(pod, { container, now, isOver }));
  const times = main.flatMap(({ until }) => (until === undefined ? [] : [until]));
  const ephemeral = ephemeralOf(pod).map((container) => ephemeralAt(pod, container, now));
  return { init, main: statuses, ephemeral, ...(times.length > 0 ? { until: Math.min(...times) } : {}) };
}

/** Every container that runs ends; `killed`: it did not end by itself within the grace period. */
export function stopped(pod: Pod, now: number, killed: boolean): Containers {
  const end = (status: ContainerStatus): ContainerStatus => {
    if (status.state?.terminated) return status;
    const running = status.state?.running as { startedAt?: string } | undefined;
    const terminated = terminatedOf(killed ? 137 : 0, { startedAt: running?.startedAt ?? timestamp(now), now });
    return { ...status, ready: false, started: false, state: { terminated } };
  };
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  return {
    init: initContainerStatuses.map(end),
    main: containerStatuses.map(end),
    ephemeral: ephemeralStatusesOf(pod).map(end),
  };
}

function ephemeralOf({ spec }: Pod): readonly Container[] {
  return (spec as { ephemeralContainers?: readonly Container[] }).ephemeralContainers ?? [];
}

function ephemeralStatusesOf({ status = {} }: Pod): readonly ContainerStatus[] {
  return (status as { ephemeralContainerStatuses?: readonly ContainerStatus[] }).ephemeralContainerStatuses ?? [];
}

/** It runs from now on: `kubectl debug` waits for that. It is never ready. */
function ephemeralAt(pod: Pod, container: Container, now: number): ContainerStatus {
  const before = ephemeralStatusesOf(pod).find(({ name }) => name === container.name);
  if (before) return before;
  const state = { running: { startedAt: timestamp(now) } };
  return { ...base(container), ...identity(pod, container, 0), ready: false, state };
}

interface At {
  readonly container: Container;
  readonly asked: PodBehaviour;
  readonly now: number;
}

/** What a container does now, after what its status says that it did before. */
function containerAt(pod: Pod, at: At): { status: ContainerStatus; until?: number } {
  const { container, asked, now } = at;
  const before = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
  const ended = endOf(before);
  if (ended) return endedAt(pod, at, { before, ended });
  const restartCount = before?.restartCount ?? 0;
  const last = before?.["lastState"] === undefined ? {} : { lastState: before["lastState"] };
  const common = { ...base(container), ...identity(pod, container, restartCount), ...last, restartCount };
  const running = before?.state?.running as { startedAt?: string } | undefined;
  return runningAt(common, { pod, asked, now, startedAt: running?.startedAt ?? timestamp(now) });
}

type Ended = NonNullable<NonNullable<ContainerStatus["state"]>["terminated"]>;

/** How a container that does not run ended; undefined: it runs, or never did. */
function endOf(before: ContainerStatus | undefined): Ended | undefined {
  if (before?.state?.terminated) return before.state.terminated;
  return before?.state?.waiting ? (before["lastState"] as ContainerStatus["state"])?.terminated : undefined;
}

interface AfterEnd {
  readonly before: ContainerStatus | undefined;
  readonly ended: Ended;
}

/** A container that ended remains so, waits for its back-off, or runs again. */
function endedAt(
  pod: Pod,
  { container, asked, now }: At,
  { before, ended }: AfterEnd,
): { status: ContainerStatus; until?: number } {
  const restartCount = before?.restartCount ?? 0;
  const common = { ...base(container), ...identity(pod, container, restartCount), restartCount };
  const stopped = { ...common, ready: false, started: false };
  if (!restarts(pod, ended.exitCode)) return { status: { ...stopped, state: { terminated: ended } } };
  const lastState = { terminated: ended };
  const startsAt = Date.parse(ended.finishedAt ?? timestamp(now)) + backOff(restartCount);
  if (now < startsAt) {
    const { name, namespace = "" } = pod.metadata;
    const seconds = Math.round(backOff(restartCount) / 1000);
    const message = `back-off ${seconds}s restarting failed container=${container.name} pod=${name}_${namespace}`;
    return {
      status: { ...stopped, lastState, state: { waiting: { reason: "CrashLoopBackOff", message } } },
      until: startsAt,
    };
  }
  const again = { ...common, ...identity(pod, container, restartCount + 1), restartCount: restartCount + 1, lastState };
  return runningAt(again, { pod, asked, now, startedAt: timestamp(now) });
}

interface ContainerStart {
  readonly pod: Pod;
  readonly asked: PodBehaviour;
  readonly now: number;
  readonly startedAt: string;
}

function runningAt(
  common: ContainerStatus,
  { pod, asked, now, startedAt }: ContainerStart,
): { status: ContainerStatus; until?: number } {
  const endsAt = asked.finishAfter === undefined ? undefined : Date.parse(startedAt) + asked.finishAfter;
  if (endsAt !== undefined && now >= endsAt) {
    const terminated = terminatedOf(asked.exitCode, { startedAt, now: Math.max(endsAt, Date.parse(startedAt)) });
    const status = { ...common, ready: false, started: false, state: { terminated } };
    return restarts(pod, asked.exitCode) ? { status, until: now } : { status };
  }
  const ready = asked.outcome !== "not-ready";
  const status = { ...common, ready, started: true, state: { running: { startedAt } } };
  return endsAt === undefined ? { status } : { status, until: endsAt };
}

function initAt(
  pod: Pod,
  { container, now, isOver }: { container: Container; now: number; isOver: boolean },
): ContainerStatus {
  const before = pod.status?.initContainerStatuses?.find(({ name }) => name === container.name);
  const common = { ...base(container), ...identity(pod, container, 0), restartCount: 0 };
  const running = before?.state?.running as { startedAt?: string } | undefined;
  const startedAt = running?.startedAt ?? timestamp(now);
  if (before?.state?.terminated) return before;
  // A sidecar runs as long as the containers that it serves.
  if ((container as { restartPolicy?: string }).restartPolicy === "Always" && !isOver) {
    return { ...common, ready: true, started: true, state: { running: { startedAt } } };
  }
  return { ...common, ready: true, started: false, state: { terminated: terminatedOf(0, { startedAt, now }) } };
}

function restarts({ spec }: Pod, exitCode: number): boolean {
  const policy = spec["restartPolicy"] ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function backOff(restarts: number): number {
  return restarts === 0 ? 0 : Math.min(FIRST_BACK_OFF * 2 ** Math.min(restarts - 1, 10), LONGEST_BACK_OFF);
}

function terminatedOf(
  exitCode: number,
  { startedAt, now }: { startedAt: string; now: number },
): { exitCode: number; reason: string; startedAt: string; finishedAt: string } {
  return { exitCode, reason: exitCode === 0 ? "Completed" : "Error", startedAt, finishedAt: timestamp(now) };
}

function base(container: Container): ContainerStatus {
  return { name: container.name, image: imageOf(container), imageID: "", restartCount: 0 };
}

/** What is only known once a container has started. */
function identity({ metadata }: Pod, { name, ...container }: Container, count: number): Partial<ContainerStatus> {
  return {
    imageID: `simulated://${imageOf({ name, ...container })}`,
    containerID: `simulated://${metadata.uid ?? ""}/${name}/${count}`,
  };
}

function imageOf(container: Container): string {
  return (container as { image?: string }).image ?? "";
}
