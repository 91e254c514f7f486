import type { Assignment, IdentityTables } from "./model.ts";

/** What a role brings with it, as `keystone-manage bootstrap` sets it up. */
const implied: Readonly<Record<string, readonly string[]>> = { admin: ["member", "reader"], member: ["reader"] };

export type Target = Pick<Assignment, "project_id"> | Pick<Assignment, "domain_id">;

export const isOn = (a: Assignment, target: Target): boolean =>
  "project_id" in target ? a.project_id === target.project_id : a.domain_id === (target as Assignment).domain_id;

/** The ids of a user's roles: given to the user or to a group of theirs, and what those imply. */
export function rolesOn(tables: IdentityTables, user: string, target: Target): readonly string[] {
  const groups = tables.memberships.by("user_id", user).map((m) => m.group_id);
  const given = [
    ...tables.assignments.by("user_id", user),
    ...groups.flatMap((group) => tables.assignments.by("group_id", group)),
  ];
  return withImplied(
    tables,
    given.filter((a) => isOn(a, target)).map((a) => a.role_id),
  );
}

export function withImplied(tables: IdentityTables, ids: readonly string[]): readonly string[] {
  const all = new Set(ids);
  for (const id of ids) {
    const names = implied[tables.roles.get(id)?.name ?? ""] ?? [];
    for (const name of names) for (const role of tables.roles.by("name", name)) all.add(role.id);
  }
  return [...all];
}
