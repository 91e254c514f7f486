import { Hono } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import type { NetworkLinks } from "../kernel/links.ts";
import { addressGroupCollection, mountAddresses } from "./resources/address-groups.ts";
import { mountAgents } from "./resources/agents.ts";
import { mountAvailability } from "./resources/availability.ts";
import { mountCollection, type NetworkApp } from "./kit/collection.ts";
import { mountDocuments } from "./resources/documents.ts";
import { resourceMissing } from "./errors.ts";
import { mountExtraRoutes } from "./resources/extra-routes.ts";
import { floatingIpCollection } from "./resources/floating-ips.ts";
import { networkLinks } from "./links.ts";
import { networkCollection } from "./resources/networks.ts";
import { mountPortForwardings } from "./resources/port-forwardings.ts";
import { portCollection } from "./resources/ports.ts";
import { mountQosRules, qosCollection } from "./resources/qos.ts";
import { mountQuotas } from "./resources/quotas.ts";
import { rbacCollection } from "./resources/rbac.ts";
import { networkState } from "./model.ts";
import { mountRouterInterfaces } from "./resources/router-interfaces.ts";
import { routerCollection } from "./resources/routers.ts";
import { ruleCollection } from "./resources/security-group-rules.ts";
import { segmentCollection, segmentsOfOld } from "./resources/segments.ts";
import { securityGroupCollection } from "./resources/security-groups.ts";
import {
  mountProfileBindings,
  serviceFlavorCollection,
  serviceProfileCollection,
} from "./resources/service-flavors.ts";
import { subnetCollection } from "./resources/subnets.ts";
import { addressScopeCollection, subnetPoolCollection } from "./resources/subnet-pools.ts";
import { mountTags } from "./resources/tags.ts";
import { mountSubPorts, trunkCollection } from "./resources/trunks.ts";

export { seedNetwork } from "./seed.ts";

/** Neutron v2.0 with the OVN back end's habits, on the kernel's tables; and what other services need of it. */
export function createNetworkService(kernel: Kernel, optional: readonly string[] = []): Service & NetworkLinks {
  const state = networkState(kernel);
  const app: NetworkApp = new Hono();
  const networks = networkCollection(state);
  const subnets = subnetCollection(state, { publishes: optional.includes("subnet-dns-publish-fixed-ip") });
  const ports = portCollection(state);
  const routers = routerCollection(state);
  const floatingIps = floatingIpCollection(state);
  const groups = securityGroupCollection(state);
  const rules = ruleCollection(state);
  const trunks = trunkCollection(state);
  const addressGroups = addressGroupCollection(state);
  const pools = subnetPoolCollection(state);
  const scopes = addressScopeCollection(state);
  const policies = qosCollection(state);
  const rbac = rbacCollection(state);
  const segments = segmentCollection(state);
  const flavors = serviceFlavorCollection(state);
  const profiles = serviceProfileCollection(state);
  segmentsOfOld(state);
  const base = [networks, subnets, ports, routers, floatingIps, groups, rules, trunks, addressGroups];
  const all = [...base, pools, scopes, policies, rbac, segments, flavors, profiles];
  mountDocuments(
    app,
    all.map(({ singular, plural }) => [singular, plural] as const),
    optional,
  );
  mountCollection(app, state, networks);
  mountCollection(app, state, subnets);
  mountCollection(app, state, ports);
  mountCollection(app, state, routers);
  mountCollection(app, state, floatingIps);
  mountCollection(app, state, groups);
  mountCollection(app, state, rules);
  mountCollection(app, state, trunks);
  mountCollection(app, state, addressGroups);
  mountCollection(app, state, pools);
  mountCollection(app, state, scopes);
  mountQosRules(app, state, policies);
  mountCollection(app, state, policies);
  mountCollection(app, state, rbac);
  mountCollection(app, state, segments);
  mountCollection(app, state, flavors);
  mountCollection(app, state, profiles);
  mountProfileBindings(app, state, flavors);
  mountPortForwardings(app, state, floatingIps);
  mountExtraRoutes(app, state, routers);
  mountAvailability(app, state);
  mountAgents(app, state);
  mountRouterInterfaces(app, state, routers);
  mountSubPorts(app, state, trunks);
  mountAddresses(app, state, addressGroups);
  mountTags(app, state, networks);
  mountTags(app, state, subnets);
  mountTags(app, state, ports);
  mountTags(app, state, routers);
  mountTags(app, state, floatingIps);
  mountTags(app, state, groups);
  mountTags(app, state, trunks);
  mountTags(app, state, pools);
  mountTags(app, state, { ...policies, path: "policies" });
  mountQuotas(app, state);
  app.all("*", () => {
    throw resourceMissing();
  });
  return { type: "network", name: "neutron", catalogPath: "", app, ...networkLinks(state) };
}
