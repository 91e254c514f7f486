import type { CSINode } from "@causeway/kubernetes";

/** A change of the Node or its CSINode. */
export type Step =
  | { readonly type: "label-node"; readonly labels: Readonly<Record<string, string>> }
  | { readonly type: "create"; readonly csiNode: CSINode }
  | { readonly type: "change"; readonly drivers: NonNullable<CSINode["spec"]["drivers"]> };
