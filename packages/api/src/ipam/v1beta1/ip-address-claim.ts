import { age, column } from "../../columns.ts";
import type { VersionDefinition } from "../../schema/define.ts";
import { within } from "../../lenses/lens.ts";
import { conditionsLens } from "../../versions/status.ts";
import { anyText, conditions, object, optional, text } from "../../schema/fields.ts";
import { contractReference } from "../../cluster/shapes.ts";
import { oldConditions } from "../../versions/shapes.ts";

const spec = object({ clusterName: optional(text(1, 63)), poolRef: contractReference() });

const status = object({
  addressRef: optional(object({ name: optional(anyText({ default: "" })) })),
  conditions: oldConditions(),
  v1beta2: optional(object({ conditions: conditions() })),
});

/** How v1beta1 differs from the stored version. */
export const ipAddressClaimV1Beta1: VersionDefinition = {
  version: "v1beta1",
  spec,
  status,
  columns: [column("Pool Name", ".spec.poolRef.name"), column("Pool Kind", ".spec.poolRef.kind"), age],
  lens: within("status", conditionsLens),
};
