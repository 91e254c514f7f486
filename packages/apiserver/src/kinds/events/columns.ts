import type { Column } from "../../contract/resource.ts";
import { at, record, text, type Json } from "../../json/json.ts";
import { age } from "../../tables/age.ts";
import { field } from "../../tables/cells.ts";
import { NAME } from "../../tables/table.ts";

/** How long ago each was; an event without a first time has its only time. */
function firstSeen(event: Json, now: number): string {
  return age(event["firstTimestamp"] ?? event["deprecatedFirstTimestamp"] ?? event["eventTime"], now);
}

function lastSeen(event: Json, now: number): string {
  if (event["series"]) return age(at(event, "series", "lastObservedTime"), now);
  const last = event["lastTimestamp"] ?? event["deprecatedLastTimestamp"];
  return last ? age(last, now) : firstSeen(event, now);
}

function times(event: Json): unknown {
  const count = event["count"] ?? event["deprecatedCount"];
  return event["series"] ? (at(event, "series", "count") ?? 0) : count || 1;
}

function reporter(event: Json): string {
  const { component, host } = record(event["source"] ?? event["deprecatedSource"]);
  const name = text(component) || text(event["reportingComponent"] ?? event["reportingController"]);
  return [name, text(host) || text(event["reportingInstance"])].filter(Boolean).join(", ");
}

/** As `kubectl get events` prints them, for v1 and for events.k8s.io/v1, whose fields have other names. */
export const EVENT_COLUMNS: readonly Column[] = [
  { name: "Last Seen", cell: lastSeen },
  field("Type", "type"),
  field("Reason", "reason"),
  { name: "Object", cell: eventObject },
  { name: "Subobject", priority: 1, cell: (o) => text(record(o["involvedObject"] ?? o["regarding"])["fieldPath"]) },
  { name: "Source", priority: 1, cell: reporter },
  { name: "Message", cell: (o) => text(o["message"] ?? o["note"]).trim() },
  { name: "First Seen", priority: 1, cell: firstSeen },
  { name: "Count", priority: 1, cell: times },
  { ...NAME, priority: 1 },
];

function eventObject(event: Json): string {
  const { kind, name } = record(event["involvedObject"] ?? event["regarding"]);
  return [text(kind).toLowerCase(), text(name)].filter(Boolean).join("/");
}
