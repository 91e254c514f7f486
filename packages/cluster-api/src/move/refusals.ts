import { CausewayError, isRecord } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { marks, savedFolder, type Member } from "./graph.ts";
import { nameOf } from "./transfer.ts";

/**
 * Everything that can be refused is refused before anything is changed. `target`: where the clusters move.
 * `handsOver`: control planes as pods are handed over.
 * @throws MOVE_UNDER_WAY, MOVE_OBJECT_DELETED, MOVE_CONTROL_PLANE_STAYS
 */
export function refuseUnmovable(graph: readonly Member[], target: string, handsOver = false): void {
  for (const { object } of graph) {
    const other = object.metadata.annotations?.[marks.target];
    if (other !== undefined && other !== target) throw underWay(object, other);
    if (object.metadata.deletionTimestamp !== undefined)
      throw new CausewayError("MOVE_OBJECT_DELETED", `${nameOf(object)} is being deleted`, {
        hint: "Wait until it is gone, then move. Where a move paused its Cluster, it goes only once spec.paused of the Cluster is false again.",
      });
    if (isControlPlane(object)) refuseControlPlane(object, handsOver);
  }
}

/** A hosted control plane. */
export function isControlPlane({ kind }: KubeObject): boolean {
  return kind === "HostedControlPlane";
}

function refuseControlPlane(object: KubeObject, handsOver: boolean): void {
  const runtime = runtimeOf(object);
  if (runtime === "Pods" && handsOver) return;
  const stays = (why: string, hint: string): CausewayError =>
    new CausewayError("MOVE_CONTROL_PLANE_STAYS", `${nameOf(object)} cannot be moved: ${why}`, {
      hint: `${hint} Nothing was changed.`,
    });
  if (runtime === "Pods")
    throw stays(
      "its pods would be run by two management clusters",
      "With --to-kubeconfig and --hosted-control-planes it is handed over to another management cluster, which is a preview. Into a folder it cannot be saved.",
    );
  if (runtime === "Process")
    throw stays(
      `its data is on the disk of the host that runs its processes, not in objects, and ${reachedAt(object)}`,
      "Back it up with spec.backup, and create it in the target with causeway restore control-plane.",
    );
  throw stays(
    `the data of its API server is in the process that runs it, not in objects, and ${reachedAt(object)}`,
    "Move the whole management cluster with causeway backup and causeway restore, to a host to which that address leads afterwards. Control planes with spec.runtime Pods move one by one.",
  );
}

/** Where nodes and users point. */
function reachedAt(object: KubeObject): string {
  const { status } = object as KubeObject & { status?: { endpoint?: { host?: string; port?: number } } };
  const { host, port } = status?.endpoint ?? {};
  const address = host === undefined || port === undefined ? "an address" : `${host}:${port}`;
  return `machines and users reach it at ${address} of that host`;
}

/** As its controller chose it; undefined: not yet. */
function runtimeOf(object: KubeObject): unknown {
  const { spec, status } = object as KubeObject & { spec?: unknown; status?: unknown };
  const [chosen, wanted] = [status, spec].map((each) => (isRecord(each) ? each["runtime"] : undefined));
  return chosen ?? wanted;
}

function underWay(object: KubeObject, target: string): CausewayError {
  const folder = savedFolder(target);
  return folder === undefined
    ? new CausewayError("MOVE_UNDER_WAY", `${nameOf(object)} is being moved to another management cluster`, {
        hint: "Finish that move first: repeat its command.",
      })
    : new CausewayError("MOVE_UNDER_WAY", `${nameOf(object)} is paused, since it is being saved in ${folder}`, {
        hint: `Finish that first: repeat causeway move --to-directory ${folder}.`,
      });
}
