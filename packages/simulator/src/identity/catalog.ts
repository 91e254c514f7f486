import { list } from "./lists.ts";
import { baseOf, callerOf, requireAdmin, type IdentityApp, type IdentityParts } from "./request.ts";
import { catalogView, endpointInterfaces } from "./views.ts";

/** Services, endpoints and regions of the catalog: reads only. */
export function addCatalogRoutes(app: IdentityApp, { source }: IdentityParts): void {
  app.get("/v3/services", (c) => {
    requireAdmin(c, "list_services");
    const services = source.services().map(({ service }) => ({
      name: service.name,
      id: service.name,
      type: service.type,
      enabled: true,
      links: { self: `${baseOf(c)}/services/${service.name}` },
    }));
    return list(c, "services", services);
  });
  app.get("/v3/endpoints", (c) => {
    requireAdmin(c, "list_endpoints");
    const entries = catalogView(source, new URL(c.req.url).origin, "%(project_id)s");
    const urls = entries.map((entry) => ({ entry, url: (entry["endpoints"] as readonly { url: string }[])[0]?.url }));
    const endpoints = urls.flatMap(({ entry, url }) =>
      endpointInterfaces.map((face) => ({
        id: `${String(entry["name"])}-${face}`,
        interface: face,
        region_id: source.region,
        service_id: entry["id"],
        url,
        enabled: true,
        region: source.region,
        links: { self: `${baseOf(c)}/endpoints/${String(entry["name"])}-${face}` },
      })),
    );
    return list(c, "endpoints", endpoints);
  });
  app.get("/v3/regions", (c) => {
    callerOf(c);
    const links = { self: `${baseOf(c)}/regions/${source.region}` };
    return list(c, "regions", [{ id: source.region, description: "", parent_region_id: null, links }]);
  });
}
