import { Hono, type Context } from "hono";
import type { Caller, Kernel, Service } from "../kernel/interface.ts";
import { at, bodyOf, textAt } from "../kernel/json.ts";
import { addCredentialRoutes } from "./credentials.ts";
import { list, whole } from "./lists.ts";
import {
  hashSecret,
  identityError,
  identityTables,
  schemaError,
  secretMatches,
  unauthorized,
  type Assignment,
  type IdentityTables,
  type Token,
} from "./model.ts";
import { domainKind, groupKind, projectKind, roleKind, userKind } from "./account-kinds.ts";
import { addAccountRoutes } from "./accounts.ts";
import { addGrantRoutes } from "./grants.ts";
import { addProjectTagRoutes } from "./project-tags.ts";
import { addedServices } from "./added-services.ts";
import { addCatalogRoutes } from "./catalog.ts";
import { addDomainProjectRoutes } from "./domain-projects.ts";
import { addDomainConfigurationRoutes } from "./domain-configuration.ts";
import { addEndpointFilterRoutes } from "./endpoint-filter.ts";
import { addEc2Routes } from "./ec2-credentials.ts";
import { addLimitRoutes } from "./limits.ts";
import { addImpliedRoleRoutes } from "./implied-roles.ts";
import { addTrustRoutes } from "./trusts.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityParts,
} from "./request.ts";
import { Tokens } from "./tokens.ts";
import { catalogView, domainView, projectView, tokenView, type CatalogSource } from "./views.ts";

/** Keystone, with what the gate before all services needs of it. */
export interface IdentityService extends Service {
  readonly authenticate: (token: string) => Caller | undefined;
}

/** Keystone v3, https://docs.openstack.org/api-ref/identity/v3/ . */
export function createIdentityService(kernel: Kernel, source: CatalogSource): IdentityService {
  const tables = identityTables(kernel);
  const tokens = new Tokens(kernel);
  const parts: IdentityParts = { kernel, tables, tokens, source };
  const app: IdentityApp = new Hono();
  addVersionRoutes(app);
  addDomainConfigurationRoutes(app, parts);
  addDomainProjectRoutes(app, parts, domainKind(tables));
  addAccountRoutes(app, parts, projectKind(tables));
  addAccountRoutes(app, parts, userKind(tables));
  addAccountRoutes(app, parts, groupKind(tables));
  addAccountRoutes(app, parts, roleKind(tables));
  addAccountRoutes(app, parts, domainKind(tables));
  addProjectTagRoutes(app, parts);
  addGrantRoutes(app, parts);
  addTrustRoutes(app, parts);
  addCatalogRoutes(app, parts);
  addEndpointFilterRoutes(app, parts);
  addLimitRoutes(app, parts);
  addImpliedRoleRoutes(app, parts);
  addEc2Routes(app, parts);
  addCredentialRoutes(app, parts);
  addTokenRoutes(app, parts);
  return {
    type: "identity",
    name: "keystone",
    catalogPath: "/v3",
    // Every route authenticates the caller itself: this service issues the tokens.
    open: ["*"],
    app,
    authenticate: (token) => tokens.caller(token),
  };
}

function addVersionRoutes(app: IdentityApp): void {
  const version = (c: Context) => ({
    id: "v3.14",
    status: "stable",
    updated: "2020-04-07T00:00:00Z",
    links: [{ rel: "self", href: `${baseOf(c)}/` }],
    "media-types": [{ base: "application/json", type: "application/vnd.openstack.identity-v3+json" }],
  });
  const versions = (c: Context) =>
    c.json({ versions: { values: [version(c)] } }, 300, { location: `${baseOf(c)}/`, vary: "X-Auth-Token" });
  app.get("/", versions);
  app.get("/v3", (c) => c.json({ version: version(c) }));
  app.get("/v3/", (c) => c.json({ version: version(c) }));
}

function addTokenRoutes(app: IdentityApp, parts: IdentityParts): void {
  const { tables, tokens, source } = parts;
  const wholeCatalog = (c: IdentityContext, projectId: string) => [
    ...catalogView(source, new URL(c.req.url).origin, projectId),
    ...addedServices(parts, projectId),
  ];
  const view = (c: IdentityContext, token: Token) => {
    const catalog =
      (token.project_id === undefined && token.system !== true) || c.req.query("nocatalog") !== undefined
        ? undefined
        : wholeCatalog(c, token.project_id ?? "");
    return { token: tokenView(token, tables, catalog) };
  };
  app.post("/v3/auth/tokens", async (c) => {
    const { secret, token } = tokens.issue(await bodyOf(c.req));
    return c.json(view(c, token), 201, { "x-subject-token": secret, vary: "X-Auth-Token" });
  });
  const subject = (c: IdentityContext): Token => {
    const lost = tokens.lostCredential(c.req.header("x-auth-token") ?? "");
    if (lost !== undefined) throw identityError(404, `Could not find Application Credential: ${lost}.`);
    callerOf(c);
    const token = tokens.find(c.req.header("x-subject-token") ?? "");
    if (!token) throw identityError(404, "Could not recognize Fernet token");
    return token;
  };
  app.get("/v3/auth/tokens", (c) => {
    const token = subject(c);
    return c.json(view(c, token), 200, { "x-subject-token": c.req.header("x-subject-token") ?? "" });
  });
  app.delete("/v3/auth/tokens", (c) => {
    subject(c);
    tokens.revoke(c.req.header("x-subject-token") ?? "");
    return c.body(null, 204);
  });
  app.get("/v3/auth/catalog", (c) => {
    const catalog = wholeCatalog(c, callerOf(c).projectId);
    return c.json({ catalog, links: { next: null, self: `${baseOf(c)}/auth/catalog`, previous: null } });
  });
  const projectsOf = (c: IdentityContext, user: string) => {
    const given = actorsAssignments(tables, user);
    const inherited = new Set(given.filter((a) => a.inherited === true).map((a) => a.domain_id));
    const ids = new Set(given.map((a) => a.project_id));
    const projects = tables.projects.all().filter((p) => ids.has(p.id) || inherited.has(p.domain_id));
    return projects.map((p) => projectView(p, baseOf(c)));
  };
  for (const path of ["/v3/auth/projects", "/v3/OS-FEDERATION/projects"]) {
    app.get(path, (c) => whole(c, "projects", projectsOf(c, callerOf(c).userId)));
  }
  app.get("/v3/users/:user/projects", (c) => {
    if (callerOf(c).userId !== c.req.param("user")) requireAdmin(c, "list_user_projects");
    return list(c, "projects", projectsOf(c, c.req.param("user")), ["parent_id", "is_domain"]);
  });
  for (const path of ["/v3/auth/domains", "/v3/OS-FEDERATION/domains"]) {
    app.get(path, (c) => {
      const ids = new Set(actorsAssignments(tables, callerOf(c).userId).map((a) => a.domain_id));
      const domains = tables.domains.all().filter((d) => ids.has(d.id));
      return list(
        c,
        "domains",
        domains.map((d) => domainView(d, baseOf(c))),
      );
    });
  }
  app.get("/v3/auth/system", (c) => {
    const isOnSystem = actorsAssignments(tables, callerOf(c).userId).some((a) => a.system === true);
    return c.json({ system: isOnSystem ? [{ all: true }] : [], links: { self: `${baseOf(c)}/auth/system` } });
  });
  app.post("/v3/users/:user/password", async (c) => {
    const body = at(await bodyOf(c.req), "user");
    const user = tables.users.get(c.req.param("user"));
    const [original, password] = [textAt(body, "original_password"), textAt(body, "password")];
    if (original === undefined || password === undefined)
      throw schemaError("'original_password' is a required property");
    if (!user?.secret || !secretMatches(original, user.secret)) throw unauthorized();
    tables.users.update(user.id, { secret: hashSecret(password) });
    for (const token of tables.tokens.all()) if (token.user_id === user.id) tables.tokens.remove(token.id);
    return c.body(null, 204);
  });
  app.all("*", (c) => c.html(notFoundPage, 404));
}

const notFoundPage = `<!doctype html>
<html lang=en>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.</p>
`;

/** What a user was given, themselves and by way of their groups. */
function actorsAssignments(tables: IdentityTables, user: string): readonly Assignment[] {
  const groups = tables.memberships.by("user_id", user).map((m) => m.group_id);
  return [
    ...tables.assignments.by("user_id", user),
    ...groups.flatMap((group) => tables.assignments.by("group_id", group)),
  ];
}
