import { define } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { withImmutableFields } from "../shared/immutable-fields.ts";
import { ruled } from "../shared/rules.ts";
import { ENDPOINT_SLICE_COLUMNS } from "./columns.ts";
import { SLICE_RULES } from "./rules.ts";

/** Kinds of group discovery.k8s.io. */
export function discoveryKinds(): Resource[] {
  return [
    define({
      group: "discovery.k8s.io",
      kind: "EndpointSlice",
      plural: "endpointslices",
      columns: ENDPOINT_SLICE_COLUMNS,
      strategy: withImmutableFields(ruled(SLICE_RULES)),
      generation: true,
    }),
  ];
}
