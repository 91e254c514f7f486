import type { EndpointSlice } from "@causeway/kubernetes";
import type { Target } from "../objects/claim.ts";

export type Step =
  | { readonly type: "create-slice"; readonly slice: EndpointSlice }
  | { readonly type: "update-slice"; readonly slice: EndpointSlice }
  | { readonly type: "delete-slice"; readonly target: Target };
