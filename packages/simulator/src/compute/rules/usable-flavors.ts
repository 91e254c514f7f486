import type { Caller } from "../../kernel/interface.ts";
import { computeError, type ComputeTables, type Flavor } from "../model.ts";

/** True unless an administrator has said otherwise. */
export const isPublic = (flavor: Flavor): boolean => flavor.is_public ?? true;

/** Whether the caller sees a flavor: one of its projects, or an administrator. */
export const mayUse = (caller: Caller, flavor: Flavor): boolean =>
  caller.isAdmin || isPublic(flavor) || (flavor.projects ?? []).includes(caller.projectId);

/** The flavor, if the caller may use it. */
export function flavorFor({ flavors }: ComputeTables, caller: Caller, id: string): Flavor | undefined {
  const flavor = flavors.get(id);
  return flavor && mayUse(caller, flavor) ? flavor : undefined;
}

/** The same; throws 404 if there is none. */
export function requireFlavor(tables: ComputeTables, caller: Caller, id: string): Flavor {
  const flavor = flavorFor(tables, caller, id);
  if (!flavor) throw computeError(404, `Flavor ${id} could not be found.`);
  return flavor;
}
