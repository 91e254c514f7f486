import type { Clock, Log } from "@causeway/foundation";
import {
  isConflict,
  isNotFound,
  keyOf,
  watchInformer,
  type ControllerOptions,
  type Informer,
  type Node,
} from "@causeway/kubernetes";
import type { PodVolumes } from "../volumes/pod-volumes.ts";
import { gather, type GatherFrom } from "./gather.ts";
import { perform, type PerformContext } from "./perform.ts";
import { plan } from "./plan.ts";

/** The node whose pods are played, and with what. */
export interface PodsControllerOptions extends GatherFrom, PerformContext {
  readonly nodes: Informer<Node>;
  readonly volumes: PodVolumes;
  readonly ready: NonNullable<ControllerOptions["ready"]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often a claim that is not bound is read again, in milliseconds: its pod was bound to the node by hand. */
const UNBOUND = 5_000;

/** The controller of a simulated node's pods. */
export function podsController(options: PodsControllerOptions): ControllerOptions {
  const { pods, nodes, volumes, ready, clock, log } = options;
  return {
    name: "pods",
    async reconcile(key, signal) {
      const node = nodes.list()[0];
      if (!node) return;
      const observed = await gather(options, key, node);
      // A pod that is gone has unmounted its volumes.
      if (!observed) return volumes.report(pods.list(), node);
      const { steps, until } = plan(observed, clock.now());
      try {
        await volumes.report(pods.list(), node);
        for (const step of steps) await perform(options, step, observed, signal);
      } catch (error) {
        // Gone, or another pod of its name: the informer reports it.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
      if (until !== undefined) return { after: Math.max(0, until - clock.now()) };
      // The node's status shows when a volume is attached; nothing shows when a claim is bound.
      if (!observed.hasVolumes) return { after: UNBOUND };
    },
    // Pods learn the addresses of their node from it.
    sources: [watchInformer(pods), watchInformer(nodes, () => pods.list().map(keyOf))],
    ready,
    clock,
    log,
  };
}
