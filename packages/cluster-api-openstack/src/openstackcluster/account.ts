import type { ClusterContext } from "./model.ts";

/** What the deletion of a cluster removed and what it kept, from the spec and from what was recorded. */
export function deletionAccount({ object }: ClusterContext): string {
  const removed = removedResources(object).join(", ");
  const kept = keptResources(object).join(", ");
  return `Removed: ${removed || "nothing, none was created"}. Kept: ${kept || "nothing"}`;
}

type Deleted = ClusterContext["object"];

function removedResources({ spec, status = {} }: Deleted): string[] {
  const named = (what: string, resource: { id: string; name: string } | undefined) =>
    resource ? [`${what} ${resource.name} (${resource.id})`] : [];
  const managed = (spec.managedSubnets?.length ?? 0) > 0;
  return [
    ...named("load balancer", status.apiServerManagedLoadBalancer),
    ...named("router", managed && !spec.router ? status.router : undefined),
    ...named("network", managed ? status.network : undefined),
    ...named("security group", status.controlPlaneSecurityGroup),
    ...named("security group", status.workerSecurityGroup),
    ...named("security group", status.bastionSecurityGroup),
    ...ownAddress("floating IP of the API endpoint", apiAddress({ spec, status }), spec.apiServer?.floatingIP),
    ...ownAddress("floating IP of the bastion", status.bastion?.floatingIP, spec.bastion?.floatingIP),
  ];
}

function apiAddress({ spec, status }: Pick<Deleted, "spec" | "status">): string | undefined {
  if (spec.apiServer?.enableFloatingIP === false) return undefined;
  return status?.apiServerManagedLoadBalancer?.ip ?? spec.controlPlaneEndpoint?.host;
}

function ownAddress(what: string, address: string | undefined, given: string | undefined): string[] {
  return address === undefined || address === given ? [] : [`${what} ${address}`];
}

function keptResources({ spec, status = {} }: Deleted): string[] {
  const managed = (spec.managedSubnets?.length ?? 0) > 0;
  const address = spec.apiServer?.floatingIP;
  return [
    ...(!managed && status.network ? [`network ${status.network.name} (spec.network or spec.subnets names it)`] : []),
    ...(spec.router && status.router ? [`router ${status.router.name} (spec.router names it)`] : []),
    ...(address ? [`floating IP ${address} (spec.apiServer.floatingIP names it)`] : []),
    ...(spec.bastion?.floatingIP ? [`floating IP ${spec.bastion.floatingIP} (spec.bastion.floatingIP names it)`] : []),
  ];
}
