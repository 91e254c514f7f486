import { STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { stored } from "../shared/immutable-fields.ts";
import { NAME_AND_AGE, RESOURCE_CLAIM_COLUMNS, RESOURCE_SLICE_COLUMNS } from "./columns.ts";

/** Kinds of group resource.k8s.io: devices and claims to them. */
export function resourceKinds(): Resource[] {
  const group = "resource.k8s.io";
  return [
    stored({
      group,
      kind: "DeviceClass",
      plural: "deviceclasses",
      clusterScoped: true,
      generation: true,
      columns: NAME_AND_AGE,
    }),
    stored({
      group,
      kind: "ResourceClaim",
      plural: "resourceclaims",
      subresources: [STATUS],
      columns: RESOURCE_CLAIM_COLUMNS,
    }),
    stored({ group, kind: "ResourceClaimTemplate", plural: "resourceclaimtemplates", columns: NAME_AND_AGE }),
    stored({
      group,
      kind: "ResourceSlice",
      plural: "resourceslices",
      clusterScoped: true,
      selectable: ["spec.nodeName", "spec.driver"],
      generation: true,
      columns: RESOURCE_SLICE_COLUMNS,
    }),
  ];
}
