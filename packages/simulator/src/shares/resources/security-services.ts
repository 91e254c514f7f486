import { computeError, denied } from "../../compute/model.ts";
import { textAt, type JsonObject } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { asksForAll, instantOf, manila, notThere } from "../model.ts";
import type { SecurityService, ShareApp, ShareContext, ShareEnv, ShareParts } from "../model.ts";

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
export function mountSecurityServices(app: ShareApp, parts: ShareParts): void {
  const { kernel, services, networks } = parts;
  const usersOf = (id: string) =>
    networks
      .all()
      .filter((network) => network.services.includes(id))
      .map((network) => network.id);
  mountResource<ShareEnv, SecurityService>(app, kernel, {
    ...manila,
    path: "/v2/security-services",
    one: "security_service",
    many: "security_services",
    lists: ["list", "detail"],
    readsBodyFirst: true,
    find(c, verb) {
      const service = services.get(c.req.param("id") ?? "");
      if (verb === "delete" && usersOf(c.req.param("id") ?? "").length > 0) {
        throw computeError(403, "Cannot delete security service. It is assigned to share network(s)");
      }
      if (!service) throw notThere();
      const { projectId, isAdmin } = c.get("caller");
      if (service.project_id !== projectId && !isAdmin) throw denied(`security_service:${verb}`);
      return service;
    },
    list: (c) => ({ rows: listed(c, parts) }),
    view(c, service, verb) {
      const { id, name, type } = service;
      if (verb === "list") return { id, name, type, status: "new" };
      return { ...viewOf(c, service), ...(verb === "detail" ? { share_networks: usersOf(id) } : {}) };
    },
    create: (c, given) =>
      services.insert({
        id: kernel.newId(),
        project_id: c.get("caller").projectId,
        type: checkedType(given),
        ...textsOf(given),
        created_at: instantOf(kernel),
        updated_at: null,
      }),
    update: (_c, { id, type }, given) =>
      services.update(id, {
        ...Object.fromEntries(Object.entries(textsOf(given)).filter(([field]) => given[field] !== undefined)),
        type: textAt(given, "type") ?? type,
        updated_at: instantOf(kernel),
      }),
    remove: (_c, { id }) => services.remove(id),
  });
}

function checkedType(given: JsonObject): string {
  const type = textAt(given, "type") ?? "None";
  if (kinds.includes(type)) return type;
  const why = `Invalid type ${type} specified for security service. Valid types are ${kinds.join(",")}`;
  throw computeError(400, `Invalid input received: ${why}.`);
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

function viewOf(c: ShareContext, { ou, ...service }: SecurityService): JsonObject {
  return { ...service, status: "new", ...(c.get("minor") >= 44 ? { ou } : {}) };
}
