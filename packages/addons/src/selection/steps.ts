import type { AddonSet } from "@causeway/api";

/** What plan decides for one selecting AddonSet. */
export type Step =
  | { readonly type: "add-finalizer" }
  | { readonly type: "remove-finalizer" }
  /** Creates the AddonSet of one cluster, or makes it as the selecting one says. */
  | { readonly type: "apply"; readonly set: AddonSet }
  | { readonly type: "delete"; readonly set: AddonSet };
