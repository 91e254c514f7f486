import type { CSIStorageCapacity } from "./object.ts";

/** What is done for the capacities of the driver. */
export type Step =
  | { readonly type: "create"; readonly object: CSIStorageCapacity }
  | { readonly type: "update"; readonly object: CSIStorageCapacity }
  | { readonly type: "delete"; readonly object: CSIStorageCapacity };
