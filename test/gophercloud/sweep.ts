import type { Cloud } from "@causeway/openstack";
import { sweepProject, type Removal } from "../support/project-sweep.ts";

/**
 * Deletes what is in the project, and what tests of gophercloud have left outside of projects; prints what could not be
 * deleted.
 */
export function sweep(cloud: Cloud, projectId: string): Promise<void> {
  return sweepProject(cloud, projectId, () => ofTests(cloud));
}

/** Accounts and flavors have no project: those whose names tests of gophercloud give. */
async function ofTests({ identity, compute }: Cloud): Promise<Removal[]> {
  const found: Removal[] = [];
  const collections = {
    project: identity.projects,
    user: identity.users,
    group: identity.groups,
    role: identity.roles,
    flavor: compute.flavors,
  };
  for (const [kind, collection] of Object.entries(collections)) {
    const named: readonly { readonly id: string; readonly name: string }[] = await collection.all();
    for (const { id, name } of named.filter((row) => /^(?:TESTACCT-|ACPTTEST)/.test(row.name))) {
      found.push({ what: `${kind} ${name}`, run: () => collection.delete(id) });
    }
  }
  return found;
}
