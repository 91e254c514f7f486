import { builtIns, type BuiltIns } from "./catalog.ts";
import { coreKinds } from "./core.ts";
import { otherKinds } from "./groups.ts";

/** The kinds that every logical cluster has. */
export function builtInKinds(): BuiltIns {
  return builtIns([...coreKinds(), ...otherKinds()]);
}
