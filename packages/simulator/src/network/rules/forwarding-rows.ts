import { touched, type NetworkState } from "../model.ts";

/** What a floating IP returns of its port forwardings. */
export const forwardingsOf = (state: NetworkState, floatingIpId: string) =>
  state.forwardings.by("floatingip_id", floatingIpId).map((row) => ({
    protocol: row.protocol,
    external_port: row.external_port,
    internal_port: row.internal_port,
    internal_ip_address: row.internal_ip_address,
    internal_port_id: row.internal_port_id,
  }));

/** A floating IP without forwardings has no router left. */
export function release(state: NetworkState, floatingIpId: string): void {
  const floating = state.floatingIps.get(floatingIpId);
  if (!floating || state.forwardings.by("floatingip_id", floatingIpId).length > 0) return;
  state.floatingIps.update(floatingIpId, { router_id: null, status: "DOWN", ...touched(state.kernel, floating) });
}

/** Forgets the forwardings to a port that is gone, and of a floating IP that is. */
export function dropForwardings(state: NetworkState, gone: { portId?: string; floatingIpId?: string }): void {
  const rows = [
    ...(gone.portId === undefined ? [] : state.forwardings.by("internal_port_id", gone.portId)),
    ...(gone.floatingIpId === undefined ? [] : state.forwardings.by("floatingip_id", gone.floatingIpId)),
  ];
  for (const row of rows) {
    state.forwardings.remove(row.id);
    release(state, row.floatingip_id);
  }
}
