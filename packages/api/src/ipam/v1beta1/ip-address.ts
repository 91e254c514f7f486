import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { all } from "../../lenses/lens.ts";
import { anyText, int32, object, optional, text } from "../../schema/fields.ts";
import { contractReference } from "../../cluster/shapes.ts";

const spec = object({
  address: text(1, 39),
  claimRef: object({ name: optional(anyText({ default: "" })) }),
  gateway: optional(text(1, 39)),
  poolRef: contractReference(),
  prefix: int32(),
});

/** How v1beta1 differs from the stored version. */
export const ipAddressV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,

  columns: [
    column("Address", ".spec.address"),
    column("Pool Name", ".spec.poolRef.name"),
    column("Pool Kind", ".spec.poolRef.kind"),
    age,
  ],
  lens: all(),
};
