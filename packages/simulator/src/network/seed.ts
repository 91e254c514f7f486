import type { Caller, Identified, Kernel } from "../kernel/interface.ts";
import { ensureDefaultGroup } from "./rules/default-group.ts";
import { createNetwork } from "./resources/networks.ts";
import { networkState } from "./model.ts";
import { createSubnet } from "./resources/subnets.ts";

/**
 * The external network "public" (172.24.4.0/24, floating IPs from .10 to .250), owned by `projectId` (default: the
 * project named "admin", if there is one), and the default security group of every project; nothing that is there
 * already.
 */
export function seedNetwork(kernel: Kernel, projectId?: string): void {
  const state = networkState(kernel);
  const projects = kernel.table<Identified & { readonly name?: string }>("_project").all();
  kernel.atomic(() => {
    for (const project of projects) ensureDefaultGroup(state, project.id);
    if (state.networks.by("name", "public").length > 0) return;
    const owner = projectId ?? projects.find((project) => project.name === "admin")?.id ?? "admin";
    const caller: Caller = { userId: "", projectId: owner, roles: ["admin"], isAdmin: true };
    const network = createNetwork(state, owner, {
      name: "public",
      "router:external": true,
      port_security_enabled: false,
      "provider:network_type": "flat",
      "provider:physical_network": "public",
    });
    const place = { caller, projectId: owner };
    createSubnet(state, place, {
      name: "public-subnet",
      network_id: network.id,
      ip_version: 4,
      cidr: "172.24.4.0/24",
      gateway_ip: "172.24.4.1",
      enable_dhcp: false,
      allocation_pools: [{ start: "172.24.4.10", end: "172.24.4.250" }],
    });
  });
}
