import { SCALE, STATUS } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import { record } from "../../json/json.ts";
import { stored } from "../shared/immutable-fields.ts";
import { checked, ruled } from "../shared/rules.ts";
import { POD_TEMPLATE_COLUMNS, REPLICATION_CONTROLLER_COLUMNS, RESOURCE_QUOTA_COLUMNS } from "./columns.ts";
import { limitRangeProblems } from "./limit-rules.ts";
import { quotaProblems } from "./quota-rules.ts";
import { TEMPLATE_RULES } from "./rules.ts";

/** Kinds of the core group that programs other than the API server act on. */
export function otherCoreKinds(): Resource[] {
  return [
    stored({
      kind: "LimitRange",
      plural: "limitranges",
      shortNames: ["limits"],
      strategy: checked([], ({ spec }) => limitRangeProblems(record(spec))),
    }),
    stored({
      kind: "PodTemplate",
      plural: "podtemplates",
      generation: true,
      columns: POD_TEMPLATE_COLUMNS,
      strategy: ruled(TEMPLATE_RULES),
    }),
    stored({
      kind: "ReplicationController",
      plural: "replicationcontrollers",
      shortNames: ["rc"],
      categories: ["all"],
      subresources: [STATUS, SCALE],
      selectable: ["status.replicas"],
      generation: true,
      columns: REPLICATION_CONTROLLER_COLUMNS,
    }),
    stored({
      kind: "ResourceQuota",
      plural: "resourcequotas",
      shortNames: ["quota"],
      subresources: [STATUS],
      columns: RESOURCE_QUOTA_COLUMNS,
      strategy: checked([], ({ spec }) => quotaProblems(record(spec))),
    }),
  ];
}
