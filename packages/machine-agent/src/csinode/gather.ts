import { CSINode, type CSIDriver, type Informer, type KubernetesClient, type Node } from "@causeway/kubernetes";
import type { Observed } from "./plan.ts";

/** Where a node and the drivers of its cluster are read. */
export interface GatherFrom {
  readonly client: KubernetesClient;
  /** The server's ID. */
  readonly machineId: string;
  readonly nodes: Informer<Node>;
  readonly drivers: Informer<CSIDriver>;
}

/** Names of the CSIDrivers of the cluster. */
export function installedOf({ drivers }: Pick<GatherFrom, "drivers">): string[] {
  return drivers.list().map(({ metadata }) => metadata.name);
}

/** From caches, and the CSINode from the server: a kubelet may read its own one only. */
export async function gather(from: GatherFrom, node: Node, signal: AbortSignal): Promise<Observed> {
  const { client, machineId } = from;
  const csiNode = await client.find(CSINode, { namespace: "", name: node.metadata.name }, { signal });
  return { machineId, node, csiNode, installed: installedOf(from) };
}
