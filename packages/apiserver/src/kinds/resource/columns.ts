import type { Column } from "../../contract/resource.ts";
import { at, record, records, type Json } from "../../json/json.ts";
import { field } from "../../tables/cells.ts";
import { AGE, NAME } from "../../tables/table.ts";

/** As `kubectl get resourceslices` prints them. */
export const RESOURCE_SLICE_COLUMNS: readonly Column[] = [
  NAME,
  field("Node", "spec.nodeName"),
  field("Driver", "spec.driver"),
  field("Pool", "spec.pool.name"),
  AGE,
];

function claimState(claim: Json): string {
  const status = record(claim["status"]);
  const isGoing = at(claim, "metadata", "deletionTimestamp") !== undefined;
  const reserved = records(status["reservedFor"]).length > 0 ? ["reserved"] : [];
  const held = status["allocation"] === undefined ? (isGoing ? [] : ["pending"]) : ["allocated", ...reserved];
  return [...(isGoing ? ["deleted"] : []), ...held].join(",");
}

/** As `kubectl get resourceclaims` prints them, with a state such as "allocated,reserved". */
export const RESOURCE_CLAIM_COLUMNS: readonly Column[] = [NAME, { name: "State", cell: claimState }, AGE];

/** The columns of DeviceClasses and ResourceClaimTemplates. */
export const NAME_AND_AGE: readonly Column[] = [NAME, AGE];
