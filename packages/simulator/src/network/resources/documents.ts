import type { NetworkApp } from "../kit/collection.ts";
import { htmlPage } from "../../kernel/html-page.ts";

/** The extensions this service honours, by their aliases (GET /extensions). */
const extensions: Readonly<Record<string, string>> = {
  "address-group": "Address group",
  "address-scope": "Address scope",
  agent: "agent",
  "allowed-address-pairs": "Allowed Address Pairs",
  availability_zone: "Availability Zone",
  binding: "Port Binding",
  "default-subnetpools": "Default Subnetpools",
  "expose-port-forwarding-in-fip": "Add port_forwardings in floating IP",
  "external-net": "Neutron external network",
  "ext-gw-mode": "Neutron L3 Configurable external gateway mode",
  extraroute: "Neutron Extra Route",
  extra_dhcp_opt: "Neutron Extra DHCP options",
  "filter-validation": "Filter parameters validation",
  "fip-port-details": "Floating IP Port Details Extension",
  flavors: "Neutron Service Flavors",
  "floating-ip-port-forwarding": "Floating IP Port Forwarding",
  "floating-ip-port-forwarding-description": "Floating IP Port Forwarding support for description",
  ip_allocation: "IP Allocation",
  "net-mtu": "Network MTU",
  "net-mtu-writable": "Network MTU (writable)",
  "network-ip-availability": "Network IP Availability",
  network_availability_zone: "Network Availability Zone",
  pagination: "Pagination support",
  "port-security": "Port Security",
  "project-id": "project_id field enabled",
  provider: "Provider Network",
  qos: "Quality of Service",
  "qos-bw-limit-direction": "Direction for QoS bandwidth limit rule",
  "qos-default": "QoS default policy",
  "qos-fip": "Floating IP QoS",
  "qos-port-network-policy": "QoS Port Network Policy",
  "qos-rule-type-details": "Details of QoS rule types",
  quotas: "Quota management support",
  quota_details: "Quota details management support",
  "rbac-address-scope": "Address scope RBAC",
  "rbac-policies": "RBAC Policies",
  "rbac-security-groups": "RBAC security_group",
  "revision-if-match": "If-Match constraints based on revision_number",
  router: "Neutron L3 Router",
  router_availability_zone: "Router Availability Zone",
  "security-group": "security-group",
  "security-groups-normalized-cidr": "Normalized CIDR field for security group rules",
  "security-groups-remote-address-group": "Remote address group id field for security group rules",
  segment: "Segment",
  "service-type": "Neutron Service Type Management",
  sorting: "Sorting support",
  "standard-attr-description": "standard-attr-description",
  "standard-attr-revisions": "Resource revision numbers",
  "standard-attr-tag": "Tag support for resources with standard attribute",
  "standard-attr-timestamp": "Resource timestamps",
  "stateful-security-group": "Stateful security group",
  subnet_allocation: "Subnet Allocation",
  "subnet-service-types": "Subnet service types",
  trunk: "Trunk Extension",
  "trunk-details": "Trunk port details",
};

/** Those that a cloud may have. */
const optionalExtensions: Readonly<Record<string, string>> = {
  "extraroute-atomic": "Atomically add/remove extra routes",
  "subnet-dns-publish-fixed-ip": "Subnet DNS publish fixed IP",
};

/** Lists that this cloud has and that are always empty. */
const empty = {
  availability_zones: "availability_zones",
  "service-providers": "service_providers",
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
    throw htmlPage(404, { detail: `Extension with alias ${alias} does not exist` });
  });
  for (const [path, key] of Object.entries(empty)) app.get(`/v2.0/${path}`, (c) => c.json({ [key]: [] }));
}
