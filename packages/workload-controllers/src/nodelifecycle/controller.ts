import { Lease, Node, Pod, watchInformer, type ControllerOptions, type ObjectKey } from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { byNode, gather, Heartbeats, type NodeCaches } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import { Zones } from "./zones.ts";

/**
 * Nodes whose kubelets are silent become Unknown, and what does not tolerate that is evicted. One timer for each node.
 */
export function nodeLifecycleController(context: Context): ControllerOptions {
  const { informers, clock, log, events } = context;
  const caches: NodeCaches = {
    nodes: informers.for(Node),
    leases: informers.for(Lease, { namespace: "kube-node-lease" }),
    pods: informers.for(Pod),
  };
  informers.index(caches.pods, { [byNode]: ({ spec }) => (spec.nodeName ? [spec.nodeName] : []) });
  const heartbeats = new Heartbeats();
  const zones = new Zones();
  return {
    name: "nodelifecycle",
    // One at a time: nodes of a zone take turns.
    concurrency: 1,
    async ready(signal) {
      await Promise.all([caches.nodes, caches.leases, caches.pods].map((one) => one.whenSynced(signal)));
    },
    async reconcile(key, signal) {
      const now = clock.now();
      const charge = context.charge ?? ((work) => work());
      const facts = charge(() => gather(key, { caches, heartbeats, zones, now }));
      if (!facts) return heartbeats.forget(key.name);
      const { steps, until, startsEviction } = charge(() => plan(facts, now));
      for (const step of steps) {
        await perform(facts.node, step, { client: informers.client, clock, events, signal });
        if (step.type === "write-taints" && startsEviction) zones.used(facts.node, now);
        // What follows is planned from the node as it is by then.
        if (step.type === "write-taints" || step.type === "write-conditions") return { after: 1 };
      }
      return until === undefined ? {} : { after: Math.max(1, until - clock.now()) };
    },
    sources: [
      watchInformer(caches.nodes),
      watchInformer(caches.pods, ({ object, previous }) => {
        const name = object.spec.nodeName;
        return !name || (previous && previous.spec.nodeName === name) ? [] : nodeKey(name);
      }),
    ],
    clock,
    log,
  };
}

function nodeKey(name: string): ObjectKey[] {
  return [{ namespace: "", name }];
}
