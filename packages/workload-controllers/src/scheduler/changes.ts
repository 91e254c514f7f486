import { canonicalJson } from "@causeway/foundation";
import type { Change, Node, Pod } from "@causeway/kubernetes";
import { specOf, statusOf, imagesOf } from "../model/spec.ts";

/** The scheduler that pods name which do not name another. */
export const schedulerName = "default-scheduler";

/** Whether a pod waits for this scheduler to choose its node. */
export function isPending(pod: Pod): boolean {
  const { nodeName, schedulerName: name = schedulerName, schedulingGates = [] } = specOf(pod);
  return (
    !nodeName &&
    name === schedulerName &&
    schedulingGates.length === 0 &&
    pod.metadata.deletionTimestamp === undefined &&
    !isEnded(pod)
  );
}

/** Such a pod takes no room on its node. */
export function isEnded(pod: Pod): boolean {
  const { phase } = statusOf(pod);
  return phase === "Succeeded" || phase === "Failed";
}

/** Whether a pod that waits has changed in more than its status. */
export function isNewRequest(before: Pod, after: Pod): boolean {
  const essence = ({ metadata, spec }: Pod) => canonicalJson([metadata.labels, metadata.annotations, spec]);
  return essence(before) !== essence(after);
}

/** Whether a node has changed in anything that scheduling reads. */
export function isOtherNode({ object, previous }: Pick<Change<Node>, "object" | "previous">): boolean {
  if (!previous) return true;
  const essence = (node: Node) =>
    canonicalJson([
      node.metadata.labels,
      node.spec.taints,
      node.spec.unschedulable,
      node.status?.allocatable,
      imagesOf(node),
    ]);
  return essence(previous) !== essence(object);
}
