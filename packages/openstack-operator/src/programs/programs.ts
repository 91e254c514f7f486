import type { OpenStackService } from "@causeway/api";
import { cacheServers, internalUrl, publicUrl, type Facts } from "../config/facts.ts";
import { HEAT_DOMAIN, TLS } from "../config/index.ts";
import { CANARY } from "../catalogue/index.ts";
import { fabricFiles } from "./fabric.ts";
import { files } from "./files.generated.ts";

/**
 * The files of the ConfigMap that pods mount at /programs: fixed ones, and those that have the facts of the deployment.
 * No file has a secret.
 */
export function programsOf(facts: Facts): Record<string, string> {
  const registrations = Object.fromEntries(
    [...facts.catalogue.services].flatMap((service) => {
      const made = registrationOf(facts, service);
      return made ? [[`${service}.json`, `${JSON.stringify(made, null, 1)}\n`]] : [];
    }),
  );
  const keystone = internalUrl(facts, "keystone-api", 5000);
  return {
    ...files,
    ...registrations,
    ...fabricFiles(facts),
    ...(facts.spec.canary ? { "canary.json": `${JSON.stringify(canaryOf(facts), null, 1)}\n` } : {}),
    "keystone.env": `INTERNAL_URL=${keystone}/v3\nPUBLIC_URL=${publicUrl(facts, "identity")}/v3\n`,
    "dashboard.json": `${JSON.stringify({
      host: `dashboard.${facts.spec.domain}`,
      keystone: `${keystone}/v3`,
      memcached: cacheServers(facts).split(","),
      ...(facts.spec.tls ? { authorities: TLS.authorities } : {}),
    })}\n`,
  };
}

/** A user like any other, in a project of its own. */
const canaryOf = (facts: Facts) => ({
  keystone: `${internalUrl(facts, "keystone-api", 5000)}/v3`,
  region: facts.spec.region,
  service: CANARY,
  user: CANARY,
  project: CANARY,
  roles: ["member"],
  services: [],
});

interface Registered {
  readonly name: string;
  readonly type: string;
  readonly component: string;
  readonly path: string;
}

/** Entries of the catalogue: type of service, and the path of its API below the component's port. */
const registered: Partial<Record<OpenStackService, readonly Registered[]>> = {
  glance: [{ name: "glance", type: "image", component: "glance-api", path: "" }],
  placement: [{ name: "placement", type: "placement", component: "placement-api", path: "" }],
  neutron: [{ name: "neutron", type: "network", component: "neutron-server", path: "" }],
  nova: [{ name: "nova", type: "compute", component: "nova-api", path: "/v2.1" }],
  cinder: [{ name: "cinder", type: "block-storage", component: "cinder-api", path: "/v3" }],
  barbican: [{ name: "barbican", type: "key-manager", component: "barbican-api", path: "" }],
  heat: [
    { name: "heat", type: "orchestration", component: "heat-api", path: "/v1/%(tenant_id)s" },
    { name: "heat-cfn", type: "cloudformation", component: "heat-cfn", path: "/v1" },
  ],
  octavia: [{ name: "octavia", type: "load-balancer", component: "octavia-api", path: "" }],
  designate: [{ name: "designate", type: "dns", component: "designate-api", path: "" }],
  manila: [{ name: "manila", type: "shared-file-system", component: "manila-api", path: "/v2" }],
};

/** Roles that the default policies of a service ask of its users. */
const userRoles: Partial<Record<OpenStackService, readonly string[]>> = {
  barbican: ["creator", "observer", "audit", "key-manager:service-admin"],
  heat: ["heat_stack_owner", "heat_stack_user"],
  octavia: [
    "load-balancer_observer",
    "load-balancer_global_observer",
    "load-balancer_member",
    "load-balancer_quota_admin",
    "load-balancer_admin",
  ],
};

/** Heat makes users for the servers of its stacks, in a domain of its own. `password` is the name of a file. */
const domains: Partial<Record<OpenStackService, { name: string; administrator: string; password: string }>> = {
  heat: { name: HEAT_DOMAIN.name, administrator: HEAT_DOMAIN.administrator, password: "heat.domainAdmin" },
};

function registrationOf(facts: Facts, service: OpenStackService) {
  const entries = registered[service];
  if (!entries) return undefined;
  const services = entries.map(({ name, type, component, path }) => {
    const port = facts.catalogue.components.find((each) => each.name === component)?.ports?.[0];
    const internal = `${internalUrl(facts, component, port?.port ?? 0)}${path}`;
    const open = `${publicUrl(facts, port?.publicName ?? component)}${path}`;
    return { name, type, endpoints: { internal, admin: internal, public: open } };
  });
  return {
    keystone: `${internalUrl(facts, "keystone-api", 5000)}/v3`,
    region: facts.spec.region,
    service,
    user: service,
    roles: ["admin", "service"],
    ...(userRoles[service] ? { userRoles: userRoles[service] } : {}),
    ...(domains[service] ? { domain: domains[service] } : {}),
    services,
  };
}
