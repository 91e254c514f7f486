import { CausewayError, type Clock } from "@causeway/foundation";
import type { Cloud } from "@causeway/openstack";
import { isGone } from "../openstackmachine/server.ts";
import type { ClusterOrphan } from "./model.ts";

/** How long (ms) the end of a deletion is waited for, and how often it is read. */
const deletionTimeout = 600_000;
const pause = 1_000;

interface PerformContext {
  readonly cloud: Cloud;
  readonly clock: Clock;
}

/**
 * Deletes one orphan, and returns when it is gone; one that is gone already is no error. @throws SWEEP_STUCK,
 * OPENSTACK_…
 */
export async function deleteOrphan(using: PerformContext, orphan: ClusterOrphan, signal: AbortSignal): Promise<void> {
  const { network, compute, blockStorage, loadBalancing } = using.cloud;
  const { id } = orphan;
  switch (orphan.kind) {
    case "server":
      await compute.servers.delete(id, { signal });
      return until(using, orphan, async () => {
        const server = await compute.servers.find(id, { signal });
        return server === undefined || isGone(server) ? "gone" : server.status;
      });
    case "volume":
      // A server may have deleted it with itself.
      if ((await blockStorage.volumes.find(id, { signal })) === undefined) return;
      await blockStorage.volumes.delete(id, { signal });
      return until(using, orphan, async () => (await blockStorage.volumes.find(id, { signal }))?.status ?? "gone");
    case "trunk":
      if (orphan.subports?.length) await network.removeSubPorts(id, [...orphan.subports], { signal, deletes: true });
      return network.trunks.delete(id, { signal });
    case "port":
      return network.ports.delete(id, { signal });
    case "load balancer":
      await loadBalancing.deleteLoadBalancer(id, { cascade: true, signal });
      return until(using, orphan, async () => {
        const status = (await loadBalancing.loadBalancers.find(id, { signal }))?.provisioning_status ?? "gone";
        return status === "DELETED" ? "gone" : status;
      });
    case "floating IP":
      return network.floatingIps.delete(id, { signal });
    case "router": {
      const { routes = [], interfaces = [] } = orphan;
      if (routes.length > 0) await network.removeRoutes(id, routes, { signal, deletes: true });
      for (const subnet_id of interfaces)
        await network.removeRouterInterface(id, { subnet_id }, { signal, deletes: true });
      return network.routers.delete(id, { signal });
    }
    case "network":
      return network.networks.delete(id, { signal });
    case "security group":
      return network.securityGroups.delete(id, { signal });
  }
}

async function until(
  { clock }: PerformContext,
  { kind, id }: ClusterOrphan,
  state: () => Promise<string>,
): Promise<void> {
  const end = clock.now() + deletionTimeout;
  let last = "";
  while (clock.now() < end) {
    last = await state();
    if (last === "gone") return;
    if (last.toLowerCase().startsWith("error")) break;
    await clock.sleep(pause);
  }
  throw new CausewayError("SWEEP_STUCK", `The deletion of ${kind} ${id} has not ended; it is ${last}.`, {
    hint: "See its status in the cloud; the cloud's operator can help one that remains in ERROR.",
  });
}
