import { annotations, type Cluster, type OpenStackCluster, type OpenStackMachine } from "@causeway/api";
import { isDeleting } from "@causeway/kubernetes";
import type { Session, Startable } from "../identity/sessions.ts";
import { apiPorts } from "../openstackcluster/endpoint-port.ts";
import { isPaused, MEMBER_STATES_LAST, usesBalancer } from "../openstackcluster/gather.ts";
import { isControlPlane } from "../openstackcluster/members.ts";
import { listenerName } from "../resources/naming.ts";

/** A machine with what decides whether its cluster removes its members. */
export interface EndpointObjects {
  readonly object: OpenStackMachine;
  readonly infrastructure: OpenStackCluster | undefined;
  readonly cluster: Cluster | undefined;
  readonly crn: string;
  /** The owning Machine is being deleted, and others serve on. */
  readonly isLeaving: boolean;
}

/**
 * Names of the pools of the API's load balancer that still have a member for a machine that is on its way out. None
 * where the cluster removes no members (it is being deleted, too, or paused), and none from an Octavia that fails: the
 * deletion of a machine does not depend on it.
 */
export async function endpointPools(
  objects: EndpointObjects,
  { session, listed }: { readonly session: Session; readonly listed: (informer: Startable) => Promise<void> },
  signal: AbortSignal,
): Promise<string[]> {
  const { object, infrastructure, crn } = objects;
  if (
    !(isDeleting(object) || objects.isLeaving) ||
    !isControlPlane(object) ||
    !infrastructure ||
    !removesMembers(objects)
  )
    return [];
  const { cloud, watch } = session;
  const own = new Set((object.status?.addresses ?? []).map(({ address }) => address));
  const names = apiPorts(infrastructure.spec).map((port) => listenerName(crn, port));
  // A call would wait until the pause is over, and the deletion with it.
  if (cloud.pausedUntil("load-balancer") !== undefined) return [];
  try {
    if (!(await cloud.has("load-balancer", { signal }))) return [];
    await listed(watch.pools);
    const found: string[] = [];
    for (const pool of watch.pools.list().filter(({ name }) => names.includes(name))) {
      const members = await session.members(pool, signal, MEMBER_STATES_LAST);
      if (members.some((m) => own.has(m.address) && m.provisioning_status !== "DELETED")) found.push(pool.name);
    }
    return found;
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

function removesMembers({ infrastructure, cluster }: EndpointObjects): boolean {
  if (!infrastructure || !usesBalancer(infrastructure) || isDeleting(infrastructure)) return false;
  if (cluster === undefined || isDeleting(cluster) || isPaused(infrastructure, cluster)) return false;
  return infrastructure.metadata.annotations?.[annotations.managedBy] === undefined;
}
