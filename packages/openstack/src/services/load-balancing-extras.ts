import type { ServiceClient } from "../session/client.ts";
import type * as X from "../types/load-balancing-extras.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { objectIn } from "./wire.ts";

/** Octavia's API other than the tree of a load balancer. */
export function createLoadBalancingExtras(client: ServiceClient): X.LoadBalancingExtras {
  const quotaRoute = (id: string) => ({ route: "/quotas/{id}", ids: [id] });
  return {
    l7Policies: createCollection(client, { route: "/l7policies", one: "l7policy", many: "l7policies" }),
    l7Rules: (policyId) =>
      createCollection(client, { route: "/l7policies/{id}/rules", parents: [policyId], one: "rule", many: "rules" }),
    flavors: createCollection(client, { route: "/flavors", one: "flavor", many: "flavors" }),
    flavorProfiles: createCollection(client, {
      route: "/flavorprofiles",
      one: "flavorprofile",
      many: "flavorprofiles",
    }),
    availabilityZones: createCollection(client, {
      route: "/availabilityzones",
      one: "availability_zone",
      many: "availability_zones",
    }),
    availabilityZoneProfiles: createCollection(client, {
      route: "/availabilityzoneprofiles",
      one: "availability_zone_profile",
      many: "availability_zone_profiles",
    }),
    amphorae: createCollection<X.Amphora, never>(client, {
      route: "/octavia/amphorae",
      one: "amphora",
      many: "amphorae",
    }),
    async failover(id, options) {
      await client.send({ method: "PUT", route: "/loadbalancers/{id}/failover", ids: [id] }, options);
    },
    async statistics(kind, id, options) {
      return objectIn(await client.send({ method: "GET", route: `/${kind}/{id}/stats`, ids: [id] }, options), "stats");
    },
    quota: async (id, options) => objectIn(await client.send({ method: "GET", ...quotaRoute(id) }, options), "quota"),
    async setQuota(id, limits, options) {
      return objectIn(
        await client.send({ method: "PUT", ...quotaRoute(id), body: { quota: limits } }, options),
        "quota",
      );
    },
    resetQuota: (id, options) => ignoringNotFound(client.send({ method: "DELETE", ...quotaRoute(id) }, options)),
  };
}
