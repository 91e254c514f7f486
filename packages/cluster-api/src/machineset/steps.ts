import type { Kind, Machine } from "@causeway/api";
import type { Condition, KubeObject } from "@causeway/kubernetes";
import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a MachineSet. */
export type MachineSetStep =
  | ObjectStep
  /** All at once; a name that exists already is left as it is. */
  | { readonly type: "create-machines"; readonly machines: readonly Machine[] }
  /** The condition OwnerRemediated of a Machine; an empty list removes it. */
  | { readonly type: "set-conditions"; readonly machine: Machine; readonly conditions: readonly Condition[] }
  | { readonly type: "create-clones"; readonly kind: Kind<KubeObject>; readonly objects: readonly KubeObject[] };
