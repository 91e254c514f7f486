import { isRecord, record, same, type Json } from "../json/json.ts";
import type { Cluster } from "../contract/cluster.ts";
import { apiVersionOf, type Draft } from "../contract/resource.ts";
import { keyOf, type Call } from "../contract/call.ts";

/**
 * kube-apiserver stores a custom object as apply made it, with members of the metadata that hold nothing; reads leave
 * those out. So the next write that leaves the object as it reads it still writes. This remembers which objects have
 * such members; a restart forgets it.
 */
interface Known {
  readonly revision: string;
  readonly emptyKeys: string;
}

const LIMIT = 1000;
const MEMBERS = ["annotations", "finalizers", "labels", "ownerReferences"];
const known = new WeakMap<Cluster, Map<string, Known>>();

/** What of its metadata holds nothing, as one text; "" for none, and for kinds that are not custom. */
export function emptyKeysOf({ resource, version, subresource }: Call, merged: Json): string {
  // What is converted is cleaned on the way into the store.
  const isStored = apiVersionOf(resource.group, version.name) === resource.storedAs;
  if (!resource.custom || !isStored || subresource !== "") return "";
  const metadata = record(merged["metadata"]);
  return MEMBERS.filter((name) => name in metadata && isNothing(metadata[name])).join();
}

/** Adds what an apply left as null where the schema has no null, which readers are not shown either. */
export function noteNulls({ resource, version, emptyMetadata }: Call, applied: Draft, read: Draft): void {
  const isStored = apiVersionOf(resource.group, version.name) === resource.storedAs;
  if (emptyMetadata && resource.custom && isStored && !same(applied, read)) emptyMetadata.emptyKeys += ",nulls";
}

/**
 * Members of the metadata that apply left without anything in them: the response to an apply that removes a custom
 * object has them.
 */
export function emptyMembers({ resource }: Call, merged: Json): Json {
  const metadata = record(merged["metadata"]);
  const empty = MEMBERS.filter((name) => name !== "finalizers" && name in metadata && isNothing(metadata[name]));
  return resource.custom ? Object.fromEntries(empty.map((name) => [name, metadata[name]])) : {};
}

function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (isRecord(value) && Object.keys(value).length === 0);
}

/** The empty members of a stored object at a revision. */
export function emptyKeysAt(call: Call, revision: string | undefined): string {
  const found = known.get(call.cluster)?.get(idOf(call));
  return found !== undefined && found.revision === revision ? found.emptyKeys : "";
}

/** Remembers the empty members of what a call has just written. */
export function rememberEmptyKeys(call: Call, revision: string | undefined, emptyKeys: string): void {
  const before = known.get(call.cluster);
  if (!before && emptyKeys === "") return;
  const all = before ?? new Map<string, Known>();
  known.set(call.cluster, all);
  all.delete(idOf(call));
  if (emptyKeys === "" || revision === undefined) return;
  all.set(idOf(call), { revision, emptyKeys });
  for (const oldest of all.keys()) if (all.size > LIMIT) all.delete(oldest);
}

function idOf(call: Call): string {
  return JSON.stringify(keyOf(call));
}
