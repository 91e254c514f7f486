import type {
  FloatingIp,
  HealthMonitor,
  HealthMonitorCreate,
  Member,
  MemberCreate,
  Pool,
  PoolInCreate,
  ProvisioningStatus,
} from "@causeway/openstack";
import type { Observed } from "../service/observed.ts";

/** What all parts of a load balancer have. */
export const common = (id: string, name: string) => ({
  id,
  name,
  description: "",
  project_id: "p",
  provisioning_status: "ACTIVE" as ProvisioningStatus,
  operating_status: "ONLINE" as const,
  admin_state_up: true,
  tags: [] as string[],
  created_at: "",
  updated_at: null,
});

/** No change is put off. */
export const nothingHeld: Observed["held"] = {
  uncertain: undefined,
  busy: undefined,
  refusals: 0,
  broken: undefined,
  nodes: undefined,
  refusedMethods: new Set(),
  braked: () => undefined,
  failoverRefused: false,
  pendingSince: undefined,
};

/** A floating IP that is attached to nothing. */
export function aFloatingIp(id: string, address: string): FloatingIp {
  return {
    id,
    description: "",
    project_id: "p",
    floating_network_id: "public",
    floating_ip_address: address,
    fixed_ip_address: null,
    port_id: null,
    router_id: null,
    status: "ACTIVE",
    tags: [],
  };
}

/** A pool of a listener, without members. */
export function aPool(
  id: string,
  { lbId, listenerId }: { readonly lbId: string; readonly listenerId: string },
  body: Omit<PoolInCreate, "members" | "healthmonitor">,
): Pool {
  return {
    ...common(id, ""),
    session_persistence: null,
    healthmonitor_id: null,
    loadbalancers: [{ id: lbId }],
    listeners: [{ id: listenerId }],
    members: [],
    ...body,
    tags: [],
    name: body.name ?? "",
  } as Pool;
}

/** A pool's monitor, as Octavia completes it. */
export function aMonitor(id: string, poolId: string, body: Omit<HealthMonitorCreate, "pool_id">): HealthMonitor {
  return { ...common(id, ""), pools: [{ id: poolId }], max_retries_down: 3, ...body } as HealthMonitor;
}

/** A pool's member, as Octavia completes it. */
export function aMember(id: string, body: MemberCreate): Member {
  const defaults = { weight: 1, subnet_id: null, monitor_address: null, monitor_port: null };
  return { ...common(id, ""), ...defaults, ...body } as Member;
}
