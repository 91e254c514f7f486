import type { Clock, Log } from "@causeway/foundation";
import { keyOf, watchInformer, type ControllerOptions } from "@causeway/kubernetes";
import { gather, installedOf, type GatherFrom } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";

/** The node whose CSI drivers register. */
export interface CSINodeOptions extends GatherFrom {
  readonly ready: NonNullable<ControllerOptions["ready"]>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Keeps the machine's CSINode. A kubelet may read its own one only, so it is read when something changes that it
 * depends on.
 */
export function csiNodeController(options: CSINodeOptions): ControllerOptions {
  const { client, nodes, drivers, ready, clock, log } = options;
  // Most changes of a Node are heartbeats.
  let registered = "";
  return {
    name: "csinode",
    async reconcile(key, signal) {
      const node = nodes.get(key);
      const installed = installedOf(options);
      if (!node || installed.length === 0) return;
      const seen = JSON.stringify([node.metadata.uid, node.metadata.labels, installed.toSorted()]);
      if (seen === registered) return;
      const { steps } = plan(await gather(options, node, signal));
      for (const step of steps) await perform(client, { name: key.name, step }, signal);
      registered = seen;
    },
    sources: [watchInformer(nodes), watchInformer(drivers, () => nodes.list().map(keyOf))],
    ready,
    clock,
    log,
  };
}
