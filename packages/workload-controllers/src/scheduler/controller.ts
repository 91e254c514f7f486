import { messageOf, type Clock } from "@causeway/foundation";
import {
  createEventRecorder,
  isConflict,
  isNotFound,
  keyOf,
  type Change,
  type Node,
  type Pod,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { createCaches, whenSynced, type Caches } from "./caches.ts";
import { isEnded, isNewRequest, isOtherNode, isPending, schedulerName } from "./changes.ts";
import type { ClusterEvent } from "./filters/interface.ts";
import { gather } from "./gather.ts";
import { podInfo } from "../model/pod-info.ts";
import { keyText, specOf, statusOf } from "../model/spec.ts";
import { perform, report, type PerformContext } from "./perform.ts";
import { plan as planPod, type SchedulerPlan } from "./plan.ts";
import { SchedulingQueue, type WaitingPod } from "./queue.ts";
import { ClusterState } from "./state.ts";
import type { SchedulerStep } from "./steps.ts";

/** Writes under way at once. */
const atOnce = 32;
/** Pods for which nodes are chosen before other work of the process has its turn. */
const inTurn = 8;

/** What tests fix. */
export interface SchedulerOptions {
  /** From 0 to 1: chooses among nodes that are equally good. Default: at random. */
  readonly random?: () => number;
}

/** The scheduler of one cluster; it is not a controller of one object per key, and has a queue of its own. */
export interface Scheduler {
  /** Runs until `signal` aborts and what is under way has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** Chooses nodes for the pods of a cluster, one pod after the other, as kube-scheduler's default profile does. */
export function createScheduler(context: Context, options: SchedulerOptions = {}): Scheduler {
  const caches = createCaches(context.informers);
  return {
    async run(signal) {
      const running = new RunningScheduler(context, { caches, random: options.random ?? Math.random, signal });
      try {
        await whenSynced(caches, signal);
        await running.run();
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

interface SchedulerContext {
  readonly caches: Caches;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

class RunningScheduler {
  readonly #context: Context;
  readonly #clock: Clock;
  readonly #running: SchedulerContext;
  readonly #performing: PerformContext;
  readonly #state = new ClusterState();
  readonly #queue = new SchedulingQueue();
  readonly #writes = new Set<Promise<void>>();
  #start = 0;
  #wake = Promise.withResolvers<void>();
  #timer: { readonly at: number; readonly cancel: AbortController } | undefined;

  constructor(context: Context, running: SchedulerContext) {
    const { clock, log, informers } = context;
    const { signal, caches } = running;
    const { client } = informers;
    const events = createEventRecorder(client, { component: schedulerName, clock, log, signal });
    this.#context = context;
    this.#clock = clock;
    this.#running = running;
    this.#performing = { client, caches, state: this.#state, clock, events, signal };
  }

  async run(): Promise<void> {
    const { signal } = this.#running;
    const stops = this.#follow();
    const awake = () => this.#wake.resolve();
    signal.addEventListener("abort", awake, { once: true });
    try {
      for (let turn = 0; !signal.aborted;) {
        const next = this.#queue.take();
        if (!next) {
          await this.#rest();
          continue;
        }
        await this.#schedule(next);
        if (++turn % inTurn === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      for (const stop of stops) stop();
      this.#timer?.cancel.abort();
      await Promise.allSettled(this.#writes);
      await this.#performing.events.flush();
    }
  }

  /** Until a pod is to be tried. */
  async #rest(): Promise<void> {
    this.#wake = Promise.withResolvers();
    this.#setTimer();
    if (this.#running.signal.aborted || this.#queue.length.active > 0) return;
    await this.#wake.promise;
  }

  /** One timer for all that wait, and none when no pod does. */
  #setTimer(): void {
    const at = this.#queue.nextTick;
    if (this.#timer?.at === at) return;
    this.#timer?.cancel.abort();
    this.#timer = undefined;
    if (at === undefined) return;
    const cancel = new AbortController();
    this.#timer = { at, cancel };
    this.#clock.sleep(Math.max(1, at - this.#clock.now()), cancel.signal).then(
      () => {
        this.#timer = undefined;
        this.#queue.tick(this.#clock.now());
        this.#wake.resolve();
      },
      () => {},
    );
  }

  async #schedule(waiting: WaitingPod): Promise<void> {
    const { pod } = waiting;
    const { caches, random } = this.#running;
    const start = this.#state.nodes.length === 0 ? 0 : this.#start % this.#state.nodes.length;
    const charge = this.#context.charge ?? ((work) => work());
    let plan: SchedulerPlan;
    try {
      plan = charge(() => planPod(gather(pod, { caches, state: this.#state, start, choice: random() })));
    } catch (error) {
      return this.#planFailed(waiting, error);
    }
    this.#start = start + plan.tested;
    const [first] = plan.steps;
    if (first?.type === "bind") this.#state.assume(pod, first.node);
    else this.#queue.park(waiting, plan.failedBy, this.#clock.now());
    for (const step of plan.steps) if (step.type === "report") this.#state.nominate(pod, step.nominatedNode);
    while (this.#writes.size >= atOnce) await Promise.race(this.#writes);
    const write: Promise<void> = this.#perform(waiting, plan.steps).finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async #perform(waiting: WaitingPod, steps: readonly SchedulerStep[]): Promise<void> {
    const { pod } = waiting;
    for (const step of steps) {
      try {
        await perform(pod, step, this.#performing);
      } catch (error) {
        if (this.#running.signal.aborted) return;
        this.#context.log.debug("a scheduling step failed", {
          pod: pod.key,
          step: step.type,
          reason: messageOf(error),
        });
        if (step.type === "bind") await this.#bindFailed(waiting, error);
        else this.#retry(waiting);
        return;
      }
    }
  }

  /** One pod or node that cannot be judged must not keep the other pods from their nodes. */
  #planFailed(waiting: WaitingPod, error: unknown): void {
    const { pod } = waiting;
    const message = messageOf(error);
    this.#context.log.error("no node could be chosen for a pod; it is retried", { pod: pod.key, reason: message });
    this.#retry(waiting);
    const failure = { message, nominatedNode: "", reason: "SchedulerError" };
    const write = report(pod, failure, this.#performing)
      .catch(() => {})
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async #bindFailed(waiting: WaitingPod, error: unknown): Promise<void> {
    const { pod } = waiting;
    this.#state.forget(pod.key);
    this.#retry(waiting);
    this.#happened("pod-removed");
    if (isNotFound(error) || isConflict(error)) return;
    const failure = { message: messageOf(error), nominatedNode: "", reason: "SchedulerError" };
    await report(pod, failure, this.#performing).catch((second: unknown) =>
      this.#context.log.debug("the pod's status was not written", { pod: pod.key, reason: messageOf(second) }),
    );
  }

  /** As the cache shows the pod by now. One that is gone, or has its node, is not tried again. */
  #retry(waiting: WaitingPod): void {
    const current = this.#running.caches.pods.get(keyOf(waiting.pod.pod));
    this.#queue.remove(waiting.pod.key);
    if (!current || current.metadata.uid !== waiting.pod.pod.metadata.uid || !isPending(current)) return;
    this.#queue.retry({ ...waiting, pod: podInfo(current) }, this.#clock.now());
    this.#wake.resolve();
  }

  /** Nodes come first, so that pods which are there already find theirs. */
  #follow(): (() => void)[] {
    const { caches } = this.#running;
    const wakes = (event: ClusterEvent) => () => this.#happened(event);
    return [
      caches.nodes.onChange((change) => this.#nodeChanged(change)),
      caches.pods.onChange((change) => this.#podChanged(change)),
      caches.claims.onChange(wakes("claim-changed")),
      caches.volumes.onChange(wakes("volume-changed")),
      caches.storageClasses.onChange(wakes("storage-class-changed")),
      caches.csiNodes.onChange(wakes("csi-node-changed")),
      caches.csiDrivers.onChange(wakes("storage-capacity-changed")),
      caches.capacities.onChange(wakes("storage-capacity-changed")),
    ];
  }

  #happened(event: ClusterEvent): void {
    this.#queue.wake(event, this.#clock.now());
    this.#wake.resolve();
  }

  #nodeChanged(change: Change<Node>): void {
    if (change.type === "deleted") return this.#state.removeNode(change.object.metadata.name);
    if (!isOtherNode(change)) return;
    this.#state.setNode(change.object);
    this.#happened(change.type === "added" ? "node-added" : "node-changed");
  }

  #podChanged({ type, object, previous }: Change<Pod>): void {
    const key = keyText(object.metadata);
    const isOther = previous !== undefined && previous.metadata.uid !== object.metadata.uid;
    if (type === "deleted" || isOther || isEnded(object)) this.#podGone(key);
    if (type === "deleted" || isEnded(object)) return;
    const { nodeName } = specOf(object);
    if (nodeName) this.#podPlaced(object, { nodeName, previous });
    else this.#podWaits(object, previous);
  }

  #podGone(key: string): void {
    this.#queue.remove(key);
    this.#state.dropNomination(key);
    if (this.#state.remove(key)) this.#happened("pod-removed");
  }

  #podPlaced(pod: Pod, { nodeName, previous }: { nodeName: string; previous: Pod | undefined }): void {
    const key = keyText(pod.metadata);
    const isNew = !this.#state.isPlaced(key) || this.#state.isAssumed(key);
    this.#queue.remove(key);
    this.#state.dropNomination(key);
    const isSame = !isNew && previous !== undefined && !isNewRequest(previous, pod) && isLeavingAlike(previous, pod);
    if (isSame) return;
    this.#state.place(podInfo(pod), nodeName);
    this.#happened(isNew ? "pod-added" : "pod-changed");
  }

  #podWaits(pod: Pod, previous: Pod | undefined): void {
    const key = keyText(pod.metadata);
    if (!isPending(pod)) {
      this.#queue.remove(key);
      this.#state.dropNomination(key);
      return;
    }
    if (this.#state.isAssumed(key)) return;
    const info = podInfo(pod);
    this.#state.nominate(info, statusOf(pod).nominatedNodeName ?? "");
    const isSame = previous && !isNewRequest(previous, pod) && !isNominationLost(previous, pod);
    if (this.#queue.has(key) && isSame) return this.#queue.refresh(info);
    this.#queue.put(info, this.#clock.now());
    this.#wake.resolve();
  }
}

/** A pod of a higher priority has used the room that was made for it. */
function isNominationLost(before: Pod, now: Pod): boolean {
  return (statusOf(before).nominatedNodeName ?? "") !== "" && (statusOf(now).nominatedNodeName ?? "") === "";
}

function isLeavingAlike(a: Pod, b: Pod): boolean {
  return a.metadata.deletionTimestamp === b.metadata.deletionTimestamp;
}
