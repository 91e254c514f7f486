import type { Observed } from "./gather.ts";

const DESCRIBED = / (?:from|Service LoadBalancer in) cluster (\S.*)$/;

/** The clusters that descriptions of load balancers, floating IPs and security groups name, in order. */
export function clustersOf({ loadBalancers, floatingIps, securityGroups }: Observed): string[] {
  const described = [...loadBalancers, ...floatingIps, ...securityGroups].map(({ description }) => description ?? "");
  return [...new Set(described.flatMap((text) => DESCRIBED.exec(text)?.[1] ?? []))].sort();
}
