import { parseCidr, parseIp } from "../rules/addresses.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { NetworkApp } from "../kit/collection.ts";
import { networkNotFound, resourceMissing } from "../errors.ts";
import { refuseFilters } from "../listing.ts";
import type { Network, NetworkState, Subnet } from "../model.ts";

/**
 * GET /network-ip-availabilities: how many addresses of each network are left. Administrators only; others see none.
 */
export function mountAvailability(app: NetworkApp, state: NetworkState): void {
  app.get("/v2.0/network-ip-availabilities", (c) => {
    const query = new URL(c.req.url).searchParams;
    refuseFilters(query, ["network_id", "network_name", "project_id", "tenant_id", "ip_version"]);
    const rows = c.var.caller.isAdmin ? state.networks.all() : [];
    const wanted = rows.filter((row) => matches(row, query)).map((row) => availability(state, row));
    const version = query.get("ip_version");
    const shown = version === null ? wanted : wanted.map((row) => ofVersion(row, Number(version)));
    return c.json({ network_ip_availabilities: shown });
  });
  app.get("/v2.0/network-ip-availabilities/:id", (c) => {
    const id = c.req.param("id");
    if (!c.var.caller.isAdmin) throw resourceMissing();
    const network = state.networks.get(id);
    if (!network) throw networkNotFound(id);
    return c.json({ network_ip_availability: availability(state, network) });
  });
}

function matches(row: Network, query: URLSearchParams): boolean {
  const has = (parameter: string, value: string) => !query.has(parameter) || query.getAll(parameter).includes(value);
  return (
    has("network_id", row.id) &&
    has("network_name", row.name) &&
    has("project_id", row.project_id) &&
    has("tenant_id", row.project_id)
  );
}

interface SubnetUse {
  readonly subnet_id: string;
  readonly ip_version: number;
  readonly cidr: string;
  readonly subnet_name: string;
  readonly used_ips: number;
  readonly total_ips: number;
}

interface NetworkUse extends JsonObject {
  readonly subnet_ip_availability: readonly SubnetUse[];
}

function availability(state: NetworkState, network: Network): NetworkUse {
  const subnets = state.subnets.by("network_id", network.id).map((subnet) => useOf(state, subnet));
  return {
    network_id: network.id,
    network_name: network.name,
    tenant_id: network.project_id,
    project_id: network.project_id,
    subnet_ip_availability: subnets,
    ...sums(subnets),
  };
}

function ofVersion(row: NetworkUse, version: number): JsonObject {
  const subnets = row.subnet_ip_availability.filter((subnet) => subnet.ip_version === version);
  return { ...row, subnet_ip_availability: subnets, ...sums(subnets) };
}

const sums = (subnets: readonly SubnetUse[]) => ({
  used_ips: subnets.reduce((sum, subnet) => sum + subnet.used_ips, 0),
  total_ips: subnets.reduce((sum, subnet) => sum + subnet.total_ips, 0),
});

function useOf(state: NetworkState, subnet: Subnet): SubnetUse {
  const ports = state.ports.by("subnet_ids", subnet.id);
  const used = ports.flatMap((port) => port.fixed_ips).filter((ip) => ip.subnet_id === subnet.id).length;
  return {
    subnet_id: subnet.id,
    ip_version: subnet.ip_version,
    cidr: subnet.cidr,
    subnet_name: subnet.name,
    used_ips: used,
    total_ips: Number(totalOf(subnet)),
  };
}

/** The addresses of the pools; of a subnet without pools all but network and broadcast. */
function totalOf(subnet: Subnet): bigint {
  const pooled = subnet.allocation_pools.reduce((sum, pool) => {
    const [start, end] = [parseIp(pool.start), parseIp(pool.end)];
    return start && end ? sum + end.value - start.value + 1n : sum;
  }, 0n);
  const cidr = parseCidr(subnet.cidr);
  return pooled > 0n || !cidr ? pooled : cidr.last - cidr.base - 1n;
}
