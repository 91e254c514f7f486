import type * as N from "../types/network.ts";
import type * as C from "../types/compute.ts";
import type * as L from "../types/load-balancing.ts";
import type { Volume } from "../types/block-storage.ts";
import type { Image } from "../types/image.ts";

/** A resource of the cloud that is new, changed or gone. */
export interface CloudChange<T> {
  readonly type: "added" | "updated" | "deleted";
  readonly object: T;
  readonly previous?: T;
}

/**
 * A local copy of every resource of one type in one project, kept current by polling its list: fast while something is
 * in transition or a caller hurries it, slow while nothing changes. Nothing is polled before the first `start`.
 */
export interface CloudInformer<T extends { id: string }> {
  get(id: string): T | undefined;
  list(): readonly T[];
  /** Indexes: "name", and per type "tag", "network", "device", "project"…; see the type's table in watch/. */
  byIndex(index: string, value: string): readonly T[];
  onChange(handler: (change: CloudChange<T>) => void): () => void;
  /** Records the response to a write of ours; a list that was requested before it does not undo it. */
  observe(object: T): void;
  /** A delete of ours succeeded (or got 404): the object is removed at once. */
  forget(id: string): void;
  /**
   * A write of ours will show whether the object's transition is over: until half a second after its expected end
   * nothing is polled for its sake, and the next `observe` begins a new transition. Does nothing where no transition of
   * its kind has been seen.
   */
  putOff(id: string): void;
  /** When (ms since epoch) a transition that was put off is expected to be over. */
  putOffUntil(id: string): number | undefined;
  /** That write was refused: the transition is polled as any other. */
  checkAgain(id: string): void;
  /** Polls soon and fast until `until` (ms since epoch) or, without it, for 30 s. */
  hurry(until?: number): void;
  /**
   * One poll that begins after this call. Concurrent callers share it. "changes": what is gone may remain in the copy,
   * for half an hour at most.
   */
  refresh(signal?: AbortSignal, scope?: "all" | "changes"): Promise<void>;
  /** Starts polling if it was not started; resolves when the first list is in. */
  start(signal?: AbortSignal): Promise<void>;
  readonly synced: boolean;
  /** When (ms since epoch) the last list began that came; 0: none has. */
  readonly listedAt: number;
  /** Why the last list failed, if it did; it is retried. */
  readonly failure: unknown;
}

/** The informers of one project; each type is polled by one poller, from its first `start` until `close`. */
export interface CloudWatch {
  readonly networks: CloudInformer<N.Network>;
  readonly subnets: CloudInformer<N.Subnet>;
  readonly routers: CloudInformer<N.Router>;
  readonly ports: CloudInformer<N.Port>;
  readonly securityGroups: CloudInformer<N.SecurityGroup>;
  readonly floatingIps: CloudInformer<N.FloatingIp>;
  readonly servers: CloudInformer<C.Server>;
  readonly flavors: CloudInformer<C.Flavor>;
  readonly images: CloudInformer<Image>;
  readonly serverGroups: CloudInformer<C.ServerGroup>;
  readonly volumes: CloudInformer<Volume>;
  readonly loadBalancers: CloudInformer<L.LoadBalancer>;
  readonly listeners: CloudInformer<L.Listener>;
  readonly pools: CloudInformer<L.Pool>;
  close(): Promise<void>;
}
