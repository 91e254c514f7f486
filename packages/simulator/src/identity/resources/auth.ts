import { at, bodyOf, textAt } from "../../kernel/json.ts";
import { addedServices } from "../rules/added-services.ts";
import { list, whole } from "../listing.ts";
import { hashSecret, identityError, schemaError, secretMatches, unauthorized } from "../model.ts";
import type { Assignment, IdentityTables, Token } from "../model.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityParts,
} from "../kit/request.ts";
import { catalogView, domainView, projectView, tokenView } from "../views.ts";

/** Tokens and their catalog; what a user may have a token for; a change of their password. */
export function mountAuth(app: IdentityApp, parts: IdentityParts): void {
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
}

/** What a user was given, themselves and by way of their groups. */
function actorsAssignments(tables: IdentityTables, user: string): readonly Assignment[] {
  const groups = tables.memberships.by("user_id", user).map((m) => m.group_id);
  return [
    ...tables.assignments.by("user_id", user),
    ...groups.flatMap((group) => tables.assignments.by("group_id", group)),
  ];
}
