import type { NetworkApp } from "./collection.ts";
import { neutronError } from "./errors.ts";

/** The extensions this service honours, by their aliases (GET /extensions). */
const extensions: Readonly<Record<string, string>> = {
  "address-group": "Address group",
  "allowed-address-pairs": "Allowed Address Pairs",
  availability_zone: "Availability Zone",
  binding: "Port Binding",
  "external-net": "Neutron external network",
  "ext-gw-mode": "Neutron L3 Configurable external gateway mode",
  extraroute: "Neutron Extra Route",
  extra_dhcp_opt: "Neutron Extra DHCP options",
  "filter-validation": "Filter parameters validation",
  "fip-port-details": "Floating IP Port Details Extension",
  ip_allocation: "IP Allocation",
  "net-mtu": "Network MTU",
  "net-mtu-writable": "Network MTU (writable)",
  network_availability_zone: "Network Availability Zone",
  pagination: "Pagination support",
  "port-security": "Port Security",
  "project-id": "project_id field enabled",
  provider: "Provider Network",
  quotas: "Quota management support",
  quota_details: "Quota details management support",
  "revision-if-match": "If-Match constraints based on revision_number",
  router: "Neutron L3 Router",
  router_availability_zone: "Router Availability Zone",
  "security-group": "security-group",
  "security-groups-normalized-cidr": "Normalized CIDR field for security group rules",
  "security-groups-remote-address-group": "Remote address group id field for security group rules",
  "service-type": "Neutron Service Type Management",
  sorting: "Sorting support",
  "standard-attr-description": "standard-attr-description",
  "standard-attr-revisions": "Resource revision numbers",
  "standard-attr-tag": "Tag support for resources with standard attribute",
  "standard-attr-timestamp": "Resource timestamps",
  "stateful-security-group": "Stateful security group",
  "subnet-service-types": "Subnet service types",
  trunk: "Trunk Extension",
  "trunk-details": "Trunk port details",
};

/** Those that a cloud may have. */
const optionalExtensions: Readonly<Record<string, string>> = {
  "extraroute-atomic": "Atomically add/remove extra routes",
};

/** Lists that this cloud has and that are always empty. */
const empty = {
  agents: "agents",
  availability_zones: "availability_zones",
  subnetpools: "subnetpools",
  "address-scopes": "address_scopes",
  "qos/policies": "policies",
  "rbac-policies": "rbac_policies",
  "service-providers": "service_providers",
  "network-ip-availabilities": "network_ip_availabilities",
} as const;

/** Version and extension documents, and the empty lists. `kinds`: [singular, plural] of what is served. */
export function mountDocuments(
  app: NetworkApp,
  kinds: readonly (readonly [string, string])[],
  optional: readonly string[],
): void {
  const more = Object.entries(optionalExtensions).filter(([alias]) => optional.includes(alias));
  const documents = [...Object.entries(extensions), ...more].map(([alias, name]) => ({
    alias,
    name,
    description: name,
    updated: "2020-01-01T00:00:00-00:00",
    links: [],
  }));
  const base = (url: string) => url.replace(/\/?(v2\.0\/?)?(\?.*)?$/, "");
  app.get("/", (c) => {
    const links = [{ rel: "self", href: `${base(c.req.url)}/v2.0/` }];
    return c.json({ versions: [{ id: "v2.0", status: "CURRENT", links }] });
  });
  app.on("GET", ["/v2.0", "/v2.0/"], (c) => {
    const root = base(c.req.url);
    const resources = kinds.map(([name, collection]) => ({
      name,
      collection,
      links: [{ rel: "self", href: `${root}/v2.0/${collection.replaceAll("_", "-")}` }],
    }));
    return c.json({ resources });
  });
  app.get("/v2.0/extensions", (c) => c.json({ extensions: documents }));
  app.get("/v2.0/extensions/:alias", (c) => {
    const alias = c.req.param("alias");
    const extension = documents.find((document) => document.alias === alias);
    if (extension) return c.json({ extension });
    throw neutronError(404, "HTTPNotFound", `Extension with alias ${alias} does not exist`);
  });
  for (const [path, key] of Object.entries(empty)) app.get(`/v2.0/${path}`, (c) => c.json({ [key]: [] }));
}
