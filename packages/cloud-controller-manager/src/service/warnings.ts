import type { PlannedEvent } from "@causeway/kubernetes";
import { restriction } from "./desired.ts";
import type { Observed } from "./gather.ts";
import type { ProviderLimits } from "./provider.ts";

/** What the Service asks for and will not get: never in silence. */
export function warningsOf(observed: Observed, limits: ProviderLimits): PlannedEvent[] {
  const { parameters, service } = observed;
  const warnings: [string, boolean, string][] = [
    [
      "LoadBalancerSourceRangesIgnored",
      restriction(parameters.sourceRanges).length > 0 &&
        !limits.allowedCidrs &&
        !observed.config.loadBalancer.manageSecurityGroups,
      "the load balancer provider cannot restrict source ranges; traffic from everywhere is let through",
    ],
    [
      "LoadBalancerAvailabilityZonesIgnored",
      parameters.availabilityZone !== undefined && !limits.availabilityZones,
      "the load balancer provider knows no availability zones",
    ],
    [
      "LoadBalancerLbMethodUnknown",
      parameters.unknownMethod !== undefined,
      `there is no load balancing method "${parameters.unknownMethod}"; the default is used`,
    ],
    [
      "LoadBalancerLocalTrafficUnchecked",
      service.spec.externalTrafficPolicy === "Local" && (parameters.monitor === undefined || !limits.monitorPort),
      "externalTrafficPolicy is Local, and no health monitor asks the nodes' health check port: traffic also goes to nodes without pods, which drop it",
    ],
    [
      "LoadBalancerDualStackIgnored",
      (service.spec.ipFamilies?.length ?? 1) > 1,
      `the load balancer has an address of the first family only (${service.spec.ipFamilies?.[0]})`,
    ],
    [
      "LoadBalancerSessionAffinityIgnored",
      service.spec.sessionAffinity === "ClientIP" && !limits.persistence,
      "the load balancer provider has no session persistence",
    ],
  ];
  return warnings
    .filter(([, holds]) => holds)
    .map(([reason, , message]): PlannedEvent => ({ type: "Warning", reason, message }));
}
