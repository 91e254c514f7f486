import type { OpenStackMachine } from "@causeway/api";
import type { FloatingIp, LoadBalancer, Port } from "@causeway/openstack";
import { description } from "../resources/naming.ts";
import { chosen, isOwnedAddress } from "../resources/ownership.ts";
import { bastionAddresses } from "./bastion.ts";
import { isControlPlane } from "./members.ts";
import { endpointPort } from "./endpoint-port.ts";
import { planLoadBalancer } from "./load-balancer.ts";
import { found, missing, type ClusterContext, type Part } from "./model.ts";
import type { ClusterStep } from "./steps.ts";
import { duplicates, tagSteps, type NetworkPart } from "./network.ts";
import { portOf } from "./port-index.ts";
import type { RouterPart } from "./router.ts";

/** The endpoint part of a plan. */
export interface EndpointPart extends Part {
  readonly loadBalancer?: LoadBalancer;
  readonly floatingIp?: FloatingIp;
}

const type = "APIEndpointReady";

/**
 * Where the API server is reached: a load balancer, a given endpoint, a floating IP or a fixed address, in this
 * order; or nothing of ours, when the control plane brings its own endpoint.
 */
export function planEndpoint(context: ClusterContext, network: NetworkPart, router: RouterPart): EndpointPart {
  const { spec } = context.object;
  const hosted = hostedEndpoint(context);
  if (hosted) return hosted;
  const balancer = spec.apiServer?.managedLoadBalancer;
  if (balancer && balancer.enabled !== false) return planBalanced(context, network, router);
  const host = spec.controlPlaneEndpoint?.host;
  if (wantsFloatingIp(context) && (host === undefined || isFloatingHost(context, host))) {
    return planFloating(context, router);
  }
  if (host !== undefined) return { finding: found(type, "EndpointGiven", `The endpoint is ${host}`), steps: [] };
  const fixed = spec.apiServer?.fixedIP;
  if (fixed) return settled(context, fixed, []);
  return { finding: found(type, "EndpointFromControlPlane", "The control plane brings its own endpoint"), steps: [] };
}

/** A hosted control plane serves the API where it runs: an endpoint of ours would lead nowhere. */
function hostedEndpoint({ object: { spec }, controlPlane }: ClusterContext): EndpointPart | undefined {
  if (controlPlane?.kind !== "HostedControlPlane" || spec.controlPlaneEndpoint?.host !== undefined) return undefined;
  const balancer = spec.apiServer?.managedLoadBalancer;
  const wanted = (balancer && balancer.enabled !== false) || spec.apiServer?.enableFloatingIP !== false;
  const where = `The API endpoint is that of HostedControlPlane ${controlPlane.name}`;
  const message = wanted ? `${where}; spec.apiServer of the OpenStackCluster has no effect` : where;
  return { finding: found(type, "EndpointFromControlPlane", message), steps: [] };
}

function wantsFloatingIp({ object }: ClusterContext): boolean {
  return object.spec.apiServer?.enableFloatingIP !== false;
}

/** True if a recorded endpoint is a floating IP that is ours to attach. */
function isFloatingHost(context: ClusterContext, host: string): boolean {
  return (
    host === context.object.spec.apiServer?.floatingIP || owned(context).some((ip) => ip.floating_ip_address === host)
  );
}

function owned(context: ClusterContext): FloatingIp[] {
  const { cloud, crn } = context;
  const mark = { description: description(crn), projectId: cloud.projectId };
  const ofBastion = new Set(bastionAddresses(context).map((ip) => ip.id));
  return cloud.floatingIps.filter((ip) => isOwnedAddress(ip, mark) && !ofBastion.has(ip.id));
}

function planBalanced(context: ClusterContext, network: NetworkPart, router: RouterPart): EndpointPart {
  const balanced = planLoadBalancer(context, network, router);
  const { loadBalancer } = balanced;
  if (!loadBalancer) return balanced;
  if (!wantsFloatingIp(context)) {
    if (balanced.finding.status !== "True") return balanced;
    return {
      ...waitOf(balanced),
      ...health(settled(context, loadBalancer.vip_address, balanced.steps), loadBalancer),
      loadBalancer,
    };
  }
  if (!router.external) return { ...noExternalNetwork(), loadBalancer };
  if (!router.connected) return { ...balanced, steps: balanced.steps };
  const port = portOf(context.cloud, loadBalancer.vip_port_id);
  const floating = floatingIp(context, router, loadBalancer.vip_port_id, port);
  if (!floating.floatingIp || balanced.finding.status !== "True") {
    return {
      ...balanced,
      finding: worse(balanced, floating),
      steps: [...balanced.steps, ...floating.steps],
      loadBalancer,
    };
  }
  const end = settled(context, floating.floatingIp.floating_ip_address, [...balanced.steps, ...floating.steps]);
  return { ...waitOf(balanced), ...health(end, loadBalancer), loadBalancer, floatingIp: floating.floatingIp };
}

function waitOf({ wait, refresh }: Part): Pick<Part, "wait" | "refresh"> {
  return { ...(wait === undefined ? {} : { wait }), ...(refresh === undefined ? {} : { refresh }) };
}

/** What Octavia's health checks say, once there is something to check. */
function health(part: EndpointPart, { operating_status: status, name }: LoadBalancer): EndpointPart {
  if (status !== "ERROR" && status !== "DEGRADED") return part;
  const message = `${part.finding.message}; load balancer ${name} is ${status}: not all API servers respond`;
  return { ...part, finding: { ...part.finding, message } };
}

function worse(a: Part, b: Part) {
  return a.finding.status === "True" ? b.finding : a.finding;
}

function planFloating(context: ClusterContext, router: RouterPart): EndpointPart {
  if (!router.external) return noExternalNetwork();
  const target = context.machines
    .filter(isControlPlane)
    .sort(byAge)
    .map(firstPort(context))
    .find((p) => p !== undefined);
  const part = floatingIp(context, router, undefined, undefined);
  if (!part.floatingIp) return part;
  const free = part.floatingIp.port_id === null && target !== undefined && router.connected;
  const attach: ClusterStep[] = free ? [associate(part.floatingIp, target.id)] : [];
  const end = settled(context, part.floatingIp.floating_ip_address, [...part.steps, ...attach]);
  return { ...end, floatingIp: part.floatingIp };
}

function noExternalNetwork(): EndpointPart {
  const message =
    "spec.apiServer needs a floating IP, but there is no external network; set spec.externalNetwork, or spec.apiServer.enableFloatingIP to false";
  return { finding: missing(type, "NoExternalNetwork", message), steps: [] };
}

/** The floating IP named in the spec, or ours; made, with its association, when there is none. */
function floatingIp(
  context: ClusterContext,
  router: RouterPart,
  portId: string | undefined,
  port: Port | undefined,
): EndpointPart {
  const { object, crn, tags } = context;
  const named = object.spec.apiServer?.floatingIP;
  if (named) return givenFloatingIp(context, named, portId);
  const host = object.spec.controlPlaneEndpoint?.host;
  const all = owned(context);
  const settledIp = all.find(
    (ip) => ip.floating_ip_address === host || (portId !== undefined && ip.port_id === portId),
  );
  const result = chosen(settledIp ? [settledIp] : all);
  if (result.kind === "several") {
    const finding = missing(type, "DuplicateFloatingIP", duplicates("floating IPs", description(crn), result.ids));
    return { finding, steps: [] };
  }
  if (result.kind === "none") {
    const address = port?.fixed_ips[0]?.ip_address;
    const body = {
      floating_network_id: router.external?.id ?? "",
      description: description(crn),
      ...(portId === undefined ? {} : { port_id: portId }),
      ...(portId === undefined || address === undefined ? {} : { fixed_ip_address: address }),
    };
    const finding = missing(type, "CreatingFloatingIP", "Creating a floating IP for the API server");
    return { finding, steps: [{ for: type, type: "create-floating-ip", body }] };
  }
  const ip = result.resource;
  const attach = portId !== undefined && ip.port_id === null ? [associate(ip, portId)] : [];
  const steps = [...tagSteps("floatingips", ip, tags), ...attach];
  return { finding: found(type, "FloatingIPReady"), steps, floatingIp: ip };
}

function givenFloatingIp({ cloud }: ClusterContext, address: string, portId: string | undefined): EndpointPart {
  const ip = cloud.floatingIps.find((f) => f.floating_ip_address === address);
  if (!ip) {
    const message = `Floating IP ${address} of spec.apiServer.floatingIP is not in the project; allocate it first, or leave the field out`;
    return { finding: missing(type, "FloatingIPNotFound", message), steps: [] };
  }
  if (portId !== undefined && ip.port_id !== null && ip.port_id !== portId) {
    const message = `Floating IP ${address} of spec.apiServer.floatingIP is attached to port ${ip.port_id}; detach it there first`;
    return { finding: missing(type, "FloatingIPInUse", message), steps: [] };
  }
  const steps = portId !== undefined && ip.port_id === null ? [associate(ip, portId)] : [];
  return { finding: found(type, "FloatingIPReady"), steps, floatingIp: ip };
}

function associate(ip: FloatingIp, portId: string): ClusterStep {
  return { for: type, type: "associate-floating-ip", id: ip.id, portId, address: ip.floating_ip_address };
}

/** The endpoint is known: it is written down once, and never again. */
function settled({ object }: ClusterContext, host: string, steps: readonly ClusterStep[]): EndpointPart {
  const recorded = object.spec.controlPlaneEndpoint?.host;
  const port = endpointPort(object.spec);
  const record: ClusterStep[] = recorded === undefined ? [{ for: type, type: "record-endpoint", host, port }] : [];
  return { finding: found(type, "APIEndpointReady", `${recorded ?? host}:${port}`), steps: [...steps, ...record] };
}

function byAge(a: OpenStackMachine, b: OpenStackMachine): number {
  return (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "");
}

function firstPort({ cloud }: ClusterContext) {
  return (machine: OpenStackMachine) => portOf(cloud, machine.status?.resources?.ports?.[0]?.id);
}
