import { at, textAt } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { identityError, identityId, schemaError, type IdentityTables, type Trust } from "../model.ts";
import { list, selfOf } from "../listing.ts";
import { baseOf, callerOf, requireAdmin } from "../kit/request.ts";
import type { IdentityApp, IdentityContext, IdentityEnv, IdentityParts } from "../kit/request.ts";
import { rolesOn } from "../rules/roles.ts";
import { roleView, trustListView, trustView } from "../views.ts";

const path = "/v3/OS-TRUST/trusts";

/** Trusts: a user lends roles in a project to another user. */
export function mountTrusts(app: IdentityApp, { kernel, tables }: IdentityParts): void {
  const found = (c: IdentityContext, rule: string): Trust => {
    const trust = tables.trusts.get(c.req.param("id") ?? "");
    if (!trust) throw identityError(404, `Could not find trust: ${c.req.param("id") ?? ""}.`);
    const { userId } = callerOf(c);
    if (userId !== trust.trustor_user_id && userId !== trust.trustee_user_id) requireAdmin(c, rule);
    return trust;
  };
  mountResource<IdentityEnv, Trust>(app, kernel, {
    path,
    one: "trust",
    many: "trusts",
    bodyMissing: () => schemaError("'trust' is a required property"),
    find: (c, verb) => found(c, `${verb === "show" ? "get" : verb}_trust`),
    list(c) {
      const { userId } = callerOf(c);
      const own = [c.req.query("trustor_user_id"), c.req.query("trustee_user_id")].includes(userId);
      if (!own) requireAdmin(c, "list_trusts");
      // By anything else Keystone finds none.
      const isFound = own || Object.keys(c.req.query()).every((name) => /^trust(?:or|ee)_user_id$/.test(name));
      return { rows: isFound ? tables.trusts.all() : [] };
    },
    respondList: (c, views) => list(c, "trusts", views),
    view: (c, trust, verb) => (verb === "list" ? trustListView(trust, baseOf(c)) : trustView(trust, tables, baseOf(c))),
    create: (c, given) =>
      tables.trusts.insert(makeTrust(tables, given, { id: identityId(kernel), caller: callerOf(c).userId })),
    remove(_c, { id }) {
      tables.trusts.remove(id);
      for (const token of tables.tokens.all()) if (token.trust_id === id) tables.tokens.remove(token.id);
    },
  });
  app.get(`${path}/:id/roles`, (c) => {
    const { role_ids } = found(c, "list_roles_for_trust");
    const roles = role_ids.flatMap((id) => tables.roles.get(id) ?? []).map((r) => roleView(r, baseOf(c)));
    return c.json({ roles, links: { self: selfOf(c), next: null, previous: null } });
  });
  app.get(`${path}/:id/roles/:role`, (c) => {
    const { role_ids } = found(c, "get_role_for_trust");
    const role = tables.roles.get(c.req.param("role"));
    if (!role || !role_ids.includes(role.id)) throw identityError(404, `Could not find role: ${c.req.param("role")}.`);
    return c.json({ role: roleView(role, baseOf(c)) });
  });
}

function makeTrust(tables: IdentityTables, given: object, { id, caller }: { id: string; caller: string }): Trust {
  const [trustor, trustee] = [textAt(given, "trustor_user_id"), textAt(given, "trustee_user_id")];
  const impersonation = at(given, "impersonation");
  if (trustor === undefined) throw schemaError("'trustor_user_id' is a required property");
  if (trustee === undefined) throw schemaError("'trustee_user_id' is a required property");
  if (typeof impersonation !== "boolean") throw schemaError("'impersonation' is a required property");
  if (trustor !== caller) {
    throw identityError(403, "You are not authorized to perform the requested action: identity:create_trust.");
  }
  if (!tables.users.get(trustee)) throw identityError(404, `Could not find user: ${trustee}.`);
  const project_id = textAt(given, "project_id") ?? null;
  const uses = at(given, "remaining_uses");
  const expires = textAt(given, "expires_at");
  if (expires !== undefined && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(expires)) {
    throw identityError(400, "The timestamp is not in the expected format.");
  }
  return {
    id,
    trustor_user_id: trustor,
    trustee_user_id: trustee,
    project_id,
    impersonation,
    expires_at: expires ?? null,
    remaining_uses: typeof uses === "number" ? uses : null,
    role_ids: lentRoles(tables, at(given, "roles"), rolesOn(tables, trustor, { project_id: project_id ?? "" })),
  };
}

/** The roles to lend, which the trustor must have. */
function lentRoles(tables: IdentityTables, asked: unknown, held: readonly string[]): readonly string[] {
  return (Array.isArray(asked) ? asked : []).map((role: unknown) => {
    const name = textAt(role, "name") ?? "";
    const id = textAt(role, "id") ?? tables.roles.by("name", name)[0]?.id;
    if (id === undefined || !held.includes(id)) throw identityError(404, `Could not find role: ${id ?? name}.`);
    return id;
  });
}
