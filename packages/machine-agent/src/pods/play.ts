import type { Clock, Log } from "@causeway/foundation";
import {
  createEventRecorder,
  CSIDriver,
  createInformers,
  Node,
  Pod,
  runController,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { csiNodeController } from "../csinode/controller.ts";
import { PodVolumes } from "../volumes/pod-volumes.ts";
import { PodAddresses } from "./addresses.ts";
import { podsController } from "./controller.ts";

/** The node whose pods are played. */
export interface PodsOptions {
  readonly nodeName: string;
  /** The server's ID: what CSI drivers call the node. */
  readonly machineId: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Plays the pods that are bound to a node until `signal` aborts. What it knows of them is in their status: a restart
 * continues from there.
 */
export async function playPods(client: KubernetesClient, options: PodsOptions, signal: AbortSignal): Promise<void> {
  const { nodeName, machineId, clock, log } = options;
  const informers = createInformers(client, { clock, log });
  const pods = informers.for(Pod, { fieldSelector: `spec.nodeName=${nodeName}` });
  const nodes = informers.for(Node, { fieldSelector: `metadata.name=${nodeName}` });
  const events = createEventRecorder(informers.client, { component: "kubelet", clock, log, signal });
  const drivers = informers.for(CSIDriver);
  const addresses = new PodAddresses();
  const driver = (name: string) => drivers.get({ namespace: "", name });
  const volumes = new PodVolumes({ client: informers.client, nodeName, driver, signal });
  const ready = (within: AbortSignal) => informers.whenSynced(within);
  const forget = pods.onChange(({ type, object }) => {
    if (type === "deleted") addresses.release(object.metadata.uid ?? "");
  });
  const common = { client: informers.client, nodes, ready, clock, log };
  try {
    await Promise.all([
      informers.run(signal),
      runController(csiNodeController({ ...common, machineId, drivers }), signal),
      runController(podsController({ ...common, nodeName, pods, events, addresses, volumes }), signal),
    ]);
  } finally {
    forget();
  }
}
