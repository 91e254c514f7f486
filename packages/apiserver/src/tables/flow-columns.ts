import { at, records, type Json } from "../json/json.ts";
import type { Column } from "../contract/resource.ts";
import { AGE, NAME } from "./table.ts";

const NONE = "<none>";
const told = (name: string, path: string, otherwise: unknown = NONE): Column => {
  const steps = path.split(".");
  return { name, cell: (o: Json) => at(o, ...steps) ?? otherwise };
};

export const FLOW_SCHEMA_COLUMNS: readonly Column[] = [
  NAME,
  told("PriorityLevel", "spec.priorityLevelConfiguration.name"),
  told("MatchingPrecedence", "spec.matchingPrecedence"),
  told("DistinguisherMethod", "spec.distinguisherMethod.type"),
  AGE,
  { name: "MissingPL", cell: (o) => conditionOf(o, "Dangling") },
];

function conditionOf(schema: Json, type: string): unknown {
  const found = records(at(schema, "status", "conditions")).find((c) => c["type"] === type);
  return found?.["status"] ?? "?";
}

export const PRIORITY_LEVEL_COLUMNS: readonly Column[] = [
  NAME,
  told("Type", "spec.type"),
  told("NominalConcurrencyShares", "spec.limited.nominalConcurrencyShares"),
  told("Queues", "spec.limited.limitResponse.queuing.queues"),
  told("HandSize", "spec.limited.limitResponse.queuing.handSize"),
  told("QueueLengthLimit", "spec.limited.limitResponse.queuing.queueLengthLimit"),
  AGE,
];
