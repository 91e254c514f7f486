import { computeError, denied } from "../compute/model.ts";
import { at, bodyOf, isObject, textAt, type JsonObject } from "../kernel/json.ts";
import { asksForAll, instantOf, notThere, unprocessable } from "./model.ts";
import type { SecurityService, ShareApp, ShareContext, ShareParts } from "./model.ts";

const kinds = ["active_directory", "ldap", "kerberos"];
const fields = ["name", "description", "dns_ip", "server", "domain", "user", "password", "ou"] as const;
const filters = ["name", "id", "type", "user", "server", "dns_ip", "domain"] as const;

/** The security service of this id, whosever it is. Throws 404 with the message of the resource that refers to it. */
export function securityServiceFor({ services }: ShareParts, id: string): SecurityService {
  const service = services.get(id);
  if (service) return service;
  throw computeError(404, `SecurityServiceNotFound: Security service ${id} could not be found.`);
}

/**
 * Security services: who knows the users of shares:
 * https://docs.openstack.org/api-ref/shared-file-system/#security-services .
 */
export function addSecurityServiceRoutes(app: ShareApp, parts: ShareParts): void {
  const { kernel, services, networks } = parts;
  const path = "/v2/security-services";
  const found = (c: ShareContext, rule: string): SecurityService => {
    const service = services.get(c.req.param("id") ?? "");
    if (!service) throw notThere();
    const { projectId, isAdmin } = c.get("caller");
    if (service.project_id !== projectId && !isAdmin) throw denied(`security_service:${rule}`);
    return service;
  };
  const users = (id: string) =>
    networks
      .all()
      .filter((network) => network.services.includes(id))
      .map((network) => network.id);
  app.get(path, (c) => {
    const views = listed(c, parts).map(({ id, name, type }) => ({ id, name, type, status: "new" }));
    return c.json({ security_services: views });
  });
  app.get(`${path}/detail`, (c) => {
    const views = listed(c, parts).map((service) => ({ ...viewOf(c, service), share_networks: users(service.id) }));
    return c.json({ security_services: views });
  });
  app.get(`${path}/:id`, (c) => c.json({ security_service: viewOf(c, found(c, "show")) }));
  app.post(path, async (c) => {
    const given = at(await bodyOf(c.req), "security_service");
    if (!isObject(given)) throw unprocessable();
    const type = textAt(given, "type") ?? "None";
    if (!kinds.includes(type)) {
      const why = `Invalid type ${type} specified for security service. Valid types are ${kinds.join(",")}`;
      throw computeError(400, `Invalid input received: ${why}.`);
    }
    const service = services.insert({
      id: kernel.newId(),
      project_id: c.get("caller").projectId,
      type,
      ...textsOf(given),
      created_at: instantOf(kernel),
      updated_at: null,
    });
    return c.json({ security_service: viewOf(c, service) });
  });
  app.put(`${path}/:id`, async (c) => {
    const given = at(await bodyOf(c.req), "security_service");
    if (!isObject(given)) throw unprocessable();
    const { id, type } = found(c, "update");
    const changed = {
      ...Object.fromEntries(Object.entries(textsOf(given)).filter(([field]) => given[field] !== undefined)),
      type: textAt(given, "type") ?? type,
      updated_at: instantOf(kernel),
    };
    return c.json({ security_service: viewOf(c, services.update(id, changed)) });
  });
  app.delete(`${path}/:id`, (c) => {
    const id = c.req.param("id");
    if (users(id).length > 0) {
      throw computeError(403, "Cannot delete security service. It is assigned to share network(s)");
    }
    services.remove(found(c, "delete").id);
    return c.body(null, 202);
  });
}

type Texts = Readonly<Record<(typeof fields)[number], string | null>>;

const textsOf = (given: JsonObject): Texts => {
  const text = (field: (typeof fields)[number]) => textAt(given, field) ?? null;
  return {
    name: text("name"),
    description: text("description"),
    dns_ip: text("dns_ip"),
    server: text("server"),
    domain: text("domain"),
    user: text("user"),
    password: text("password"),
    ou: text("ou"),
  };
};

function listed(c: ShareContext, { services, networks }: ShareParts): readonly SecurityService[] {
  const network = c.req.query("share_network_id");
  const own = asksForAll(c) ? services.all() : services.by("project_id", c.get("caller").projectId);
  const of = network === undefined ? undefined : (networks.get(network)?.services ?? []);
  return own.filter(
    (service) =>
      (of === undefined || of.includes(service.id)) &&
      filters.every((field) => {
        const wanted = c.req.query(field);
        return wanted === undefined || service[field] === wanted;
      }),
  );
}

function viewOf(c: ShareContext, { ou, ...service }: SecurityService): object {
  return { ...service, status: "new", ...(c.get("minor") >= 44 ? { ou } : {}) };
}
