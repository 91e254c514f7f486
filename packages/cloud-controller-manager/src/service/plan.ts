import type { LoadBalancerIngress, Plan, PlannedEvent, ServiceStatus } from "@causeway/kubernetes";
import type { LoadBalancer, LoadBalancerCreate } from "@causeway/openstack";
import { listenerSettings, monitorBody } from "./bodies.ts";
import { desiredPorts, invalidRanges, type DesiredPort } from "./desired.ts";
import { serviceFinalizer, type Observed } from "./gather.ts";
import { annotation, loadBalancerDescription } from "./names.ts";
import { planFloatingIp } from "./plan-floating-ip.ts";
import { planRelease } from "./plan-release.ts";
import { nextChange } from "./plan-tree.ts";
import { limitsOf, type ProviderLimits } from "./provider.ts";
import type { Step } from "./steps.ts";

/** A pending load balancer is looked at again after this long (ms) even if no change was seen. */
const patience = 60_000;

/**
 * The rules of a Service of type LoadBalancer (cloud-provider-openstack's ensure, update and delete as one). A plan has at most
 * one change of the load balancer itself, since each makes it immutable for a while; address work goes on beside it.
 */
export function plan(observed: Observed, now: number): Plan<Step, ServiceStatus> {
  const { service } = observed;
  if (service.metadata.deletionTimestamp !== undefined || service.spec.type !== "LoadBalancer")
    return planRelease(observed, now);
  const refusal = refuse(observed);
  if (refusal !== undefined) return failedPlan(observed, refusal);
  if (!service.metadata.finalizers?.includes(serviceFinalizer))
    return { steps: [{ type: "add-finalizer" }], status: statusOf(observed) };
  const lb = observed.loadBalancers[0];
  return lb ? planExisting(observed, lb, now) : planCreate(observed);
}

/** Why the Service cannot be served; undefined when it can. */
function refuse(observed: Observed): string | undefined {
  if (!observed.config.loadBalancer.enabled) return "load balancers are switched off in cloud.conf";
  if (!observed.octavia) return "the cloud has no load balancing service (Octavia)";
  const bad = invalidRanges(observed.parameters.sourceRanges);
  if (bad.length > 0) return `source ranges are not CIDRs: ${bad.join(", ")}`;
  if (observed.parameters.problems.length > 0) return observed.parameters.problems.join("; ");
  if (observed.loadBalancers.length > 1)
    return `${observed.loadBalancers.length} load balancers are named ${observed.lbName}; delete those that are not wanted`;
  return undefined;
}

function failedPlan(observed: Observed, message: string): Plan<Step, ServiceStatus> {
  return {
    steps: [],
    status: statusOf(observed),
    events: [{ type: "Warning", reason: "SyncLoadBalancerFailed", message }],
  };
}

function planCreate(observed: Observed): Plan<Step, ServiceStatus> {
  const { parameters, nodes, nodeSubnet } = observed;
  const placed =
    parameters.portId !== undefined || parameters.subnetId !== undefined || parameters.networkId !== undefined;
  if (nodes.length === 0 || (!placed && !nodeSubnet)) {
    return {
      steps: [],
      status: statusOf(observed),
      wait: { for: "a node that can be a member" },
      events: [
        {
          type: "Warning",
          reason: "UnAvailableLoadBalancer",
          message: "There are no available nodes for LoadBalancer",
        },
      ],
    };
  }
  const body = createBody(observed);
  return {
    steps: [{ type: "create-load-balancer", body }],
    status: statusOf(observed),
    events: [
      { type: "Normal", reason: "EnsuringLoadBalancer", message: "Ensuring load balancer" },
      ...limitEvents(observed, limitsOf(observed.config.loadBalancer.provider)),
    ],
  };
}

function createBody(observed: Observed): LoadBalancerCreate {
  const { parameters, service, lbName, clusterName, config } = observed;
  const provider = config.loadBalancer.provider;
  const limits = limitsOf(provider);
  const address = service.spec.loadBalancerIP;
  const vip = parameters.internal && address !== undefined && address !== "" ? { vip_address: address } : {};
  return {
    name: lbName,
    description: loadBalancerDescription(clusterName, service),
    ...placement(observed),
    ...vip,
    ...(provider === undefined ? {} : { provider }),
    ...(limits.flavors && parameters.flavorId !== undefined ? { flavor_id: parameters.flavorId } : {}),
    ...(limits.availabilityZones && parameters.availabilityZone !== undefined
      ? { availability_zone: parameters.availabilityZone }
      : {}),
    tags: [lbName],
    listeners: wanted(observed, limits).map((port) => listenerInCreate(port, lbName, limits)),
  };
}

function placement({ parameters, nodeSubnet }: Observed): Partial<LoadBalancerCreate> {
  if (parameters.portId !== undefined) return { vip_port_id: parameters.portId };
  if (parameters.subnetId !== undefined) return { vip_subnet_id: parameters.subnetId };
  if (parameters.networkId !== undefined) return { vip_network_id: parameters.networkId };
  return nodeSubnet ? { vip_subnet_id: nodeSubnet.id } : {};
}

function listenerInCreate(
  port: DesiredPort,
  lbName: string,
  limits: ProviderLimits,
): NonNullable<LoadBalancerCreate["listeners"]>[number] {
  const monitor = port.monitor && limits.monitorInCreate ? { healthmonitor: monitorBody(port) } : {};
  return {
    name: port.listenerName,
    protocol: port.protocol,
    protocol_port: port.port,
    ...listenerSettings(port),
    tags: [lbName],
    default_pool: {
      name: port.poolName,
      protocol: port.poolProtocol,
      lb_algorithm: port.algorithm,
      ...(port.persistence ? { session_persistence: port.persistence } : {}),
      members: [...port.members],
      ...monitor,
    },
  };
}

function wanted(observed: Observed, limits: ProviderLimits): DesiredPort[] {
  const { service, nodes, parameters, lbName, nodeSubnet } = observed;
  return desiredPorts({
    service,
    nodes,
    parameters,
    limits,
    lbName,
    memberSubnetId: parameters.memberSubnetId ?? parameters.subnetId ?? nodeSubnet?.id,
  });
}

function planExisting(observed: Observed, lb: LoadBalancer, now: number): Plan<Step, ServiceStatus> {
  const status = statusOf(observed);
  if (lb.provisioning_status === "PENDING_DELETE")
    return { steps: [], status, wait: { for: `load balancer ${lb.id} to be gone`, until: now + patience } };
  if (lb.provisioning_status === "ERROR") return planBroken(observed, lb);
  const limits = limitsOf(lb.provider);
  const address = planFloatingIp(observed, lb);
  const change =
    lb.provisioning_status === "ACTIVE" ? nextChange(observed, { lb, wanted: wanted(observed, limits) }) : undefined;
  const steps = [...(change ? [change] : []), ...address.steps, ...annotateSteps(observed, lb)];
  if (steps.length > 0) return { steps, status, events: address.events };
  if (lb.provisioning_status !== "ACTIVE")
    return {
      steps: [],
      status,
      wait: { for: `load balancer ${lb.id} to be ACTIVE`, until: now + patience },
      events: address.events,
    };
  const done = isPublished(observed, status) ? [] : ensured();
  return { steps: [], status, events: [...address.events, ...limitEvents(observed, limits), ...done] };
}

/** One that broke before it ever served is made anew; one that has served is a person's to look at. */
function planBroken(observed: Observed, lb: LoadBalancer): Plan<Step, ServiceStatus> {
  const served = (observed.service.status?.loadBalancer?.ingress?.length ?? 0) > 0;
  if (!served && lb.name === observed.lbName) {
    const reason = `load balancer ${lb.id} went to ERROR while it was made; it is deleted and made anew`;
    return {
      steps: [{ type: "delete-load-balancer", id: lb.id, name: lb.name, cascade: true, reason }],
      status: statusOf(observed),
    };
  }
  return failedPlan(
    observed,
    `load balancer ${lb.id} is in ERROR: fail it over (openstack loadbalancer failover ${lb.id}), or delete it and it will be made anew`,
  );
}

function annotateSteps(observed: Observed, lb: LoadBalancer): Step[] {
  const have = observed.service.metadata.annotations ?? {};
  const address = addressOf(observed) ?? lb.vip_address;
  const external = !observed.parameters.internal && observed.externalNetwork !== undefined;
  const wantedAddress = external && observed.floatingIp === undefined ? undefined : address;
  const change: Record<string, string> = {};
  if (have[annotation.loadBalancerId] !== lb.id) change[annotation.loadBalancerId] = lb.id;
  if (wantedAddress !== undefined && have[annotation.loadBalancerAddress] !== wantedAddress)
    change[annotation.loadBalancerAddress] = wantedAddress;
  return Object.keys(change).length === 0 ? [] : [{ type: "annotate", annotations: change }];
}

function addressOf(observed: Observed): string | undefined {
  if (observed.parameters.internal) return observed.loadBalancers[0]?.vip_address;
  return observed.floatingIp?.floating_ip_address;
}

/** Published when the load balancer can serve: never before it is ACTIVE the first time, and kept while it is changed. */
function statusOf(observed: Observed): ServiceStatus {
  const lb = observed.loadBalancers[0];
  const before = observed.service.status?.loadBalancer?.ingress ?? [];
  if (!lb || observed.service.spec.type !== "LoadBalancer") return { loadBalancer: {} };
  if (lb.provisioning_status !== "ACTIVE" && before.length === 0) return { loadBalancer: {} };
  const { parameters, externalNetwork } = observed;
  const forcedInternal = externalNetwork === undefined;
  const address = addressOf(observed) ?? (forcedInternal ? lb.vip_address : undefined);
  if (parameters.hostname !== undefined) return { loadBalancer: { ingress: [{ hostname: parameters.hostname }] } };
  if (address === undefined) return { loadBalancer: {} };
  const mode: LoadBalancerIngress["ipMode"] = parameters.proxyProtocol === undefined ? "VIP" : "Proxy";
  return { loadBalancer: { ingress: [{ ip: address, ipMode: mode }] } };
}

function isPublished({ service }: Observed, status: ServiceStatus): boolean {
  const key = (s: ServiceStatus | undefined) =>
    JSON.stringify((s?.loadBalancer?.ingress ?? []).map((i) => [i.ip, i.hostname]));
  return key(service.status) === key(status);
}

function ensured(): PlannedEvent[] {
  return [{ type: "Normal", reason: "EnsuredLoadBalancer", message: "Ensured load balancer" }];
}

function limitEvents({ parameters }: Observed, limits: ProviderLimits): PlannedEvent[] {
  const events: PlannedEvent[] = [];
  if (parameters.sourceRanges.length > 0 && !limits.allowedCidrs) {
    events.push({
      type: "Warning",
      reason: "LoadBalancerSourceRangesIgnored",
      message: "the load balancer provider cannot restrict source ranges; traffic from everywhere is let through",
    });
  }
  if (parameters.availabilityZone !== undefined && !limits.availabilityZones) {
    events.push({
      type: "Warning",
      reason: "LoadBalancerAvailabilityZonesIgnored",
      message: "the load balancer provider knows no availability zones",
    });
  }
  return events;
}
