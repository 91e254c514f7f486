import { randomUUID } from "node:crypto";
import type { KubeObject } from "@causeway/kubernetes";
import { at, record, records, same, timestamp, type Json } from "../json/json.ts";
import { announce, internalCall, keyOf } from "../contract/call.ts";
import type { Resource } from "../contract/resource.ts";
import type { Cluster } from "../contract/cluster.ts";

type Manifest = Pick<KubeObject, "apiVersion" | "kind" | "metadata"> & { readonly spec?: Json };

/** Kinds of which clusters have one each that differs with the network of Services. */
const ON_NETWORK = new Set(["Service", "ServiceCIDR"]);

/**
 * How the first objects of a cluster came out when they were made the ordinary way, so that the next cluster has them
 * without the work of making them: the rules of their kinds say the same each time. What clusters have of their own (a
 * uid, instants) is never adopted.
 */
export class FirstObjects {
  readonly #known: Map<string, KubeObject>;

  constructor(known: readonly KubeObject[] = []) {
    this.#known = new Map(known.map((object) => [idOf(object), object]));
  }

  get all(): readonly KubeObject[] {
    return [...this.#known.values()];
  }

  /** The made form of what a manifest asks for; none where it was made for another network. */
  find(manifest: Manifest): KubeObject | undefined {
    const known = this.#known.get(idOf(manifest));
    if (!known || !ON_NETWORK.has(manifest.kind)) return known;
    const made = record(at(known, "spec"));
    return Object.entries(manifest.spec ?? {}).every(([name, value]) => same(made[name], value)) ? known : undefined;
  }

  learn(made: KubeObject): void {
    const { resourceVersion: _revision, uid: _uid, creationTimestamp: _since, ...metadata } = made.metadata;
    this.#known.set(idOf(made), { ...made, metadata });
  }
}

/** Writes one into a cluster that has none of them yet. Throws KUBERNETES_ALREADY_EXISTS. */
export async function writeFirst(cluster: Cluster, resource: Resource, known: KubeObject): Promise<void> {
  const call = internalCall(cluster, resource, { namespace: known.metadata.namespace ?? "" });
  const object = bornAt(timestamp(cluster.clock.now()), known);
  const stored = await cluster.store.create(keyOf(call, known.metadata.name), object);
  announce(call, "ADDED", stored.object);
}

/** The parts without a time are shared by all clusters. */
function bornAt(time: string, known: KubeObject): KubeObject {
  const managedFields = known.metadata.managedFields?.map((entry) => ({ ...entry, time }));
  const conditions = at(known, "status", "conditions");
  const own = { uid: randomUUID(), creationTimestamp: time, ...(managedFields ? { managedFields } : {}) };
  const object = { ...known, metadata: { ...known.metadata, ...own } };
  if (!Array.isArray(conditions)) return object;
  const since = records(conditions).map((condition) => ({ ...condition, lastTransitionTime: time }));
  return Object.assign(object, { status: { ...record(at(known, "status")), conditions: since } });
}

function idOf({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): string {
  return `${kind}/${metadata.namespace ?? ""}/${metadata.name}`;
}
