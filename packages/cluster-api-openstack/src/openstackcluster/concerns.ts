import { labels, type Cluster, type OpenStackMachine } from "@causeway/api";
import type { Change } from "@causeway/kubernetes";
import { isControlPlane } from "./members.ts";

/** Whether a change of a Cluster concerns its OpenStackCluster, which reads nothing of its status. */
export function clusterConcerns({ object: { metadata }, previous }: Change<Cluster>): boolean {
  if (previous === undefined) return true;
  const { generation, deletionTimestamp } = previous.metadata;
  return metadata.generation !== generation || metadata.deletionTimestamp !== deletionTimestamp;
}

/**
 * Whether a change of a machine concerns its OpenStackCluster: of workers it reads only which there are, once it is
 * deleted.
 */
export function machineConcerns({ object, previous }: Change<OpenStackMachine>): boolean {
  if (previous === undefined || isControlPlane(object) || isControlPlane(previous)) return true;
  return object.metadata.labels?.[labels.clusterName] !== previous.metadata.labels?.[labels.clusterName];
}
