import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all } from "../../lenses/lens.ts";
import { int32, labelSelector, list, object, oneOf, optional } from "../../schema/fields.ts";

const spec = object({
  drain: object({ behavior: oneOf(["Drain", "Skip", "WaitCompleted"]), order: optional(int32()) }),
  machines: optional(
    list(object({ clusterSelector: optional(labelSelector), selector: optional(labelSelector) }), { min: 1, max: 32 }),
  ),
  pods: optional(
    list(object({ namespaceSelector: optional(labelSelector), selector: optional(labelSelector) }), {
      min: 1,
      max: 32,
    }),
  ),
});

/** How v1beta1 differs from the stored version. */
export const machineDrainRuleV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,

  columns: [column("Behavior", ".spec.drain.behavior"), column("Order", ".spec.drain.order"), age],
  lens: all(),
};
