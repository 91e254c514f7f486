import type { ServiceStatus } from "@causeway/kubernetes";
import type { FloatingIp, LoadBalancer } from "@causeway/openstack";
import { serviceFinalizer } from "./parameters/concern.ts";
import { treeAfter } from "./tree/dry-run-tree.ts";
import type { Observed, ServiceObserved } from "./observed.ts";
import { retiringName } from "./parameters/names.ts";
import { formerName } from "./ownership.ts";
import { secondService } from "./parameters/second-family.ts";
import type { AddressStep, KubernetesStep, OneStep, Step } from "./steps.ts";

/** What the cloud will choose is under these names until it has. */
const placeholder = { id: "(new)", address: "(its address)" };

/**
 * What will be observed when the steps of a plan are done, nothing else happens and load balancers have become ACTIVE.
 */
export function dryRun(observed: Observed, steps: readonly Step[], status: ServiceStatus): Observed {
  const done = steps.reduce((now, step) => stepped(now, step), settled(observed));
  return settled({ ...done, service: { ...done.service, status } });
}

function stepped(observed: Observed, step: Step): Observed {
  if (step.type !== "of-second") return after(observed, step);
  return observed.second ? { ...observed, second: after(observed.second, step.step) } : observed;
}

/** Nothing is under way or held back any more; what follows from the parts follows from them as they are now. */
function settled(observed: Observed): Observed {
  const { second, lbName } = observed;
  const loadBalancers = observed.loadBalancers.map((lb) => active(lb));
  const lb = loadBalancers[0];
  const held = { ...observed.held, uncertain: undefined, busy: undefined, refusals: 0, nodes: undefined };
  const former = lb && observed.formerName !== undefined ? formerName(observed.service, lb, lbName) : undefined;
  return {
    ...observed,
    loadBalancers,
    listeners: observed.listeners.filter((listener) => listener.provisioning_status !== "PENDING_DELETE"),
    pools: observed.pools.filter(({ pool }) => pool.provisioning_status !== "PENDING_DELETE"),
    leaving: [],
    held,
    formerName: former,
    second: second && settled({ ...second, service: secondService(observed.service) }),
  };
}

function active(lb: LoadBalancer): LoadBalancer {
  return lb.provisioning_status.startsWith("PENDING_") ? { ...lb, provisioning_status: "ACTIVE" } : lb;
}

function after(observed: Observed, step: OneStep): Observed {
  switch (step.type) {
    case "add-finalizer":
    case "annotate":
    case "clear-status":
    case "remove-finalizer":
      return { ...observed, service: serviceAfter(observed, step) };
    case "create-floating-ip":
    case "attach-floating-ip":
    case "describe-floating-ip":
    case "detach-floating-ip":
    case "delete-floating-ip":
      return addressAfter(observed, step);
    case "delete-load-balancer":
      return deleted(observed, step.id);
    case "update-load-balancer":
      return step.change.name === retiringName(observed.lbName) ? retired(observed) : treeAfter(observed, step);
    default:
      return treeAfter(observed, step);
  }
}

function serviceAfter({ service }: ServiceObserved, step: KubernetesStep): Observed["service"] {
  const { metadata } = service;
  switch (step.type) {
    case "add-finalizer":
      return { ...service, metadata: { ...metadata, finalizers: [...(metadata.finalizers ?? []), serviceFinalizer] } };
    case "remove-finalizer": {
      const finalizers = (metadata.finalizers ?? []).filter((name) => name !== serviceFinalizer);
      return { ...service, metadata: { ...metadata, finalizers } };
    }
    case "clear-status":
      return { ...service, status: { loadBalancer: {} } };
    case "annotate": {
      const all = Object.entries({ ...metadata.annotations, ...step.annotations });
      const annotations = Object.fromEntries(all.filter((pair): pair is [string, string] => pair[1] !== null));
      return { ...service, metadata: { ...metadata, annotations } };
    }
  }
}

function addressAfter(observed: Observed, step: AddressStep): Observed {
  if (step.type === "create-floating-ip") return withAddress(observed, newAddress(step));
  const { floatingIp, retiringFloatingIp, ownFloatingIps, wantedFloatingIp } = observed;
  const known = [floatingIp, retiringFloatingIp, ...ownFloatingIps, wantedFloatingIp].find((ip) => ip?.id === step.id);
  const rest = withoutAddress(observed, step.id);
  if (!known || step.type === "delete-floating-ip") return rest;
  const change =
    step.type === "attach-floating-ip"
      ? { port_id: step.portId }
      : step.type === "detach-floating-ip"
        ? { port_id: null }
        : { description: step.description };
  return withAddress(rest, { ...known, ...change }, wantedFloatingIp?.id === step.id);
}

function newAddress(step: Extract<AddressStep, { type: "create-floating-ip" }>): FloatingIp {
  return {
    id: placeholder.id,
    description: step.description,
    project_id: "",
    floating_network_id: step.networkId,
    floating_ip_address: step.address ?? placeholder.address,
    fixed_ip_address: null,
    port_id: step.portId ?? null,
    router_id: null,
    status: "ACTIVE",
    tags: [],
  };
}

function withoutAddress(observed: Observed, id: string): Observed {
  const unless = (ip: FloatingIp | undefined) => (ip?.id === id ? undefined : ip);
  return {
    ...observed,
    floatingIp: unless(observed.floatingIp),
    retiringFloatingIp: unless(observed.retiringFloatingIp),
    wantedFloatingIp: unless(observed.wantedFloatingIp),
    ownFloatingIps: observed.ownFloatingIps.filter((ip) => ip.id !== id),
  };
}

function withAddress(observed: Observed, ip: FloatingIp, isWanted = false): Observed {
  const port = observed.loadBalancers[0]?.vip_port_id;
  const wanted = isWanted || observed.service.spec.loadBalancerIP === ip.floating_ip_address;
  return {
    ...observed,
    ...(port !== undefined && ip.port_id === port ? { floatingIp: ip } : {}),
    ...(wanted ? { wantedFloatingIp: ip } : {}),
    ownFloatingIps: [...observed.ownFloatingIps, ip],
  };
}

function deleted(observed: Observed, id: string): Observed {
  if (observed.retiring.some((lb) => lb.id === id)) return { ...observed, retiring: [], retiringFloatingIp: undefined };
  const ownFloatingIps = observed.ownFloatingIps.map((ip) =>
    ip.id === observed.floatingIp?.id ? { ...ip, port_id: null } : ip,
  );
  return { ...observed, loadBalancers: [], listeners: [], pools: [], floatingIp: undefined, ownFloatingIps };
}

function retired(observed: Observed): Observed {
  const { loadBalancers, floatingIp } = observed;
  const retiring = loadBalancers.slice(0, 1);
  return {
    ...observed,
    retiring,
    retiringFloatingIp: floatingIp,
    loadBalancers: [],
    listeners: [],
    pools: [],
    floatingIp: undefined,
  };
}
