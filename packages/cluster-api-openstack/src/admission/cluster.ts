import type { NeutronParameter, OpenStackCluster } from "@causeway/api";
import { immutable, without } from "./fields.ts";
import { specRefusals } from "./machine.ts";

/** Why an OpenStackCluster is refused. What can change in place is allowed; the rest was decided when it was made. */
export function clusterRefusals(after: OpenStackCluster, before: OpenStackCluster | undefined): string[] {
  if (after.metadata.deletionTimestamp !== undefined) return [];
  return [...ownRefusals(after), ...(before ? changes(after, before) : [])];
}

/** What contradicts itself. */
export function ownRefusals({ spec }: Pick<OpenStackCluster, "spec">): string[] {
  const { bastion, apiServer } = spec;
  const isInternal = spec.enableExternalNetwork === false;
  const wantsBastion = bastion !== undefined && bastion.enabled !== false;
  return [
    ...(isInternal && apiServer?.enableFloatingIP !== false
      ? ["spec.apiServer.enableFloatingIP: Invalid value: must be false where enableExternalNetwork is false"]
      : []),
    ...(isInternal && bastion?.floatingIP
      ? ["spec.bastion.floatingIP: Forbidden: enableExternalNetwork is false"]
      : []),
    ...(wantsBastion && !bastion.spec ? ["spec.bastion.spec: Required value: the bastion is enabled"] : []),
    ...(bastion?.spec ? specRefusals(bastion.spec, "spec.bastion.spec") : []),
  ];
}

function changes(after: OpenStackCluster, before: OpenStackCluster): string[] {
  const old = before.spec;
  const now = after.spec;
  return [
    ...(before.status?.network ? network(after, before) : []),
    ...(before.status?.network && old.managedSecurityGroups !== undefined && now.managedSecurityGroups === undefined
      ? ["spec.managedSecurityGroups: Forbidden: cannot be removed: machines have the groups"]
      : []),
    ...(old.controlPlaneEndpoint?.host
      ? immutable("spec.controlPlaneEndpoint", old.controlPlaneEndpoint, now.controlPlaneEndpoint)
      : []),
    ...endpoint(after, before),
  ];
}

function network(after: OpenStackCluster, before: OpenStackCluster): string[] {
  const [old, now] = [before.spec, after.spec];
  const { status } = before;
  const subnets = (spec: OpenStackCluster["spec"]): unknown =>
    (spec.managedSubnets ?? []).map((each) => without(each, "dnsNameservers"));
  return [
    ...immutable("spec.managedSubnets", subnets(old), subnets(now), "only dnsNameservers can change"),
    ...immutable("spec.managedNetwork", old.managedNetwork, now.managedNetwork),
    ...immutable("spec.managedRouter", old.managedRouter, now.managedRouter),
    ...parameter("spec.network", { old: old.network, now: now.network, id: status?.network?.id }),
    ...parameter("spec.router", { old: old.router, now: now.router, id: status?.router?.id }),
    ...parameter("spec.externalNetwork", {
      old: old.externalNetwork,
      now: now.externalNetwork,
      id: status?.externalNetwork?.id,
    }),
    ...subnetList(after, before),
    ...immutable("spec.enableExternalNetwork", old.enableExternalNetwork ?? true, now.enableExternalNetwork ?? true),
  ];
}

/** A filter may be replaced by the ID that it was resolved to. */
function parameter(
  path: string,
  { old, now, id }: { old?: NeutronParameter | undefined; now?: NeutronParameter | undefined; id?: string | undefined },
): string[] {
  if (id !== undefined && now?.id === id && now.filter === undefined) return [];
  return immutable(path, old, now, id === undefined ? "field is immutable" : `may only become the ID ${id}`);
}

function subnetList(after: OpenStackCluster, before: OpenStackCluster): string[] {
  const [old, now] = [before.spec.subnets ?? [], after.spec.subnets ?? []];
  if (old.length !== now.length) return immutable("spec.subnets", old, now);
  const ids = (before.status?.network?.subnets ?? []).map(({ id }) => id);
  return now.flatMap((subnet, index) =>
    parameter(`spec.subnets[${index}]`, { old: old[index], now: subnet, id: ids.find((id) => id === subnet.id) }),
  );
}

/** Once there is an endpoint, what it was made from remains, but for what a listener can change. */
function endpoint(after: OpenStackCluster, before: OpenStackCluster): string[] {
  if (!before.spec.controlPlaneEndpoint?.host) return [];
  const [old, now] = [before.spec.apiServer, after.spec.apiServer];
  const path = "spec.apiServer";
  const address = before.status?.apiServerManagedLoadBalancer?.ip;
  const isCurrent = address !== undefined && now?.floatingIP === address;
  const balancer = (of: typeof old): unknown =>
    without(of?.managedLoadBalancer, "allowedCIDRs", "monitor", "additionalPorts");
  // A port or address that was left open may be given once.
  const once = (field: "port" | "fixedIP"): string[] =>
    old?.[field] ? immutable(`${path}.${field}`, old[field], now?.[field]) : [];
  return [
    ...immutable(`${path}.enableFloatingIP`, old?.enableFloatingIP ?? true, now?.enableFloatingIP ?? true),
    ...(isCurrent ? [] : immutable(`${path}.floatingIP`, old?.floatingIP, now?.floatingIP)),
    ...once("port"),
    ...once("fixedIP"),
    ...immutable(
      `${path}.managedLoadBalancer`,
      balancer(old),
      balancer(now),
      "only allowedCIDRs and monitor can change",
    ),
  ];
}
