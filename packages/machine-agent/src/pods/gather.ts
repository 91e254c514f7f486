import type { Informer, Node, ObjectKey, Pod } from "@causeway/kubernetes";
import type { PodVolumes } from "../volumes/pod-volumes.ts";
import { hostIPsOf, type PodAddresses } from "./addresses.ts";
import type { Observed } from "./plan.ts";

/** Where a node's pods are read, and what it assigns to them. */
export interface GatherFrom {
  readonly pods: Informer<Pod>;
  readonly addresses: PodAddresses;
  readonly volumes: Pick<PodVolumes, "waiting">;
}

/** From caches; claims and volumes of a pod are read from the server until all are bound. */
export async function gather(from: GatherFrom, key: ObjectKey, node: Node): Promise<Observed | undefined> {
  const { pods, addresses, volumes } = from;
  const pod = pods.get(key);
  if (!pod) return undefined;
  const podIPs = addresses.take(pod, node, pods.list());
  const waiting = await volumes.waiting(pod, node);
  return { pod, hostIPs: hostIPsOf(node), podIPs, hasVolumes: waiting.length === 0 };
}
