import { age } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all } from "../../lenses/lens.ts";
import { flag, instant, list, object, oneOf, optional, text } from "../../schema/fields.ts";

const spec = object({
  bindings: optional(
    list(
      object({
        clusterResourceSetName: text(1, 253),
        resources: optional(
          list(
            object({
              applied: flag(),
              hash: optional(text(1, 256)),
              kind: oneOf(["Secret", "ConfigMap"]),
              lastAppliedTime: optional(instant()),
              name: text(1, 253),
            }),
            { max: 100 },
          ),
        ),
      }),
      { max: 100 },
    ),
  ),
  clusterName: optional(text(1, 63)),
});

/** How v1beta1 differs from the stored version. */
export const clusterResourceSetBindingV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,

  columns: [age],
  lens: all(),
};
