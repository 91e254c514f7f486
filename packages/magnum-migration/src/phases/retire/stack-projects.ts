import { isForbidden, type Cloud } from "@causeway/openstack";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../phase.ts";

/** What Heat leaves in Keystone of a stack that it abandons: accounts by which machines reported to it. */
export interface StackProject {
  readonly id: string;
  readonly name: string;
  /** Ids of the users that have a role on it, and are of Heat's domain like it. */
  readonly users: readonly string[];
}

/** Heat's own: by it, and by the name, which has the ids of the tenant and of the stack, a project is known. */
const DESCRIPTION = "Heat stack user project";
const LONGEST_NAME = 64;

/**
 * The projects of a cluster's stacks in Heat's domain; "unknown": no administrator's cloud was given, or it may not
 * list.
 */
export async function readStackProjects(
  { admin }: Pick<Tools, "admin">,
  { inventory }: Pick<MigrationRecord, "inventory">,
  signal: AbortSignal,
): Promise<readonly StackProject[] | "unknown"> {
  if (!admin) return "unknown";
  try {
    return await findStackProjects(admin, inventory, signal);
  } catch (error) {
    // What is given as the administrator's cloud may know Magnum's rows and not Keystone's domains.
    if (isForbidden(error)) return "unknown";
    throw error;
  }
}

async function findStackProjects(
  admin: Cloud,
  inventory: MigrationRecord["inventory"],
  signal: AbortSignal,
): Promise<readonly StackProject[]> {
  const found: StackProject[] = [];
  for (const stack of inventory.stacks) {
    const name = `${inventory.projectId}-${stack.id}`.slice(0, LONGEST_NAME);
    const projects = await admin.identity.projects.all({ name }, { signal });
    for (const { id, name: is, description, domain_id } of projects)
      if (is === name && description === DESCRIPTION)
        found.push({ id, name, users: await usersOf(admin, { id, domain_id }, signal) });
  }
  return found;
}

async function usersOf(
  { identity }: Cloud,
  project: { readonly id: string; readonly domain_id: string },
  signal: AbortSignal,
): Promise<string[]> {
  const roles = await identity.roleAssignments.all({ "scope.project.id": project.id }, { signal });
  const ids = [...new Set(roles.flatMap(({ user }) => (user === undefined ? [] : [user.id])))];
  const users = await Promise.all(ids.map((id) => identity.users.find(id, { signal })));
  return users.flatMap((user) => (user?.domain_id === project.domain_id ? [user.id] : []));
}

/** The users go first: by the project they are found. */
export async function deleteStackProject(
  { admin }: Pick<Tools, "admin">,
  { id, users }: StackProject,
  signal: AbortSignal,
): Promise<void> {
  if (!admin) return;
  for (const user of users) await admin.identity.users.delete(user, { signal });
  await admin.identity.projects.delete(id, { signal });
}
