import {
  CSINode,
  isNotFound,
  keyOf,
  Node,
  watchInformer,
  type ControllerOptions,
  type CSIDriver,
  type Informer,
  type KubernetesClient,
} from "@causeway/kubernetes";
import type { Clock, Log } from "@causeway/foundation";
import { planRegistration, type RegistrationStep } from "./plan.ts";

/** The node whose CSI drivers register. */
export interface RegistrationOptions {
  readonly client: KubernetesClient;
  readonly machineId: string;
  readonly nodes: Informer<Node>;
  readonly drivers: Informer<CSIDriver>;
  readonly ready: NonNullable<ControllerOptions["ready"]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Keeps the machine's CSINode. A kubelet may read its own one only, so it is read when something changes that it
 * depends on.
 */
export function registrationController(options: RegistrationOptions): ControllerOptions {
  const { client, machineId, nodes, drivers, ready, clock, log, signal } = options;
  // Most changes of a Node are heartbeats.
  let registered = "";
  return {
    name: "csinode",
    async reconcile(key) {
      const node = nodes.get(key);
      const installed = drivers.list().map(({ metadata }) => metadata.name);
      if (!node || installed.length === 0) return;
      const seen = JSON.stringify([node.metadata.uid, node.metadata.labels, installed.toSorted()]);
      if (seen === registered) return;
      const csiNode = await client.find(CSINode, { namespace: "", name: key.name }, { signal });
      const steps = planRegistration({ machineId, node, csiNode, installed });
      for (const step of steps) await perform(options, key.name, step);
      registered = seen;
    },
    sources: [watchInformer(nodes), watchInformer(drivers, () => nodes.list().map(keyOf))],
    ready,
    clock,
    log,
  };
}

async function perform({ client, signal }: RegistrationOptions, name: string, step: RegistrationStep): Promise<void> {
  const key = { namespace: "", name };
  try {
    if (step.type === "label-node") {
      const body = { metadata: { labels: step.labels } };
      await client.patch(Node, key, { type: "merge", body }, { signal });
    } else if (step.type === "create") {
      await client.create(CSINode, step.csiNode, { signal });
    } else {
      await client.patch(CSINode, key, { type: "merge", body: { spec: { drivers: step.drivers } } }, { signal });
    }
  } catch (error) {
    // The Node or its CSINode went meanwhile: the informers report it.
    if (!isNotFound(error)) throw error;
  }
}
