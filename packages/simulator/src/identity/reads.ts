import type { JsonView } from "./views.ts";
import { identityError, type Assignment } from "./model.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityParts,
} from "./request.ts";
import { catalogView, domainView, endpointInterfaces, projectView, roleView, userView } from "./views.ts";

/** Projects, users, roles, domains, assignments, services, endpoints and regions: reads only. */
export function addReadRoutes(app: IdentityApp, parts: IdentityParts): void {
  addAccountRoutes(app, parts);
  addAssignmentRoutes(app, parts);
  addCatalogRoutes(app, parts);
}

function list(c: IdentityContext, name: string, views: readonly JsonView[]): Response {
  const query = new URL(c.req.url).search;
  const self = baseOf(c) + c.req.path.slice("/identity/v3".length) + query;
  return c.json({ [name]: filtered(c, views), links: { next: null, self, previous: null } });
}

/** Keeps what equals every query parameter that names a field. */
function filtered(c: IdentityContext, views: readonly JsonView[]): readonly JsonView[] {
  const wanted = Object.entries(c.req.query()).filter(([field]) => views.some((v) => field in v));
  return views.filter((v) => wanted.every(([field, value]) => String(v[field]).toLowerCase() === value.toLowerCase()));
}

function addAccountRoutes(app: IdentityApp, { tables }: IdentityParts): void {
  app.get("/v3/projects", (c) => {
    requireAdmin(c, "list_projects");
    return list(
      c,
      "projects",
      tables.projects.all().map((p) => projectView(p, baseOf(c))),
    );
  });
  app.get("/v3/projects/:id", (c) => {
    const project = tables.projects.get(c.req.param("id"));
    if (project?.id !== callerOf(c).projectId) requireAdmin(c, "get_project");
    if (!project) throw identityError(404, `Could not find project: ${c.req.param("id")}.`);
    return c.json({ project: projectView(project, baseOf(c)) });
  });
  app.get("/v3/users", (c) => {
    requireAdmin(c, "list_users");
    return list(
      c,
      "users",
      tables.users.all().map((u) => userView(u, baseOf(c))),
    );
  });
  app.get("/v3/users/:id", (c) => {
    const user = tables.users.get(c.req.param("id"));
    if (user?.id !== callerOf(c).userId) requireAdmin(c, "get_user");
    if (!user) throw identityError(404, `Could not find user: ${c.req.param("id")}.`);
    return c.json({ user: userView(user, baseOf(c)) });
  });
  app.get("/v3/roles", (c) => {
    requireAdmin(c, "list_roles");
    return list(
      c,
      "roles",
      tables.roles.all().map((r) => roleView(r, baseOf(c))),
    );
  });
  app.get("/v3/roles/:id", (c) => {
    requireAdmin(c, "get_role");
    const role = tables.roles.get(c.req.param("id"));
    if (!role) throw identityError(404, `Could not find role: ${c.req.param("id")}.`);
    return c.json({ role: roleView(role, baseOf(c)) });
  });
  app.get("/v3/domains", (c) => {
    requireAdmin(c, "list_domains");
    return list(c, "domains", [domainView(baseOf(c))]);
  });
  app.get("/v3/domains/:id", (c) => {
    const id = c.req.param("id");
    callerOf(c);
    if (id !== "default") throw identityError(404, `Could not find domain: ${id}.`);
    return c.json({ domain: domainView(baseOf(c)) });
  });
}

function addAssignmentRoutes(app: IdentityApp, { tables }: IdentityParts): void {
  const named = (c: IdentityContext, a: Assignment): JsonView => {
    const names = c.req.query("include_names") !== undefined && c.req.query("include_names") !== "0";
    const domain = { id: "default", name: "Default" };
    const project = names
      ? { id: a.project_id, name: tables.projects.get(a.project_id)?.name, domain }
      : { id: a.project_id };
    const user = names ? { id: a.user_id, name: tables.users.get(a.user_id)?.name, domain } : { id: a.user_id };
    const role = names ? { id: a.role_id, name: tables.roles.get(a.role_id)?.name } : { id: a.role_id };
    const assignment = `${baseOf(c)}/projects/${a.project_id}/users/${a.user_id}/roles/${a.role_id}`;
    return { links: { assignment }, scope: { project }, user, role };
  };
  app.get("/v3/role_assignments", (c) => {
    requireAdmin(c, "list_role_assignments");
    const wanted = (parameter: string, value: string) => (c.req.query(parameter) ?? value) === value;
    const found = tables.assignments
      .all()
      .filter(
        (a) => wanted("user.id", a.user_id) && wanted("scope.project.id", a.project_id) && wanted("role.id", a.role_id),
      );
    const self = baseOf(c) + c.req.path.slice("/identity/v3".length) + new URL(c.req.url).search;
    return c.json({ role_assignments: found.map((a) => named(c, a)), links: { next: null, self, previous: null } });
  });
  app.get("/v3/projects/:project/users/:user/roles", (c) => {
    requireAdmin(c, "list_grants");
    const grants = tables.assignments.by("user_id", c.req.param("user"));
    const ids = new Set(grants.filter((a) => a.project_id === c.req.param("project")).map((a) => a.role_id));
    const roles = tables.roles.all().filter((r) => ids.has(r.id));
    return list(
      c,
      "roles",
      roles.map((r) => roleView(r, baseOf(c))),
    );
  });
  app.get("/v3/projects/:project/users/:user/roles/:role", (c) => {
    requireAdmin(c, "check_grant");
    const { project, user, role } = c.req.param();
    if (tables.assignments.get(`${project}/${user}/${role}`)) return c.body(null, 204);
    const message = `Could not find role assignment with role: ${role}, user or group: ${user}, project, domain, or system: ${project}.`;
    throw identityError(404, message);
  });
}

function addCatalogRoutes(app: IdentityApp, { source }: IdentityParts): void {
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
