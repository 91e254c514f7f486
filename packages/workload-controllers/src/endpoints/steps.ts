import type { Endpoints } from "@causeway/kubernetes";
import type { Target } from "../objects/claim.ts";

/** What plan may return; each object is whole, as it is to be stored. */
export type Step =
  | { readonly type: "create-endpoints"; readonly endpoints: Endpoints }
  | { readonly type: "update-endpoints"; readonly endpoints: Endpoints }
  | { readonly type: "delete-endpoints"; readonly target: Target };
