import { Hono, type Context } from "hono";
import type { Caller, Kernel, Service } from "../kernel/interface.ts";
import { mountAuth } from "./resources/auth.ts";
import { mountCredentials } from "./resources/credentials.ts";
import { identityTables } from "./model.ts";
import { domainKind, groupKind, projectKind, roleKind, userKind } from "./rules/account-kinds.ts";
import { mountAccountKind } from "./kit/accounts.ts";
import { mountGrants } from "./resources/grants.ts";
import { mountProjectTags } from "./resources/project-tags.ts";
import { mountCatalog } from "./resources/catalog.ts";
import { mountDomainProjects } from "./resources/domain-projects.ts";
import { mountDomainConfiguration } from "./resources/domain-configuration.ts";
import { mountEndpointFilters } from "./resources/endpoint-filter.ts";
import { mountEc2Credentials } from "./resources/ec2-credentials.ts";
import { mountLimits } from "./resources/limits.ts";
import { mountImpliedRoles } from "./resources/implied-roles.ts";
import { mountTrusts } from "./resources/trusts.ts";
import { baseOf, type IdentityApp, type IdentityParts } from "./kit/request.ts";
import { Tokens } from "./rules/tokens.ts";
import type { CatalogSource } from "./views.ts";

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
  mountVersions(app);
  mountDomainConfiguration(app, parts);
  mountDomainProjects(app, parts, domainKind(tables));
  mountAccountKind(app, parts, projectKind(tables));
  mountAccountKind(app, parts, userKind(tables));
  mountAccountKind(app, parts, groupKind(tables));
  mountAccountKind(app, parts, roleKind(tables));
  mountAccountKind(app, parts, domainKind(tables));
  mountProjectTags(app, parts);
  mountGrants(app, parts);
  mountTrusts(app, parts);
  mountCatalog(app, parts);
  mountEndpointFilters(app, parts);
  mountLimits(app, parts);
  mountImpliedRoles(app, parts);
  mountEc2Credentials(app, parts);
  mountCredentials(app, parts);
  mountAuth(app, parts);
  app.all("*", (c) => c.html(notFoundPage, 404));
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

function mountVersions(app: IdentityApp): void {
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

const notFoundPage = `<!doctype html>
<html lang=en>
<title>404 Not Found</title>
<h1>Not Found</h1>
<p>The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.</p>
`;
