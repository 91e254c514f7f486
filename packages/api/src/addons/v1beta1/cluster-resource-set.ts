import { age } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { within } from "../../lenses/lens.ts";
import { conditionsLens } from "../../versions/status.ts";
import { conditions, int64, labelSelector, list, object, oneOf, optional, text } from "../../schema/fields.ts";
import { oldConditions } from "../../versions/shapes.ts";

const spec = object({
  clusterSelector: labelSelector,
  resources: optional(list(object({ kind: oneOf(["Secret", "ConfigMap"]), name: text(1, 253) }), { max: 100 })),
  strategy: optional(oneOf(["ApplyOnce", "Reconcile"])),
});

const status = object({
  conditions: oldConditions(),
  observedGeneration: optional(int64()),
  v1beta2: optional(object({ conditions: conditions() })),
});

/** How v1beta1 differs from the stored version. */
export const clusterResourceSetV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [age],
  lens: within("status", conditionsLens),
};
