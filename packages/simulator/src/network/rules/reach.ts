import type { NetworkState } from "../model.ts";

/** From a subnet to an external network. */
export interface Way {
  readonly subnetId: string;
  readonly externalId: string;
}

/** A router with an interface in the subnet and its gateway in the external network; undefined if there is none. */
export function routerBetween(state: NetworkState, { subnetId, externalId }: Way): string | undefined {
  for (const interfacePort of state.ports.by("subnet_ids", subnetId)) {
    if (interfacePort.device_owner !== "network:router_interface") continue;
    const router = state.routers.get(interfacePort.device_id);
    if (router?.external_gateway_info?.network_id === externalId) return router.id;
  }
  return undefined;
}
