import { suggestion } from "@causeway/foundation";
import type { Service } from "@causeway/kubernetes";
import { restriction, type ProviderLimits } from "@causeway/octavia-tree";
import { ownRanges } from "./parameters/desired.ts";
import type { ServiceObserved } from "./observed.ts";
import type { ServiceEvent } from "./plan-events.ts";
import { isHostname } from "./parameters/hostname.ts";
import {
  annotation,
  annotationKeys,
  isMalformed,
  knownAnnotation,
  prefix,
  type ServiceAnnotation,
} from "../config/annotations.ts";

/** What the Service asks for and will not get: never in silence. */
export function warningsOf(observed: ServiceObserved, limits: ProviderLimits): ServiceEvent[] {
  const { parameters, service } = observed;
  const warnings: [string, boolean, string][] = [
    [
      "LoadBalancerSourceRangesIgnored",
      restriction(ownRanges(parameters, service)).length > 0 &&
        !limits.allowedCidrs &&
        !observed.config.loadBalancer.manageSecurityGroups,
      "neither the load balancer provider nor managed security groups restrict source ranges; traffic from all sources is allowed",
    ],
    [
      "LoadBalancerAvailabilityZonesIgnored",
      parameters.availabilityZone !== undefined && !limits.availabilityZones,
      `load balancer provider ${limits.provider} of this cloud does not support availability zones`,
    ],
    [
      "LoadBalancerFlavorIgnored",
      parameters.flavorId !== undefined && !limits.flavors,
      `load balancer provider ${limits.provider} of this cloud does not support flavors`,
    ],
    [
      "LoadBalancerTimeoutsIgnored",
      asks(observed, "timeout-") && !limits.timeouts,
      `load balancer provider ${limits.provider} of this cloud does not support timeouts of listeners`,
    ],
    [
      "LoadBalancerLbMethodIgnored",
      asks(observed, "lb-method") && limits.algorithm !== undefined && parameters.method !== limits.algorithm,
      `load balancer provider ${limits.provider} has one method only, ${limits.algorithm}`,
    ],
    [
      "LoadBalancerHealthMonitorIgnored",
      unmonitored(observed, limits).length > 0,
      `load balancer provider ${limits.provider} cannot monitor members of ${unmonitored(observed, limits).join(", ")}`,
    ],
    [
      "LoadBalancerLbMethodUnknown",
      parameters.unknownMethod !== undefined,
      `there is no load balancing method "${parameters.unknownMethod}"; the default is used`,
    ],
    [
      "LoadBalancerLocalTrafficUnchecked",
      service.spec.externalTrafficPolicy === "Local" &&
        (parameters.monitor === undefined || limits.healthPort.length === 0),
      "externalTrafficPolicy is Local, and no health monitor probes the nodes' health check port: traffic also goes to nodes without pods, which drop it",
    ],
    [
      "LoadBalancerHostnameIgnored",
      parameters.hostname !== undefined && !isHostname(parameters.hostname),
      `annotation ${annotation.hostname} is not a DNS name (lower-case letters, digits, "-" and ".", at most 253 characters, not an IP address): "${(parameters.hostname ?? "").slice(0, 253)}"; the address is published instead`,
    ],
    [
      "LoadBalancerSessionAffinityIgnored",
      service.spec.sessionAffinity === "ClientIP" && !limits.persistence,
      "the load balancer provider has no session persistence",
    ],
  ];
  return [...warnings, ...misspelled(service)]
    .filter(([, holds]) => holds)
    .map(([reason, , message]): ServiceEvent => ({ type: "Warning", reason, message, ofService: true }));
}

/** Of so many wrong annotations at most an event speaks: who writes Services pays for few. */
const mostNamed = 5;

/** Annotations that are not known, and values that cannot be read: upstream takes the default in silence. */
function misspelled(service: Service): [string, boolean, string][] {
  const given = Object.entries(service.metadata.annotations ?? {});
  const unknown = given.filter(([key]) => key.startsWith(prefix) && !knownAnnotation(key)).slice(0, mostNamed);
  const malformed = given.flatMap(([key, value]) => {
    const known = knownAnnotation(key);
    // An unknown method has a warning of its own.
    if (!known || key === annotation.method || !isMalformed(known, value)) return [];
    return [`${key} is "${value.slice(0, 64)}", and not ${wantedOf(known)}; its default is used`];
  });
  const nameless = unknown.map(([key]) => `${key} is not known${suggestion(key.slice(0, 100), annotationKeys)}`);
  return [
    ["LoadBalancerAnnotationUnknown", unknown.length > 0, nameless.join("; ")],
    ["LoadBalancerAnnotationInvalid", malformed.length > 0, malformed.slice(0, mostNamed).join("; ")],
  ];
}

function wantedOf({ form, choices = [] }: ServiceAnnotation): string {
  if (form === "flag") return "true or false";
  return form === "number" ? "a whole number" : `one of ${choices.join(", ")}`;
}

/** Does the Service itself have an annotation that begins so? */
function asks({ service }: ServiceObserved, beginning: string): boolean {
  return Object.keys(service.metadata.annotations ?? {}).some((key) => key.startsWith(`${prefix}${beginning}`));
}

/** Protocols of the Service that are to be monitored and cannot be. */
function unmonitored({ parameters, service }: ServiceObserved, limits: ProviderLimits): string[] {
  if (!parameters.monitor) return [];
  const protocols = (service.spec.ports ?? []).map((port) => port.protocol ?? "TCP");
  return [...new Set(protocols)].filter((protocol) => !limits.monitors.includes(protocol));
}
