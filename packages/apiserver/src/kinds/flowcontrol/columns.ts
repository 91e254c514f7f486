import { at, records, type Json } from "../../json/json.ts";
import type { Column } from "../../contract/resource.ts";
import { AGE, NAME } from "../../tables/table.ts";

const NONE = "<none>";
const fieldColumn = (name: string, path: string, otherwise: unknown = NONE): Column => {
  const steps = path.split(".");
  return { name, cell: (o: Json) => at(o, ...steps) ?? otherwise };
};

/** As `kubectl get flowschemas` prints them. */
export const FLOW_SCHEMA_COLUMNS: readonly Column[] = [
  NAME,
  fieldColumn("PriorityLevel", "spec.priorityLevelConfiguration.name"),
  fieldColumn("MatchingPrecedence", "spec.matchingPrecedence"),
  fieldColumn("DistinguisherMethod", "spec.distinguisherMethod.type"),
  AGE,
  { name: "MissingPL", cell: (o) => conditionOf(o, "Dangling") },
];

function conditionOf(schema: Json, type: string): unknown {
  const found = records(at(schema, "status", "conditions")).find((c) => c["type"] === type);
  return found?.["status"] ?? "?";
}

/** As `kubectl get prioritylevelconfigurations` prints them. */
export const PRIORITY_LEVEL_COLUMNS: readonly Column[] = [
  NAME,
  fieldColumn("Type", "spec.type"),
  fieldColumn("NominalConcurrencyShares", "spec.limited.nominalConcurrencyShares"),
  fieldColumn("Queues", "spec.limited.limitResponse.queuing.queues"),
  fieldColumn("HandSize", "spec.limited.limitResponse.queuing.handSize"),
  fieldColumn("QueueLengthLimit", "spec.limited.limitResponse.queuing.queueLengthLimit"),
  AGE,
];
