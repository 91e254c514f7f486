import { Hono, type Context } from "hono";
import type { Caller, Kernel, Service } from "../kernel/interface.ts";
import { bodyOf } from "../kernel/json.ts";
import { addCredentialRoutes } from "./credentials.ts";
import { identityError, identityTables, type Token } from "./model.ts";
import { domainKind, groupKind, projectKind, roleKind, userKind } from "./account-kinds.ts";
import { addAccountRoutes } from "./accounts.ts";
import { addGrantRoutes } from "./grants.ts";
import { addProjectTagRoutes } from "./project-tags.ts";
import { addCatalogRoutes } from "./catalog.ts";
import { addTrustRoutes } from "./trusts.ts";
import { baseOf, callerOf, type IdentityApp, type IdentityContext, type IdentityParts } from "./request.ts";
import { Tokens } from "./tokens.ts";
import { catalogView, projectView, tokenView, type CatalogSource } from "./views.ts";

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
  addTokenRoutes(app, parts);
  addAccountRoutes(app, parts, projectKind(tables));
  addAccountRoutes(app, parts, userKind(tables));
  addAccountRoutes(app, parts, groupKind(tables));
  addAccountRoutes(app, parts, roleKind(tables));
  addAccountRoutes(app, parts, domainKind(tables));
  addProjectTagRoutes(app, parts);
  addGrantRoutes(app, parts);
  addTrustRoutes(app, parts);
  addCatalogRoutes(app, parts);
  addCredentialRoutes(app, parts);
  return {
    type: "identity",
    name: "keystone",
    catalogPath: "/v3",
    // Every route asks for the caller itself: tokens are what this service makes.
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

function addTokenRoutes(app: IdentityApp, { tables, tokens, source }: IdentityParts): void {
  const view = (c: IdentityContext, token: Token) => {
    const catalog =
      token.project_id === undefined || c.req.query("nocatalog") !== undefined
        ? undefined
        : catalogView(source, new URL(c.req.url).origin, token.project_id);
    return { token: tokenView(token, tables, catalog) };
  };
  app.post("/v3/auth/tokens", async (c) => {
    const { secret, token } = tokens.issue(await bodyOf(c.req));
    return c.json(view(c, token), 201, { "x-subject-token": secret, vary: "X-Auth-Token" });
  });
  const subject = (c: IdentityContext): Token => {
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
    const catalog = catalogView(source, new URL(c.req.url).origin, callerOf(c).projectId);
    return c.json({ catalog, links: { next: null, self: `${baseOf(c)}/auth/catalog`, previous: null } });
  });
  app.get("/v3/auth/projects", (c) => {
    const ids = new Set(tables.assignments.by("user_id", callerOf(c).userId).map((a) => a.project_id));
    const projects = tables.projects.all().filter((p) => ids.has(p.id));
    const links = { next: null, self: `${baseOf(c)}/auth/projects`, previous: null };
    return c.json({ projects: projects.map((p) => projectView(p, baseOf(c))), links });
  });
}
