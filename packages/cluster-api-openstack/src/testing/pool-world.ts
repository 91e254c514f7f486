import type { IPAddress, IPAddressClaim, OpenStackFloatingIPPool, OpenStackFloatingIPPoolSpec } from "@causeway/api";
import type { FloatingIp } from "@causeway/openstack";
import type { Observed } from "../floatingippool/model.ts";
import { addressFinalizer, poolDescription, poolFinalizer } from "../floatingippool/naming.ts";
import { plan as planPool, type PoolPlan } from "../floatingippool/plan.ts";
import { external, now, projectId } from "./objects.ts";

/** The namespace of all objects. */
export const namespace = "default";
/** A pool with its finalizer. */
export const pool = (
  spec: Partial<OpenStackFloatingIPPoolSpec> = {},
  metadata: object = {},
): OpenStackFloatingIPPool => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
  kind: "OpenStackFloatingIPPool",
  metadata: { name: "public", namespace, uid: "uid-pool", generation: 1, finalizers: [poolFinalizer], ...metadata },
  spec: { identityRef: { name: "cloud", cloudName: "c" }, reclaimPolicy: "Delete", ...spec },
});
const poolRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackFloatingIPPool", name: "public" };
/** A claim of the pool. */
export const claim = (name: string, status?: IPAddressClaim["status"]): IPAddressClaim => ({
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddressClaim",
  metadata: { name, namespace },
  spec: { poolRef },
  ...(status ? { status } : {}),
});
/** An address of the pool, for the claim of its name. */
export const address = (name: string, ip: string, metadata: object = {}): IPAddress => ({
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddress",
  metadata: { name, namespace, finalizers: [addressFinalizer], ...metadata },
  spec: { address: ip, prefix: 32, claimRef: { name }, poolRef },
});
/** A free floating IP that the pool has created. */
export const ip = (n: number, more: Partial<FloatingIp> = {}): FloatingIp => ({
  id: `ip-${n}`,
  project_id: projectId,
  floating_network_id: external.id,
  floating_ip_address: `172.24.4.${n}`,
  fixed_ip_address: null,
  port_id: null,
  router_id: null,
  status: "DOWN",
  description: poolDescription(pool()),
  tags: ["cluster-api-provider-openstack-fip-pool-public"],
  ...more,
});
/** The metadata of an object that is being deleted. */
export const gone = { deletionTimestamp: "2026-11-21T00:00:00Z" };

/** What a pool has, and what is in its project. */
export interface Content {
  readonly object?: OpenStackFloatingIPPool;
  readonly claims?: readonly IPAddressClaim[];
  readonly addresses?: readonly IPAddress[];
  readonly floatingIps?: readonly FloatingIp[];
  readonly networks?: readonly (typeof external)[];
  readonly more?: Partial<Observed>;
}

/** The plan of a pool. */
export function whole({
  object = pool(),
  claims = [],
  addresses = [],
  floatingIps = [],
  networks = [external],
  more,
}: Content): PoolPlan {
  const identity = { ok: true, cloud: { projectId, networks, floatingIps } } as const;
  return planPool({ object, paused: false, identity, claims, addresses, ...more }, now);
}

/** The steps of a plan in words, and its status. */
export function plan(content: Content): { readonly shown: string[]; readonly status: PoolPlan["status"] } {
  const { steps, status } = whole(content);
  const shown = steps.map((step) => {
    const { type, reason: _reason, ...rest } = step;
    const { address: at, claim: of, name, id } = rest as Record<string, string>;
    return [type, of ?? name ?? id, at].filter((part) => part !== undefined).join(" ");
  });
  return { shown, status };
}
