import { randomBytes } from "node:crypto";
import { at, isObject, textAt } from "../../kernel/json.ts";
import { mountResource } from "../../kernel/rest/resource.ts";
import { list } from "../listing.ts";
import {
  hashSecret,
  identityError,
  identityId,
  schemaError,
  type AccessRule,
  type Credential,
  type IdentityTables,
} from "../model.ts";
import { rolesOn } from "../rules/roles.ts";
import {
  baseOf,
  callerOf,
  type IdentityApp,
  type IdentityContext,
  type IdentityEnv,
  type IdentityParts,
} from "../kit/request.ts";
import { credentialView } from "../views.ts";

const path = "/v3/users/:user/application_credentials";

/** Application credentials of the caller. Their secret is returned once, in the response to the create. */
export function mountCredentials(app: IdentityApp, parts: IdentityParts): void {
  const { tables } = parts;
  mountAccessRules(app, parts);
  mountResource<IdentityEnv, NewCredential>(app, parts.kernel, {
    path,
    one: "application_credential",
    many: "application_credentials",
    permit(c, verb) {
      const rule = { list: "list", show: "get", create: "create", delete: "delete", update: "update", detail: "list" }[
        verb
      ];
      if (verb === "create" || verb === "delete") refuseRestricted(c, parts);
      owner(c, `${rule}_application_credential${verb === "list" ? "s" : ""}`);
    },
    find: (c) => find(tables, c.req.param("user") ?? "", c.req.param("id") ?? ""),
    list(c) {
      const [user, name] = [c.req.param("user") ?? "", c.req.query("name")];
      const rows = tables.credentials.by("user_id", user).filter((k) => name === undefined || k.name === name);
      const self = `${baseOf(c)}/users/${user}/application_credentials`;
      return { rows, more: { links: { next: null, self, previous: null } } };
    },
    view: (c, { plainSecret, ...credential }, verb) => ({
      ...credentialView(credential, tables, baseOf(c)),
      ...(verb === "create" ? { secret: plainSecret } : {}),
    }),
    create(c, given) {
      const plainSecret = textAt(given, "secret") ?? randomBytes(64).toString("base64url");
      const user = c.req.param("user") ?? "";
      return { ...create(c, given, { parts, secret: plainSecret, user }), plainSecret };
    },
    remove: (_c, { id }) => tables.credentials.remove(id),
  });
}

/** With its secret while the response to the create is made. */
type NewCredential = Credential & { readonly plainSecret?: string };

/** A restricted credential manages no others, and not itself. */
function refuseRestricted(c: IdentityContext, { tables, tokens }: IdentityParts): void {
  const id = tokens.find(c.req.header("x-auth-token") ?? "")?.application_credential_id;
  if (id === undefined || tables.credentials.get(id)?.unrestricted === true) return;
  const what = "Using method 'application_credential' is not allowed for managing additional application credentials.";
  throw identityError(403, `You are not authorized to perform the requested action: ${what}.`);
}

/** The user of the path, who must be the caller. */
function owner(c: IdentityContext, rule: string): string {
  const user = c.req.param("user") ?? "";
  if (callerOf(c).userId !== user) {
    throw identityError(403, `You are not authorized to perform the requested action: identity:${rule}.`);
  }
  return user;
}

function find(tables: IdentityTables, user: string, id: string): Credential {
  const credential = tables.credentials.get(id);
  if (credential?.user_id !== user) throw identityError(404, `Could not find Application Credential: ${id}.`);
  return credential;
}

interface Creation {
  readonly parts: IdentityParts;
  readonly secret: string;
  readonly user: string;
}

function create(c: IdentityContext, given: unknown, { parts, secret, user }: Creation): Credential {
  const { kernel, tables, tokens } = parts;
  const name = textAt(given, "name");
  if (name === undefined) throw schemaError("'name' is a required property");
  if (tables.credentials.by("user_id", user).some((k) => k.name === name)) {
    const message = `Conflict occurred attempting to store application_credential - Duplicate entry found with name ${name}.`;
    throw identityError(409, message);
  }
  const token = tokens.find(c.req.header("x-auth-token") ?? "");
  // One that a credential makes has no more roles than that credential.
  const held =
    token?.application_credential_id === undefined
      ? rolesOn(tables, user, { project_id: callerOf(c).projectId })
      : token.role_ids;
  const unrestricted = at(given, "unrestricted");
  return tables.credentials.insert({
    id: identityId(kernel),
    name,
    description: textAt(given, "description") ?? null,
    user_id: user,
    project_id: callerOf(c).projectId,
    role_ids: rolesOf(at(given, "roles"), held, tables),
    expires_at: expiryOf(kernel, given),
    ...accessRules(parts, user, at(given, "access_rules")),
    unrestricted: typeof unrestricted === "boolean" ? unrestricted : null,
    secret: hashSecret(secret),
  });
}

/** Without a zone. Throws 400 for what is over already. */
function expiryOf(kernel: IdentityParts["kernel"], given: unknown): string | null {
  const expires = textAt(given, "expires_at")?.replace(/Z$/, "");
  if (expires === undefined) return null;
  if (Date.parse(`${expires}Z`) > kernel.clock.now()) return expires;
  const why =
    "The 'expires_at' must not be before now. The server could not comply with the request since it is either malformed";
  throw identityError(400, `${why} or otherwise incorrect. The client is assumed to be in error.`);
}

/** A credential's access rules: each is kept once for its user. They are returned, but not enforced. */
function accessRules(
  { kernel, tables }: IdentityParts,
  user: string,
  asked: unknown,
): Pick<Credential, "access_rules"> {
  if (!Array.isArray(asked)) return {};
  const table = tables.accessRules;
  const access_rules = asked.filter(isObject).map((rule) => {
    const known = { path: textAt(rule, "path"), method: textAt(rule, "method"), service: textAt(rule, "service") };
    const same = table
      .by("user_id", user)
      .find((r) => r.path === known.path && r.method === known.method && r.service === known.service);
    return (same ?? table.insert({ id: identityId(kernel), user_id: user, ...known })).id;
  });
  return { access_rules };
}

/** /v3/users/{user}/access_rules */
function mountAccessRules(app: IdentityApp, { tables }: IdentityParts): void {
  const table = tables.accessRules;
  const rules = "/v3/users/:user/access_rules";
  const view = (c: IdentityContext, { user_id, ...rule }: AccessRule) => ({
    ...rule,
    links: { self: `${baseOf(c)}/users/${user_id}/access_rules/${rule.id}` },
  });
  const found = (c: IdentityContext, rule: string): AccessRule => {
    const user = owner(c, rule);
    const kept = table.get(c.req.param("id") ?? "");
    if (kept?.user_id !== user) throw identityError(404, `Could not find Access Rule: ${c.req.param("id") ?? ""}.`);
    return kept;
  };
  app.get(rules, (c) => {
    const kept = table.by("user_id", owner(c, "list_access_rules"));
    return list(
      c,
      "access_rules",
      kept.map((r) => view(c, r)),
    );
  });
  app.get(`${rules}/:id`, (c) => c.json({ access_rule: view(c, found(c, "get_access_rule")) }));
  app.delete(`${rules}/:id`, (c) => {
    const { id, user_id } = found(c, "delete_access_rule");
    if (tables.credentials.by("user_id", user_id).some((k) => k.access_rules?.includes(id) === true)) {
      throw identityError(403, "May not delete access rule in use");
    }
    table.remove(id);
    return c.body(null, 204);
  });
}

/** The requested roles, which the caller must have; all of the caller's if none is named. */
function rolesOf(asked: unknown, held: readonly string[], tables: IdentityTables): readonly string[] {
  if (!Array.isArray(asked) || asked.length === 0) return held;
  return asked.filter(isObject).map((role) => {
    const id = textAt(role, "id") ?? tables.roles.by("name", textAt(role, "name") ?? "")[0]?.id;
    if (id === undefined || !held.includes(id)) {
      const message = "Invalid application credential: Cannot create an application credential with unassigned role";
      throw identityError(400, message);
    }
    return id;
  });
}
