import type { AddonSet } from "@causeway/api";

export type Step =
  | { readonly type: "add-finalizer" }
  | { readonly type: "remove-finalizer" }
  /** Creates the AddonSet of one cluster, or makes it as the selecting one says. */
  | { readonly type: "apply"; readonly set: AddonSet }
  | { readonly type: "delete"; readonly set: AddonSet };
