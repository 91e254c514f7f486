import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, record, text, type Json } from "../../json/json.ts";
import { invalidValue } from "../../errors/problems.ts";
import { EVENT_COLUMNS } from "./columns.ts";
import { define } from "../../contract/define.ts";
import type { Draft, Resource, Strategy } from "../../contract/resource.ts";

const SELECTABLE = [
  "involvedObject.kind",
  "involvedObject.namespace",
  "involvedObject.name",
  "involvedObject.uid",
  "involvedObject.apiVersion",
  "involvedObject.resourceVersion",
  "involvedObject.fieldPath",
  "reason",
  "reportingComponent",
  "source",
  "type",
];

const REGARDING = [
  ...SELECTABLE.slice(0, 8).map((name) => name.replace("involvedObject", "regarding")),
  "reportingController",
  "type",
];

/** Events of the core group; events.k8s.io shows the same objects in its own words. */
export function coreEvents(): Resource {
  return define({
    kind: "Event",
    plural: "events",
    shortNames: ["ev"],
    columns: EVENT_COLUMNS,
    selectable: SELECTABLE,
    strategy: eventStrategy,
  });
}

/** An event is in the namespace of what it is about. */
const eventStrategy: Strategy = {
  validate(object) {
    const about = text(at(object, "involvedObject", "namespace"));
    if (about === "" || about === object.metadata.namespace) return [];
    return [invalidValue("involvedObject.namespace", about, "does not match event.namespace")];
  },
};

/** Events of events.k8s.io/v1, kept as core events. */
export function groupEvents(): Resource {
  const resource = define({
    kind: "Event",
    plural: "events",
    group: "events.k8s.io",
    shortNames: ["ev"],
    columns: EVENT_COLUMNS,
    selectable: REGARDING,
    strategy: eventStrategy,
  });
  const versions = resource.versions.map((v) => ({ ...v, toStored: toCore, fromStored: fromCore }));
  return { ...resource, versions, storage: "/events", storedAs: "v1" };
}

/** [core field, events.k8s.io field] */
const RENAMED = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
] as const;

function toCore(event: Draft): Draft {
  const core: Json = { ...event, apiVersion: "v1" };
  for (const [name, alias] of RENAMED) move(core, alias, name);
  if (core["series"]) core["series"] = record(core["series"]);
  return core as Draft;
}

function fromCore(stored: KubeObject): KubeObject {
  const event: Json = { ...fields(stored), apiVersion: "events.k8s.io/v1" };
  for (const [name, alias] of RENAMED) move(event, name, alias);
  return event as Draft;
}

function move(object: Json, from: string, to: string): void {
  if (object[from] === undefined) return;
  object[to] = object[from];
  delete object[from];
}
