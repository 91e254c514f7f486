import type { KubeObject } from "@causeway/kubernetes";
import { SYSTEM, type User } from "./user.ts";

import { apiError } from "../errors/status.ts";
import type { Store } from "../store/index.ts";
import type { Changes } from "./changes.ts";

/** What a logical cluster may hold and holds. Bytes are those of the objects' JSON. */
export interface Held {
  readonly objects: number;
  readonly bytes: number;
}

/**
 * Keeps a logical cluster within its limits, so that one tenant does not fill the disk of all: what would go beyond is
 * refused with 507, where etcd says that its space is exceeded; reads and deletions continue. What the server itself
 * writes counts, and is never refused.
 */
export class Quota {
  readonly limits: LogicalClusterLimits;
  readonly #store: Store;
  readonly #name: string;
  #held: { objects: number; bytes: number } | undefined;
  /** Writes under way. */
  #coming = { objects: 0, bytes: 0 };

  constructor(
    limits: LogicalClusterLimits,
    { name, store, changes }: { name: string; store: Store; changes: Changes },
  ) {
    this.limits = limits;
    this.#store = store;
    this.#name = name;
    changes.listen(({ type, object, previous }) => {
      const held = this.#held;
      if (!held) return;
      if (type !== "MODIFIED") held.objects += type === "ADDED" ? 1 : -1;
      if (limits.bytes === undefined) return;
      held.bytes += (type === "DELETED" ? 0 : sizeOf(object)) - (previous ? sizeOf(previous) : 0);
    });
  }

  /** Counted from the store once, then kept by what is written. */
  get held(): Held {
    if (!this.#held) {
      const used = this.#store.usage(this.#name);
      const sum = (of: "objects" | "bytes"): number => used.reduce((total, u) => total + u[of], 0);
      this.#held = { objects: sum("objects"), bytes: sum("bytes") };
    }
    return this.#held;
  }

  /** Performs a write of `user` that makes `object` of `old`, if there is room. Throws 507. */
  async write<T>(
    { user, object, old }: { user: User; object: KubeObject; old?: KubeObject },
    perform: () => Promise<T>,
  ): Promise<T> {
    if (user === SYSTEM || object.metadata.deletionTimestamp) return perform();
    const more = { objects: old ? 0 : 1, bytes: this.limits.bytes === undefined ? 0 : growth(object, old) };
    this.#check("objects", more.objects);
    this.#check("bytes", more.bytes);
    this.#coming.objects += more.objects;
    this.#coming.bytes += more.bytes;
    try {
      return await perform();
    } finally {
      this.#coming.objects -= more.objects;
      this.#coming.bytes -= more.bytes;
    }
  }

  #check(of: "objects" | "bytes", more: number): void {
    const limit = this.limits[of];
    if (limit === undefined || more <= 0 || this.held[of] + this.#coming[of] + more <= limit) return;
    const message = `database space exceeded: the cluster may hold ${limit} ${of}, and holds ${this.held[of]}; delete some`;
    throw apiError(507, "InsufficientStorage", message, { causes: [{ reason: "LimitExceeded", message, field: of }] });
  }
}

function sizeOf(object: KubeObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}

function growth(object: KubeObject, old: KubeObject | undefined): number {
  return sizeOf(object) - (old ? sizeOf(old) : 0);
}

/** The most that a logical cluster may hold, so that one tenant leaves room for others. */
export interface LogicalClusterLimits {
  readonly objects?: number;
  /** Of the objects' JSON, history not counted. */
  readonly bytes?: number;
}
