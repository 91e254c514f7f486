import type { ServiceClient } from "../session/client.ts";
import type * as D from "../types/dns.ts";
import type { CallOptions } from "../types/collection.ts";
import { createCollection } from "./collection.ts";
import { objectIn } from "./wire.ts";

const REVERSE = "/reverse/floatingips/{id}";

/** Designate. Record sets are replaced as a whole (PUT), zones changed in part (PATCH). */
export function createDnsService(client: ServiceClient): D.DnsService {
  const reverse = async (region: string, id: string, ptrdname: string | null, options?: CallOptions) => {
    const call = { method: "PATCH" as const, route: REVERSE, ids: [`${region}:${id}`], body: { ptrdname } };
    return client.send(call, options);
  };
  return {
    zones: createCollection<D.Zone, D.ZoneCreate>(client, {
      route: "/zones",
      one: "",
      many: "zones",
      change: { method: "PATCH" },
    }),
    recordSets: (zoneId) =>
      createCollection<D.RecordSet, D.RecordSetCreate>(client, {
        route: "/zones/{id}/recordsets",
        parents: [zoneId],
        one: "",
        many: "recordsets",
      }),
    setReverse: async (region, id, name, options) => objectIn(await reverse(region, id, name, options), ""),
    async unsetReverse(region, id, options) {
      await reverse(region, id, null, options);
    },
  };
}
