import type { Table } from "../../kernel/interface.ts";
import { isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import type { AccountKind } from "../kit/accounts.ts";
import {
  hashSecret,
  identityError,
  schemaError,
  type Domain,
  type Group,
  type IdentityTables,
  type Project,
  type Role,
  type User,
} from "../model.ts";
import { callerOf } from "../kit/request.ts";
import { domainView, groupView, projectView, roleView, userView } from "../views.ts";

const flag = (value: unknown, otherwise: boolean): boolean => (typeof value === "boolean" ? value : otherwise);

/** Fields that Keystone has no name for and keeps. */
function extraOf(given: JsonObject, known: readonly string[]): { extra?: JsonObject } {
  const extra = Object.entries(given).filter(([field]) => !known.includes(field) && field !== "name");
  return extra.length === 0 ? {} : { extra: Object.fromEntries(extra) };
}

/** Options as they are after a change: null takes one away. */
function optionsOf(old: NonNullable<User["options"]>, given: JsonObject): Pick<User, "options"> {
  const { options } = given;
  if (!isObject(options)) return {};
  return { options: Object.fromEntries(Object.entries({ ...old, ...options }).filter(([, value]) => value !== null)) };
}

function refuseTaken<T extends { id: string; name: string; domain_id?: string | null }>(
  table: Table<T>,
  { id = "", name, domain }: { id?: string; name: string; domain?: string },
  why: (taken: T) => string,
): void {
  const taken = table.by("name", name).find((o) => o.id !== id && (domain === undefined || o.domain_id === domain));
  if (taken) throw identityError(409, `Conflict occurred attempting to store ${why(taken)}`);
}

/** Names of projects and domains have 64 characters at most. */
function refuseLong(name: string): void {
  if (name.length > 64) throw schemaError(`Invalid input for field 'name': '${name}' is too long`);
}

/** What hangs on an account goes with it. */
function removeAssignments(
  tables: IdentityTables,
  field: "user_id" | "group_id" | "project_id" | "role_id" | "domain_id",
  id: string,
): void {
  for (const a of tables.assignments.all()) if (a[field] === id) tables.assignments.remove(a.id);
}
function removeTokens(tables: IdentityTables, isOf: (t: { user_id: string; project_id?: string }) => boolean): void {
  for (const token of tables.tokens.all()) if (isOf(token)) tables.tokens.remove(token.id);
}
const duplicate = (what: string, name: string, domain: string): string =>
  `${what} - Duplicate entry found with name ${name} at domain ID ${domain}.`;

const PROJECT = ["domain_id", "description", "enabled", "parent_id", "is_domain", "tags", "options"];
const GROUP = ["id", "domain_id", "description"];
const ROLE = ["id", "domain_id", "description", "options"];
const USER = ["domain_id", "description", "enabled", "default_project_id", "password", "options"];

/** {parent: {its parent: …}}, up to the domain. */
function parentsOf(tables: IdentityTables, { parent_id, domain_id }: Project): JsonObject {
  const parent = tables.projects.get(parent_id ?? "");
  return parent ? { [parent.id]: parentsOf(tables, parent) } : { [domain_id]: null };
}

/** {child: {its child: …}}; null where there is none. */
function subtreeOf(tables: IdentityTables, id: string): JsonObject | null {
  const children = tables.projects.all().filter((project) => project.parent_id === id);
  return children.length === 0
    ? null
    : Object.fromEntries(children.map((child) => [child.id, subtreeOf(tables, child.id)]));
}

/** Projects: names are unique within a domain. Disabling and deleting one revokes the tokens for it. */
export function projectKind(tables: IdentityTables): AccountKind<Project> {
  const unique = (name: string, domain: string, id?: string) =>
    refuseTaken(
      tables.projects,
      { name, domain, ...(id === undefined ? {} : { id }) },
      (taken) =>
        `project - it is not permitted to have two projects with either the same name or same id in the same domain: name is ${name}, project id ${taken.id}.`,
    );
  return {
    one: "project",
    many: "projects",
    table: tables.projects,
    view: projectView,
    changedView: ({ extra = {} }) => ({ extra }),
    mayRead: (c, project) => project?.id === callerOf(c).projectId,
    make(id, given) {
      const parent = textAt(given, "parent_id");
      const domain_id = textAt(given, "domain_id") ?? tables.projects.get(parent ?? "")?.domain_id ?? "default";
      if (!tables.domains.get(domain_id)) throw identityError(400, `Could not find domain: ${domain_id}.`);
      const name = textAt(given, "name") ?? "";
      refuseLong(name);
      unique(name, domain_id);
      return {
        id,
        name,
        domain_id,
        description: textAt(given, "description") ?? "",
        enabled: flag(given["enabled"], true),
        ...(parent === undefined ? {} : { parent_id: parent }),
        tags: Array.isArray(given["tags"]) ? given["tags"].map(String) : [],
        ...extraOf(given, PROJECT),
      };
    },
    change(old, given) {
      const name = textAt(given, "name") ?? old.name;
      if (name !== old.name) unique(name, old.domain_id, old.id);
      const enabled = flag(given["enabled"], old.enabled);
      if (!enabled) removeTokens(tables, (t) => t.project_id === old.id);
      return {
        name,
        enabled,
        description: textAt(given, "description") ?? old.description,
        ...(Array.isArray(given["tags"]) ? { tags: given["tags"].map(String) } : {}),
        extra: { ...old.extra, ...extraOf(given, PROJECT).extra },
      };
    },
    details: (c, project) => ({
      ...(c.req.query("parents_as_ids") === undefined ? {} : { parents: parentsOf(tables, project) }),
      ...(c.req.query("subtree_as_ids") === undefined ? {} : { subtree: subtreeOf(tables, project.id) }),
    }),
    release({ id }) {
      if (tables.projects.all().some((project) => project.parent_id === id)) {
        const why =
          "since it is not a leaf in the hierarchy. Use the cascade option if you want to delete a whole subtree.";
        throw identityError(403, `Cannot delete the project ${id} ${why}`);
      }
      removeAssignments(tables, "project_id", id);
      removeTokens(tables, (t) => t.project_id === id);
      for (const key of tables.credentials.all()) if (key.project_id === id) tables.credentials.remove(key.id);
    },
  };
}

/** Users: a password is kept as a hash. A new password, disabling and deleting revoke the user's tokens. */
export function userKind(tables: IdentityTables): AccountKind<User> {
  const secretOf = (given: JsonObject) => {
    const password = textAt(given, "password");
    const kept = given["password"];
    if (password === undefined && kept !== undefined && kept !== null) {
      throw schemaError(`Invalid input for field 'password': ${JSON.stringify(kept)} is not of type 'string', 'null'`);
    }
    return password === undefined ? {} : { secret: hashSecret(password) };
  };
  return {
    one: "user",
    many: "users",
    table: tables.users,
    view: userView,
    // To Keystone a description is none of a user's own fields.
    changedView: ({ extra, description }) => ({
      extra: { ...extra, ...(description === undefined ? {} : { description }) },
    }),
    mayRead: (c, user) => user?.id === callerOf(c).userId,
    make(id, given) {
      const [name, domain_id] = [textAt(given, "name") ?? "", textAt(given, "domain_id") ?? "default"];
      if (!tables.domains.get(domain_id)) throw identityError(404, `Could not find domain: ${domain_id}.`);
      refuseTaken(tables.users, { name, domain: domain_id }, () => duplicate("user", name, domain_id));
      const [project, description] = [textAt(given, "default_project_id"), textAt(given, "description")];
      return {
        id,
        name,
        domain_id,
        enabled: flag(given["enabled"], true),
        ...secretOf(given),
        ...(project === undefined ? {} : { default_project_id: project }),
        ...(description === undefined ? {} : { description }),
        ...optionsOf({}, given),
        ...extraOf(given, USER),
      };
    },
    change(old, given) {
      const name = textAt(given, "name") ?? old.name;
      if (name !== old.name) {
        refuseTaken(tables.users, { id: old.id, name, domain: old.domain_id }, () =>
          duplicate("user", name, old.domain_id),
        );
      }
      const enabled = flag(given["enabled"], old.enabled);
      const secret = secretOf(given);
      if (!enabled || "secret" in secret) removeTokens(tables, (t) => t.user_id === old.id);
      const [project, description] = [textAt(given, "default_project_id"), textAt(given, "description")];
      return {
        name,
        enabled,
        ...secret,
        ...(project === undefined ? {} : { default_project_id: project }),
        ...(description === undefined ? {} : { description }),
        ...optionsOf(old.options ?? {}, given),
        extra: { ...old.extra, ...extraOf(given, USER).extra },
      };
    },
    release({ id }) {
      removeAssignments(tables, "user_id", id);
      removeTokens(tables, (t) => t.user_id === id);
      for (const m of tables.memberships.by("user_id", id)) tables.memberships.remove(m.id);
      for (const key of tables.credentials.by("user_id", id)) tables.credentials.remove(key.id);
      for (const t of tables.trusts.all()) {
        if (t.trustor_user_id === id || t.trustee_user_id === id) tables.trusts.remove(t.id);
      }
    },
  };
}

/** Groups of users. Deleting one removes its assignments and memberships. */
export function groupKind(tables: IdentityTables): AccountKind<Group> {
  return {
    one: "group",
    many: "groups",
    table: tables.groups,
    view: groupView,
    make(id, given) {
      const [name, domain_id] = [textAt(given, "name") ?? "", textAt(given, "domain_id") ?? "default"];
      refuseTaken(tables.groups, { name, domain: domain_id }, () => duplicate("group", name, domain_id));
      return { id, name, domain_id, description: textAt(given, "description") ?? "", ...extraOf(given, GROUP) };
    },
    change: (old, given) => ({
      name: textAt(given, "name") ?? old.name,
      description: textAt(given, "description") ?? old.description,
      extra: { ...old.extra, ...extraOf(given, GROUP).extra },
    }),
    release({ id }) {
      removeAssignments(tables, "group_id", id);
      for (const m of tables.memberships.by("group_id", id)) tables.memberships.remove(m.id);
    },
  };
}

/** Roles: global ones (`domain_id` is null), and those of one domain. */
export function roleKind(tables: IdentityTables): AccountKind<Role> {
  return {
    one: "role",
    many: "roles",
    table: tables.roles,
    view: roleView,
    make(id, given) {
      const name = textAt(given, "name") ?? "";
      const domain_id = textAt(given, "domain_id") ?? null;
      const taken = tables.roles.by("name", name).some((role) => (role.domain_id ?? null) === domain_id);
      if (taken) {
        const where = domain_id === null ? "" : ` at domain ID ${domain_id}`;
        throw identityError(
          409,
          `Conflict occurred attempting to store role - Duplicate entry found with name ${name}${where}.`,
        );
      }
      return { id, name, domain_id, description: textAt(given, "description") ?? null, ...extraOf(given, ROLE) };
    },
    change: (old, given) => ({
      name: textAt(given, "name") ?? old.name,
      description: textAt(given, "description") ?? old.description ?? null,
      extra: { ...old.extra, ...extraOf(given, ROLE).extra },
    }),
    release({ id, name }) {
      if (["admin", "member", "reader"].includes(name)) {
        const why = `Cannot delete immutable role: ${id}. Resource option \`immutable = false\` must be set`;
        throw identityError(403, `${why} before the role can be deleted.`);
      }
      removeAssignments(tables, "role_id", id);
      for (const i of tables.implications.all()) {
        if (i.prior === id || i.implied === id) tables.implications.remove(i.id);
      }
    },
    listed: (c, role) => (role.domain_id ?? undefined) === c.req.query("domain_id"),
  };
}

/** Domains: only a disabled one can be deleted, and its projects, users and groups with it. */
export function domainKind(tables: IdentityTables): AccountKind<Domain> {
  const unique = (name: string, id?: string) =>
    refuseTaken(
      tables.domains,
      { name, ...(id === undefined ? {} : { id }) },
      () => `project - it is not permitted to have two projects acting as domains with the same name: ${name}.`,
    );
  return {
    one: "domain",
    many: "domains",
    table: tables.domains,
    view: domainView,
    mayRead: () => true,
    make(id, given) {
      const name = textAt(given, "name") ?? "";
      refuseLong(name);
      unique(name);
      return { id, name, description: textAt(given, "description") ?? "", enabled: flag(given["enabled"], true) };
    },
    change(old, given) {
      const name = textAt(given, "name") ?? old.name;
      if (name !== old.name) unique(name, old.id);
      return {
        name,
        description: textAt(given, "description") ?? old.description,
        enabled: flag(given["enabled"], old.enabled),
      };
    },
    release({ id, enabled }) {
      if (enabled) throw identityError(403, "Cannot delete a domain that is enabled, please disable it first.");
      for (const kind of [projectKind(tables), userKind(tables), groupKind(tables)] as const) {
        removeAll(kind as AccountKind<Project | User | Group>, id);
      }
      removeAssignments(tables, "domain_id", id);
    },
  };
}

function removeAll(kind: AccountKind<Project | User | Group>, domain: string): void {
  for (const object of kind.table.all().filter((o) => o.domain_id === domain)) {
    kind.release?.(object);
    kind.table.remove(object.id);
  }
}
