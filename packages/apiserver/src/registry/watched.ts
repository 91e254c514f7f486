import type { KubeObject } from "@causeway/kubernetes";
import type { StoreEvent } from "../store/index.ts";
import type { Selection } from "./list.ts";

/** One event as a watch with selectors sees it. */
export interface Watched {
  readonly type: StoreEvent["type"];
  readonly object: KubeObject;
}

/**
 * What a watch with a selection sees of an event; undefined: nothing. For a watch that an object only leaves, the
 * object is deleted: it sees the last state that was selected, at the revision of the event.
 */
export function watchedAs(event: StoreEvent, selection: Selection): Watched | undefined {
  const type = typeFor(event, selection);
  if (!type) return undefined;
  const left = type === "DELETED" && event.type !== "DELETED" && event.previous !== undefined;
  return { type, object: left ? leaving(event) : event.object };
}

function typeFor(event: StoreEvent, { everything, matches }: Selection): StoreEvent["type"] | undefined {
  if (everything) return event.type;
  const now = event.type !== "DELETED" && matches(event.object);
  const before = event.previous !== undefined && matches(event.previous);
  if (now) return before ? "MODIFIED" : "ADDED";
  return before || (event.type === "DELETED" && matches(event.object)) ? "DELETED" : undefined;
}

function leaving(event: StoreEvent): KubeObject {
  const previous = event.previous ?? event.object;
  return { ...previous, metadata: { ...previous.metadata, resourceVersion: String(event.revision) } };
}
