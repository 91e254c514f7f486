import type { Clock } from "@causeway/foundation";
import {
  createEventRecorder,
  metadataOf,
  type EventRecorder,
  type Informer,
  type KubeObject,
  type Pod,
  type RemoteCluster,
  type ResourceType,
} from "@causeway/kubernetes";
import { objectProblem } from "../health/object-health.ts";
import { PODS_EVERY, podsOf, problemOfPods } from "../health/pod-problem.ts";
import { labels, type ObjectId } from "../manifests/names.ts";
import { Mapping } from "./mapping.ts";
import { Tracker } from "./tracker.ts";

/** Milliseconds that a first list of metadata may take before the rest continues without it. */
const SYNC_LIMIT = 5_000;
/** Pods of one object that are read for a cause. */
const PODS_READ = 10;

interface Health {
  readonly revision: string;
  readonly problem: string | undefined;
  readonly at: number;
}

/** What is known of one connected workload cluster. It ends with the connection. */
export class Session {
  readonly remote: RemoteCluster;
  readonly mapping: Mapping;
  /** Events in the workload cluster itself. */
  readonly events: EventRecorder;
  readonly #clock: Clock;
  readonly #trackers = new Map<string, Tracker>();
  readonly #informers = new Map<string, Informer<KubeObject>>();
  readonly #health = new Map<string, Health>();
  readonly #changed: (set: string) => void;

  constructor(remote: RemoteCluster, clock: Clock, changed: (set: string) => void) {
    this.remote = remote;
    this.#clock = clock;
    this.#changed = changed;
    this.mapping = new Mapping(remote.client, () => clock.now());
    this.events = createEventRecorder(remote.client, { component: "causeway-addons", clock, signal: remote.signal });
  }

  trackerOf(set: string): Tracker {
    const known = this.#trackers.get(set) ?? new Tracker();
    this.#trackers.set(set, known);
    return known;
  }

  /** The metadata of all objects of add-ons of one type. Undefined: it is not listed yet. */
  async metadata(type: ResourceType<KubeObject>, signal: AbortSignal): Promise<Informer<KubeObject> | undefined> {
    const id = `${type.group}/${type.version}/${type.plural}`;
    const informer = this.#informers.get(id) ?? this.#open(type);
    this.#informers.set(id, informer);
    if (informer.synced) return informer;
    const over = new AbortController();
    const within = AbortSignal.any([signal, this.remote.signal, over.signal]);
    await Promise.race([
      informer.whenSynced(within).catch(() => {}),
      this.#clock.sleep(SYNC_LIMIT, within).catch(() => {}),
    ]);
    over.abort();
    return informer.synced ? informer : undefined;
  }

  /** Why an object does not work: read again when it has changed, or when its pods may say more. */
  async problemOf(type: ResourceType<KubeObject>, live: KubeObject, signal: AbortSignal): Promise<string | undefined> {
    const { uid = "", resourceVersion = "", namespace = "", name } = live.metadata;
    const known = this.#health.get(uid);
    const isFresh = known?.problem === undefined || this.#clock.now() < known.at + PODS_EVERY;
    if (known?.revision === resourceVersion && isFresh) return known.problem;
    const whole = await this.remote.client.find(type, { namespace, name }, { signal });
    const problem = whole === undefined ? "it was deleted" : await this.#withCause(whole, signal);
    const at = this.#clock.now();
    this.#health.set(uid, { revision: whole?.metadata.resourceVersion ?? "", problem, at });
    return problem;
  }

  /** What an object's pods say is nearer to the cause than how many of them are available. */
  async #withCause(object: KubeObject, signal: AbortSignal): Promise<string | undefined> {
    const problem = objectProblem(object);
    const labelSelector = problem === undefined ? undefined : podsOf(object);
    if (labelSelector === undefined) return problem;
    const query = new URLSearchParams({ labelSelector, limit: String(PODS_READ) });
    const path = `/api/v1/namespaces/${object.metadata.namespace ?? ""}/pods?${query.toString()}`;
    // A nearer cause is worth a read, and not the reconcile of the set where a tenant's pods are too large for one.
    const page = await this.remote.client.request("GET", path, { signal }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return undefined;
    });
    const { items } = (page ?? {}) as { readonly items?: unknown };
    const cause = problemOfPods(Array.isArray(items) ? (items as readonly Pod[]) : []);
    return cause === undefined ? problem : `${problem}: ${cause}`;
  }

  /** The type that serves an object; undefined: none does. */
  typeOf(id: ObjectId, signal: AbortSignal): Promise<ResourceType<KubeObject> | undefined> {
    return this.mapping.typeOf(id.apiVersion, id.kind, signal);
  }

  #open(type: ResourceType<KubeObject>): Informer<KubeObject> {
    const informer = this.remote.informers.for(metadataOf(type), { labelSelector: labels.set });
    informer.onChange(({ type: change, object, previous }) => {
      if (change === "deleted") this.#health.delete(object.metadata.uid ?? "");
      for (const set of new Set([object, previous].map((each) => each?.metadata.labels?.[labels.set])))
        if (set !== undefined) this.#changed(set);
    });
    return informer;
  }
}
