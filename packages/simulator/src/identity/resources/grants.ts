import { identityError, type Assignment, type IdentityTables } from "../model.ts";
import { list, selfOf, whole } from "../listing.ts";
import {
  baseOf,
  callerOf,
  requireAdmin,
  type IdentityApp,
  type IdentityContext,
  type IdentityParts,
} from "../kit/request.ts";
import { withImplied } from "../rules/roles.ts";
import { groupView, roleView, userView, type JsonView } from "../views.ts";

/** Who has which role on what, and who is in which group. */
export function mountGrants(app: IdentityApp, { tables }: IdentityParts): void {
  app.get("/v3/role_assignments", (c) => {
    requireAdmin(c, "list_role_assignments");
    const shown = assignmentsFor(c, tables).map((a) => assignmentView(c, tables, a));
    return c.json({ role_assignments: shown, links: { next: null, self: selfOf(c), previous: null } });
  });
  for (const where of ["projects", "domains"] as const) {
    for (const who of ["users", "groups"] as const) {
      addGrants(app, tables, { where, who });
      addGrants(app, tables, { where, who, inherited: true });
    }
  }
  for (const who of ["users", "groups"] as const) addSystemGrants(app, tables, who);
  addMemberships(app, tables);
}

interface Kind {
  readonly where: "projects" | "domains";
  readonly who: "users" | "groups";
  /** Under OS-INHERIT: on what is below the target. */
  readonly inherited?: true;
}

function addGrants(app: IdentityApp, tables: IdentityTables, { where, who, inherited }: Kind): void {
  const tail = inherited === true ? "/inherited_to_projects" : "";
  const stem = `/v3${inherited === true ? "/OS-INHERIT" : ""}/${where}/:target/${who}/:actor/roles`;
  const [roles, path] = [stem + tail, `${stem}/:role${tail}`];
  const key = (c: IdentityContext) =>
    `${c.req.param("target")}/${c.req.param("actor")}/${c.req.param("role")}${inherited === true ? "/inherited" : ""}`;
  const missing = (c: IdentityContext) => {
    const { target, actor, role } = c.req.param() as Record<string, string>;
    const why = `role: ${role}, user or group: ${actor}, project, domain, or system: ${target}.`;
    return identityError(404, `Could not find role assignment with ${why}`);
  };
  // Keystone lists what is inherited of domains, not of projects.
  const isListed = inherited !== true || where === "domains";
  if (isListed)
    app.get(roles, (c) => {
      requireAdmin(c, "list_grants");
      const prefix = `${c.req.param("target")}/${c.req.param("actor")}/`;
      const given = tables.assignments.all().filter((a) => a.id.startsWith(prefix) && a.inherited === inherited);
      const found = given.flatMap((a) => tables.roles.get(a.role_id) ?? []);
      return whole(
        c,
        "roles",
        found.map((r) => roleView(r, baseOf(c))),
      );
    });
  app.put(path, (c) => {
    requireAdmin(c, "create_grant");
    const { target = "", actor = "", role = "" } = c.req.param() as Record<string, string>;
    const exists: readonly (readonly [string, string, unknown])[] = [
      ["role", role, tables.roles.get(role)],
      [who.slice(0, -1), actor, tables[who].get(actor)],
      [where.slice(0, -1), target, tables[where].get(target)],
    ];
    for (const [what, id, object] of exists) {
      if (!object) throw identityError(404, `Could not find ${what}: ${id}.`);
    }
    if (!tables.assignments.get(key(c))) {
      tables.assignments.insert({
        id: key(c),
        ...(who === "users" ? { user_id: actor } : { group_id: actor }),
        ...(where === "projects" ? { project_id: target } : { domain_id: target }),
        role_id: role,
        ...(inherited === true ? { inherited } : {}),
      });
    }
    return c.body(null, 204);
  });
  // Hono handles HEAD as GET.
  app.get(path, (c) => {
    requireAdmin(c, "check_grant");
    if (tables.assignments.get(key(c))) return c.body(null, 204);
    throw missing(c);
  });
  app.delete(path, (c) => {
    requireAdmin(c, "revoke_grant");
    const grant = tables.assignments.get(key(c));
    if (!grant) throw missing(c);
    tables.assignments.remove(grant.id);
    forgetTokens(tables, grant);
    return c.body(null, 204);
  });
}

/**
 * Roles on the cloud as a whole: /v3/system/users/{user}/roles. They are stored and returned; no token is scoped to the
 * system.
 */
function addSystemGrants(app: IdentityApp, tables: IdentityTables, who: "users" | "groups"): void {
  const roles = `/v3/system/${who}/:actor/roles`;
  const key = (c: IdentityContext) => `system/${c.req.param("actor")}/${c.req.param("role")}`;
  app.get(roles, (c) => {
    requireAdmin(c, "list_system_grants_for_user");
    const prefix = `system/${c.req.param("actor")}/`;
    const given = tables.assignments.all().filter((a) => a.id.startsWith(prefix));
    return whole(
      c,
      "roles",
      given.flatMap((a) => tables.roles.get(a.role_id) ?? []).map((r) => roleView(r, baseOf(c))),
    );
  });
  app.put(`${roles}/:role`, (c) => {
    requireAdmin(c, "create_system_grant_for_user");
    const { actor = "", role = "" } = c.req.param() as Record<string, string>;
    if (!tables.roles.get(role)) throw identityError(404, `Could not find role: ${role}.`);
    if (!tables[who].get(actor)) throw identityError(404, `Could not find ${who.slice(0, -1)}: ${actor}.`);
    const whose = who === "users" ? { user_id: actor } : { group_id: actor };
    if (!tables.assignments.get(key(c)))
      tables.assignments.insert({ id: key(c), ...whose, role_id: role, system: true });
    return c.body(null, 204);
  });
  const kept = (c: IdentityContext): Assignment => {
    const found = tables.assignments.get(key(c));
    if (found) return found;
    throw identityError(404, `Could not find role assignment with role: ${c.req.param("role")}.`);
  };
  app.get(`${roles}/:role`, (c) => {
    requireAdmin(c, "check_system_grant_for_user");
    kept(c);
    return c.body(null, 204);
  });
  app.delete(`${roles}/:role`, (c) => {
    requireAdmin(c, "revoke_system_grant_for_user");
    tables.assignments.remove(kept(c).id);
    return c.body(null, 204);
  });
}

/** Tokens of a user on a project end with the user's role there. */
function forgetTokens(tables: IdentityTables, { user_id, project_id }: Assignment): void {
  if (user_id === undefined || project_id === undefined) return;
  for (const token of tables.tokens.all()) {
    if (token.user_id === user_id && token.project_id === project_id) tables.tokens.remove(token.id);
  }
}

function assignmentsFor(c: IdentityContext, tables: IdentityTables): readonly Assignment[] {
  const wanted = (parameter: string, value: string | undefined) => {
    const asked = c.req.query(parameter);
    return asked === undefined || asked === value;
  };
  const effective = c.req.query("effective") !== undefined;
  const all = effective
    ? tables.assignments
        .all()
        // What holds on the cloud as a whole is requested with its own scope.
        .filter((a) => a.system !== true || c.req.query("scope.system") !== undefined)
        .flatMap((a) => ofUsers(tables, a))
        .flatMap((a) => ofTargets(tables, a))
        .flatMap((a) => withImplied(tables, [a.role_id]).map((role_id) => ({ ...a, role_id })))
        .filter((a) => (tables.roles.get(a.role_id)?.domain_id ?? null) === null)
    : tables.assignments.all();
  const place = c.req.query("scope.project.id");
  const isWithin = (id: string | undefined): boolean => {
    const project = tables.projects.get(id ?? "");
    // A domain is the project above all that are in it.
    return id !== undefined && (id === place || project?.domain_id === place || isWithin(project?.parent_id));
  };
  const subtree = c.req.query("include_subtree");
  const isWhole = place !== undefined && subtree !== undefined && subtree !== "0";
  return all.filter(
    (a) =>
      wanted("user.id", a.user_id) &&
      wanted("group.id", a.group_id) &&
      (isWhole ? isWithin(a.project_id) : wanted("scope.project.id", a.project_id)) &&
      wanted("scope.domain.id", a.domain_id) &&
      (c.req.query("scope.system") !== "all" || a.system === true) &&
      (c.req.query("scope.OS-INHERIT:inherited_to") !== "projects" || a.inherited === true) &&
      wanted("role.id", a.role_id),
  );
}

/** An inherited assignment as it is on each project below. */
function ofTargets(tables: IdentityTables, a: Assignment): readonly Assignment[] {
  if (a.inherited !== true) return [a];
  const { inherited: _, domain_id, ...rest } = a;
  const isBelow = (id: string | undefined): boolean =>
    id !== undefined && (id === a.project_id || isBelow(tables.projects.get(id)?.parent_id));
  return tables.projects
    .all()
    .filter((p) => (domain_id === undefined ? p.id !== a.project_id && isBelow(p.id) : p.domain_id === domain_id))
    .map((p) => ({ ...rest, project_id: p.id }));
}

/** A group's assignment as its members have it. */
function ofUsers(tables: IdentityTables, a: Assignment): readonly Assignment[] {
  if (a.group_id === undefined) return [a];
  const { group_id, ...rest } = a;
  return tables.memberships.by("group_id", group_id).map((m) => ({ ...rest, user_id: m.user_id }));
}

function assignmentView(c: IdentityContext, tables: IdentityTables, a: Assignment): JsonView {
  const asked = c.req.query("include_names");
  const names = asked !== undefined && asked !== "0";
  const named = (id: string | undefined, table: "projects" | "users" | "groups" | "roles") => {
    if (!names) return { id };
    const object = tables[table].get(id ?? "");
    const domain = tables.domains.get((object && "domain_id" in object ? object.domain_id : undefined) ?? "");
    return { id, name: object?.name, ...(domain ? { domain: { id: domain.id, name: domain.name } } : {}) };
  };
  const where = a.project_id === undefined ? `domains/${a.domain_id}` : `projects/${a.project_id}`;
  const below = a.inherited === true ? { "OS-INHERIT:inherited_to": "projects" } : {};
  const who = a.user_id === undefined ? `groups/${a.group_id}` : `users/${a.user_id}`;
  const domain = names ? { id: a.domain_id, name: tables.domains.get(a.domain_id ?? "")?.name } : { id: a.domain_id };
  return {
    links: { assignment: `${baseOf(c)}/${where}/${who}/roles/${a.role_id}` },
    scope:
      a.system === true
        ? { system: { all: true } }
        : { ...below, ...(a.project_id === undefined ? { domain } : { project: named(a.project_id, "projects") }) },
    ...(a.user_id === undefined ? { group: named(a.group_id, "groups") } : { user: named(a.user_id, "users") }),
    role: named(a.role_id, "roles"),
  };
}

function addMemberships(app: IdentityApp, tables: IdentityTables): void {
  const path = "/v3/groups/:group/users/:user";
  const check = (c: IdentityContext) => {
    const [group, user] = [c.req.param("group") ?? "", c.req.param("user") ?? ""];
    if (!tables.groups.get(group)) throw identityError(404, `Could not find group: ${group}.`);
    if (!tables.users.get(user)) throw identityError(404, `Could not find user: ${user}.`);
    return { id: `${group}/${user}`, group_id: group, user_id: user };
  };
  const present = (c: IdentityContext): string => {
    const { id, group_id, user_id } = check(c);
    if (tables.memberships.get(id)) return id;
    throw identityError(404, `User '${user_id}' not found in group '${group_id}'`);
  };
  app.put(path, (c) => {
    requireAdmin(c, "add_user_to_group");
    const membership = check(c);
    if (!tables.memberships.get(membership.id)) tables.memberships.insert(membership);
    return c.body(null, 204);
  });
  app.get(path, (c) => {
    requireAdmin(c, "check_user_in_group");
    present(c);
    return c.body(null, 204);
  });
  app.delete(path, (c) => {
    requireAdmin(c, "remove_user_from_group");
    tables.memberships.remove(present(c));
    return c.body(null, 204);
  });
  app.get("/v3/groups/:group/users", (c) => {
    requireAdmin(c, "list_users_in_group");
    const members = tables.memberships.by("group_id", c.req.param("group"));
    const users = members.flatMap((m) => tables.users.get(m.user_id) ?? []);
    return list(
      c,
      "users",
      users.map((u) => userView(u, baseOf(c))),
    );
  });
  app.get("/v3/users/:user/groups", (c) => {
    // Keystone's default policy: administrators, and users for themselves.
    if (callerOf(c).userId !== c.req.param("user")) requireAdmin(c, "list_groups_for_user");
    const groups = tables.memberships
      .by("user_id", c.req.param("user"))
      .flatMap((m) => tables.groups.get(m.group_id) ?? []);
    return list(
      c,
      "groups",
      groups.map((g) => ({ ...groupView(g, baseOf(c)), membership_expires_at: null })),
      ["domain_id"],
    );
  });
}
