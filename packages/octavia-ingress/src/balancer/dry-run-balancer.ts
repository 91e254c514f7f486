import { treeAfter, treeOfCreate, type AnyTreeStep } from "@causeway/octavia-tree";
import type { FloatingIp } from "@causeway/openstack";
import type { ObservedBalancer } from "./balancer.ts";
import { dryRunGroup } from "./security-group/dry-run-group.ts";
import type { AddressStep, BalancerStep } from "./steps.ts";

/**
 * What will be observed of an owner when these steps are done, nothing else happens, and load balancers are ACTIVE or
 * gone.
 */
export function dryRunBalancer(observed: ObservedBalancer, steps: readonly BalancerStep[]): ObservedBalancer {
  const done = steps.reduce(after, observed);
  return {
    ...done,
    leaving: [],
    held: { uncertain: undefined, busy: undefined, broken: undefined, braked: () => undefined },
  };
}

function after(observed: ObservedBalancer, step: BalancerStep): ObservedBalancer {
  switch (step.type) {
    case "create-load-balancer": {
      const tree = treeOfCreate(step.body);
      return { ...observed, found: [tree.lb], tree };
    }
    case "delete-load-balancer": {
      const found = observed.found.filter(({ id }) => id !== step.id);
      const kept = observed.tree?.lb.id === step.id ? undefined : observed.tree;
      const own = observed.own.map((ip) => (ip.id === observed.floatingIp?.id ? { ...ip, port_id: null } : ip));
      return { ...observed, found, tree: kept, floatingIp: undefined, own };
    }
    case "store-certificate": {
      const stored = { name: step.name, ref: `(new secret ${step.name})` };
      return { ...observed, stored: [...observed.stored, stored] };
    }
    case "delete-certificate":
      return { ...observed, stored: observed.stored.filter(({ ref }) => ref !== step.ref) };
    case "create-floating-ip":
    case "attach-floating-ip":
    case "detach-floating-ip":
    case "delete-floating-ip":
      return addressAfter(observed, step);
    case "create-security-group":
    case "tag-security-group":
    case "add-security-group-rules":
    case "remove-security-group-rules":
    case "set-port-security-groups":
    case "delete-security-group":
      return observed.group ? { ...observed, group: dryRunGroup(observed.group, step) } : observed;
    default:
      return changed(observed, step);
  }
}

function changed(observed: ObservedBalancer, step: AnyTreeStep): ObservedBalancer {
  const [lb, ...more] = observed.found;
  const tree = observed.tree && treeAfter(observed.tree, step);
  if (step.type !== "update-load-balancer" || !lb) return { ...observed, tree };
  return { ...observed, tree, found: [{ ...lb, ...step.change }, ...more] };
}

function addressAfter(observed: ObservedBalancer, step: AddressStep): ObservedBalancer {
  const { floatingIp, named, own } = observed;
  if (step.type === "create-floating-ip") {
    const made = newAddress(step);
    return { ...observed, floatingIp: made, own: [...own, made] };
  }
  const known = [floatingIp, named, ...own].find((ip) => ip?.id === step.id);
  const isNow = floatingIp?.id === step.id;
  if (!known) return observed;
  if (step.type === "delete-floating-ip")
    return { ...observed, floatingIp: isNow ? undefined : floatingIp, own: own.filter(({ id }) => id !== step.id) };
  const portId = step.type === "attach-floating-ip" ? step.portId : null;
  const change = (ip: FloatingIp): FloatingIp => (ip.id === step.id ? { ...ip, port_id: portId } : ip);
  return {
    ...observed,
    floatingIp: portId === null ? (isNow ? undefined : floatingIp) : change(known),
    named: named && change(named),
    own: own.map(change),
  };
}

function newAddress({
  networkId,
  description,
  portId,
}: Extract<AddressStep, { type: "create-floating-ip" }>): FloatingIp {
  return {
    id: "(new floating IP)",
    description,
    project_id: "",
    floating_network_id: networkId,
    floating_ip_address: "(its address)",
    fixed_ip_address: null,
    port_id: portId,
    router_id: null,
    status: "ACTIVE",
    tags: [],
  };
}
