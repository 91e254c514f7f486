import { Hono } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import type { NetworkLinks } from "../kernel/links.ts";
import { byRole } from "./kit/access.ts";
import { mountAmphorae } from "./resources/amphorae.ts";
import { mountDocuments } from "./resources/documents.ts";
import { mountHealthMonitors } from "./resources/health-monitors.ts";
import { mountL7 } from "./resources/l7.ts";
import { listenerKind, mountListeners } from "./resources/listeners.ts";
import { mountLoadBalancers } from "./resources/load-balancers.ts";
import { mountMembers } from "./resources/members.ts";
import { mountFlavorsAndZones } from "./resources/flavors-and-zones.ts";
import { mountPools, poolKind } from "./resources/pools.ts";
import { handleProvisioning } from "./rules/provisioning.ts";
import { mountQuotas } from "./resources/quotas.ts";
import { balancerState } from "./model.ts";
import type { BalancerApp } from "./kit/routes.ts";

/**
 * Octavia v2 with the providers amphora (slow) and ovn (fast, with its limits), on the kernel's tables. Delays:
 * "loadbalancer.DRIVER.VERB" (DRIVER ovn or amphora; VERB create, update, delete). Outcomes: "loadbalancer.VERB" by the
 * load balancer's name, id or provider, and "member.health" by a member's address, name or id.
 */
export function createLoadBalancingService(kernel: Kernel, links: NetworkLinks): Service {
  const state = balancerState(kernel, links);
  handleProvisioning(state);
  const inner: BalancerApp = new Hono();
  const pools = poolKind(state);
  inner.use(byRole);
  mountLoadBalancers(inner, state);
  mountListeners(inner, state, listenerKind(state));
  mountPools(inner, state, pools);
  mountMembers(inner, state, pools);
  mountHealthMonitors(inner, state);
  mountL7(inner, state);
  mountQuotas(inner, state);
  mountFlavorsAndZones(inner, state, state.flavors);
  mountFlavorsAndZones(inner, state, state.zones);
  mountAmphorae(inner, state);
  mountDocuments(inner);
  return { type: "load-balancer", name: "octavia", catalogPath: "", app: inner };
}
