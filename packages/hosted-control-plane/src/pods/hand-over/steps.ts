import type { Namespace } from "@causeway/kubernetes";
import type { Acknowledgement } from "./request.ts";

/** Writes into the namespace that the request was seen. */
export interface Step {
  readonly type: "acknowledge";
  readonly namespace: Namespace;
  readonly annotation: string;
  readonly content: Acknowledgement;
}
