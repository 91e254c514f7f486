import type { Kernel, Table } from "../../kernel/interface.ts";
import type { Assignment, IdentityTables } from "../model.ts";

/** A role that brings another with it; its id is "prior/implied". */
export interface Implication {
  readonly id: string;
  readonly prior: string;
  readonly implied: string;
}

/** Which roles imply which. It starts as `bootstrapped`. */
export const implicationsOf = (kernel: Kernel): Table<Implication> => kernel.table("_implication", ["prior"]);

/** What a role brings with it, as `keystone-manage bootstrap` sets it up. */
export const bootstrapped: readonly (readonly [string, string])[] = [
  ["admin", "member"],
  ["member", "reader"],
];

/** What a role is assigned on: a project or a domain. */
export type Target = Pick<Assignment, "project_id"> | Pick<Assignment, "domain_id">;

/** An assignment on the target itself, or one above it that is inherited. */
function isOn(tables: IdentityTables, a: Assignment, target: Target): boolean {
  if (a.system === true) return false;
  if (!("project_id" in target)) return a.inherited !== true && a.domain_id === (target as Assignment).domain_id;
  if (a.inherited !== true) return a.project_id === target.project_id;
  const project = tables.projects.get(target.project_id ?? "");
  if (a.domain_id !== undefined) return a.domain_id === project?.domain_id;
  for (let above = project?.parent_id; above !== undefined; above = tables.projects.get(above)?.parent_id) {
    if (above === a.project_id) return true;
  }
  return false;
}

/** The ids of a user's roles: given to the user or to a group of theirs, and what those imply. */
export function rolesOn(tables: IdentityTables, user: string, target: Target): readonly string[] {
  const groups = tables.memberships.by("user_id", user).map((m) => m.group_id);
  const given = [
    ...tables.assignments.by("user_id", user),
    ...groups.flatMap((group) => tables.assignments.by("group_id", group)),
  ];
  return withImplied(
    tables,
    given.filter((a) => isOn(tables, a, target)).map((a) => a.role_id),
  );
}

/** The roles with all that they imply, also through others: admin implies member, which implies reader. */
export function withImplied(tables: IdentityTables, ids: readonly string[]): readonly string[] {
  const all = new Set(ids);
  // A set is walked over what is added on the way, too.
  for (const id of all) for (const { implied } of tables.implications.by("prior", id)) all.add(implied);
  return [...all];
}
