import type { Kind, Machine } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import type { ObjectStep } from "../objects/steps.ts";

/** What can be done for a MachineSet. */
export type MachineSetStep =
  | ObjectStep
  /** All at once; a name that exists already is left as it is. */
  | { readonly do: "createMachines"; readonly machines: readonly Machine[] }
  | { readonly do: "createClones"; readonly kind: Kind<KubeObject>; readonly objects: readonly KubeObject[] };
