import { CausewayError, type Clock } from "@causeway/foundation";
import type { Cloud, Port } from "@causeway/openstack";
import type { Orphan } from "./plan.ts";

/** How long (ms) the end of a load balancer is waited for, and how often it is read. */
const deletionTimeout = 600_000;
const pause = 1_000;

/** With what orphans are deleted; `ports` as they were when the sweep was planned. */
export interface PerformContext {
  readonly cloud: Cloud;
  readonly ports: readonly Port[];
  readonly clock: Clock;
}

/** Removes one orphan; returns when it is gone. Throws SWEEP_STUCK when a load balancer does not go. */
export async function removeOrphan(using: PerformContext, orphan: Orphan, signal: AbortSignal): Promise<void> {
  const { cloud } = using;
  switch (orphan.kind) {
    case "load balancer":
      return removeBalancer(using, orphan.id, signal);
    case "floating IP":
      return cloud.network.floatingIps.delete(orphan.id, { signal });
    case "security group":
      return removeGroup(using, orphan.id, signal);
  }
}

async function removeBalancer({ cloud, clock }: PerformContext, id: string, signal: AbortSignal): Promise<void> {
  const { loadBalancing } = cloud;
  await loadBalancing.deleteLoadBalancer(id, { cascade: true, signal });
  const end = clock.now() + deletionTimeout;
  while (clock.now() < end) {
    const left = await loadBalancing.loadBalancers.find(id, { signal });
    if (left === undefined || left.provisioning_status === "DELETED") return;
    if (left.provisioning_status === "ERROR") break;
    await clock.sleep(pause, signal);
  }
  throw new CausewayError("SWEEP_STUCK", `The deletion of load balancer ${id} has not ended.`, {
    hint: "See its provisioning_status; the cloud's operator can help one that remains PENDING or ERROR.",
  });
}

/** Removes the group from all ports first. A port that has changed since it was listed is read again. */
async function removeGroup({ cloud, ports }: PerformContext, id: string, signal: AbortSignal): Promise<void> {
  const { network } = cloud;
  for (const { id: portId } of ports.filter((port) => port.security_groups.includes(id))) {
    const port = await network.ports.find(portId, { signal });
    if (!port?.security_groups.includes(id)) continue;
    const groups = port.security_groups.filter((group) => group !== id);
    await network.ports.update(portId, { security_groups: groups }, { signal, ifRevision: port.revision_number });
  }
  await network.securityGroups.delete(id, { signal });
}
