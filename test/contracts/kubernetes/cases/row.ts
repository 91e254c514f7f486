import type { Json } from "../interface.ts";

/** An object, and what the cells of its row say: "NAME" its name, "AGE" a time of some seconds. */
export interface Row {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly clusterScoped?: true;
  readonly metadata?: Json;
  readonly given: Json;
  readonly status?: Json;
  readonly cells: readonly unknown[];
}
