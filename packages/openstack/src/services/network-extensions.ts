import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import type * as E from "../types/network-extensions.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { createBulk } from "./network-bulk.ts";
import { createRoutes } from "./network-routes.ts";
import { listIn, objectIn } from "./wire.ts";

/** The parts of Neutron that are extensions. */
export function createNetworkExtensions(
  client: ServiceClient,
  extensions: (options?: CallOptions) => Promise<ReadonlySet<string>>,
): E.NetworkExtensions {
  const put = (route: string, ids: readonly string[], body: unknown, options?: CallOptions) =>
    client.send({ method: "PUT", route, ids, body }, options);
  const order = async <T>(route: string, id: string, body: unknown, options?: CallOptions): Promise<T> =>
    (await put(route, [id], body, options)) as T;
  const bulk = createBulk(client);
  const quota = async <T>(id: string, below: string, options?: CallOptions): Promise<T> =>
    objectIn(await client.send({ method: "GET", route: `/quotas/{id}${below}`, ids: [id] }, options), "quota");
  return {
    trunks: createCollection(client, { route: "/trunks", one: "trunk", many: "trunks" }),
    addSubPorts: (id, ports, options) => order("/trunks/{id}/add_subports", id, { sub_ports: ports }, options),
    removeSubPorts: (id, ports, options) =>
      order("/trunks/{id}/remove_subports", id, { sub_ports: ports.map((port_id) => ({ port_id })) }, options),
    addressGroups: createCollection(client, { route: "/address-groups", one: "address_group", many: "address_groups" }),
    async addAddresses(id, addresses, options) {
      return objectIn(await put("/address-groups/{id}/add_addresses", [id], { addresses }, options), "address_group");
    },
    async removeAddresses(id, addresses, options) {
      const route = "/address-groups/{id}/remove_addresses";
      return objectIn(await put(route, [id], { addresses }, options), "address_group");
    },
    portForwardings: (floatingIpId) =>
      createCollection(client, {
        route: "/floatingips/{id}/port_forwardings",
        parents: [floatingIpId],
        one: "port_forwarding",
        many: "port_forwardings",
      }),
    subnetPools: createCollection(client, { route: "/subnetpools", one: "subnetpool", many: "subnetpools" }),
    addressScopes: createCollection(client, { route: "/address-scopes", one: "address_scope", many: "address_scopes" }),
    qosPolicies: createCollection(client, { route: "/qos/policies", one: "policy", many: "policies" }),
    bandwidthLimitRules: (policyId) =>
      createCollection(client, {
        route: "/qos/policies/{id}/bandwidth_limit_rules",
        parents: [policyId],
        one: "bandwidth_limit_rule",
        many: "bandwidth_limit_rules",
      }),
    dscpMarkingRules: (policyId) =>
      createCollection(client, {
        route: "/qos/policies/{id}/dscp_marking_rules",
        parents: [policyId],
        one: "dscp_marking_rule",
        many: "dscp_marking_rules",
      }),
    rbacPolicies: createCollection(client, { route: "/rbac-policies", one: "rbac_policy", many: "rbac_policies" }),
    ipAvailabilities: createCollection<E.IpAvailability, never>(client, {
      route: "/network-ip-availabilities",
      one: "network_ip_availability",
      many: "network_ip_availabilities",
    }),
    agents: createCollection<E.NetworkAgent, never>(client, { route: "/agents", one: "agent", many: "agents" }),
    availabilityZones: createCollection<E.ZoneOfNetworks, never>(client, {
      route: "/availability_zones",
      one: "availability_zone",
      many: "availability_zones",
    }),
    quota: (id, options) => quota(id, "", options),
    quotaDetails: (id, options) => quota(id, "/details.json", options),
    async setQuota(id, limits, options) {
      return objectIn(await put("/quotas/{id}", [id], { quota: limits }, options), "quota");
    },
    resetQuota: (id, options) =>
      ignoringNotFound(client.send({ method: "DELETE", route: "/quotas/{id}", ids: [id] }, options)),
    createNetworks: (networks, options) => bulk("networks", networks, options),
    createSubnets: (subnets, options) => bulk("subnets", subnets, options),
    ...createRoutes(client, extensions),
    async addTag(kind, id, tag, options) {
      await client.send({ method: "PUT", route: `/${kind}/{id}/tags/{id}`, ids: [id, tag] }, options);
    },
    removeTag: (kind, id, tag, options) =>
      ignoringNotFound(client.send({ method: "DELETE", route: `/${kind}/{id}/tags/{id}`, ids: [id, tag] }, options)),
    async *listOf<T>(route: string, many: string, query = {}, options: CallOptions = {}) {
      yield* listIn<T>(await client.send({ method: "GET", route, query }, options), many);
    },
  };
}
