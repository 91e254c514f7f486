import type { Clock, Log } from "@causeway/foundation";
import {
  createEventRecorder,
  CSIDriver,
  createInformers,
  isConflict,
  isNotFound,
  keyOf,
  Node,
  Pod,
  runController,
  watchInformer,
  type KubernetesClient,
  type ObjectKey,
  type ReconcileResult,
} from "@causeway/kubernetes";
import { askedOf } from "./annotations.ts";
import { hostIPsOf, PodAddresses } from "./addresses.ts";
import { claimsOf, PodVolumes } from "../volumes/pod-volumes.ts";
import { registrationController } from "../volumes/registration.ts";
import { planPod, type Step } from "./plan.ts";

/** The node whose pods are played. */
export interface PodsOptions {
  readonly nodeName: string;
  /** The server's ID: what CSI drivers call the node. */
  readonly machineId: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often a claim that is not bound is read again, in milliseconds: its pod was bound to the node by hand. */
const UNBOUND = 5_000;

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

  const announce = (pod: Pod): void => {
    const mounts = claimsOf(pod).length === 0 ? "" : "; its volumes are attached to the server, and nothing is mounted";
    const message = `Node ${nodeName} is simulated: the status of this pod is played, and none of its containers runs${mounts}`;
    events.event(pod, { type: "Normal", reason: "Simulated", message });
    const { problems } = askedOf(pod);
    if (problems.length > 0) {
      const wrong = `These annotations are ignored, see the README of machine-agent for what they can say: ${problems.join("; ")}`;
      events.event(pod, { type: "Warning", reason: "InvalidAnnotation", message: wrong });
    }
  };
  const perform = async (pod: Pod, step: Step): Promise<void> => {
    const { uid = "" } = pod.metadata;
    if (step.type === "delete") {
      await informers.client.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid }, signal });
      return;
    }
    if (pod.status?.startTime === undefined) announce(pod);
    const body = { metadata: { uid }, status: step.status };
    await informers.client.patch(Pod, keyOf(pod), { type: "strategic", body }, { subresource: "status", signal });
  };
  const reconcile = async (key: ObjectKey): Promise<ReconcileResult | void> => {
    const pod = pods.get(key);
    const node = nodes.list()[0];
    if (!node) return;
    // A pod that is gone has unmounted its volumes.
    if (!pod) return volumes.report(pods.list(), node);
    const podIPs = addresses.take(pod, node, pods.list());
    const waiting = await volumes.waiting(pod, node);
    const observed = { pod, hostIPs: hostIPsOf(node), podIPs, hasVolumes: waiting.length === 0 };
    const { steps, until } = planPod(observed, clock.now());
    try {
      await volumes.report(pods.list(), node);
      for (const step of steps) await perform(pod, step);
    } catch (error) {
      // Gone, or another pod of its name: the informer reports it.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    if (until !== undefined) return { after: Math.max(0, until - clock.now()) };
    // The node's status shows when a volume is attached; nothing shows when a claim is bound.
    if (waiting.length > 0) return { after: UNBOUND };
  };
  const forget = pods.onChange(({ type, object }) => {
    if (type === "deleted") addresses.release(object.metadata.uid ?? "");
  });
  try {
    await Promise.all([
      informers.run(signal),
      runController(
        registrationController({
          client: informers.client,
          machineId,
          nodes,
          drivers,
          ready: (within) => informers.whenSynced(within),
          clock,
          log,
          signal,
        }),
        signal,
      ),
      runController(
        {
          name: "pods",
          reconcile,
          // Pods learn the addresses of their node from it.
          sources: [watchInformer(pods), watchInformer(nodes, () => pods.list().map(keyOf))],
          ready: (within) => informers.whenSynced(within),
          clock,
          log,
        },
        signal,
      ),
    ]);
  } finally {
    forget();
  }
}
