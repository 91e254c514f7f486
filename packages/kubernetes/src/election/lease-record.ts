import type { Clock } from "@causeway/foundation";
import { isAlreadyExists, isConflict } from "../client/errors.ts";
import type { KubernetesClient } from "../client/interface.ts";
import { microTimestamp } from "../status/conditions.ts";
import { Lease, type LeaseSpec } from "../types/access.ts";

/** A candidate, and the Lease that it competes for. */
export interface LeaseIdentity {
  readonly client: KubernetesClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly leaseDuration: number;
}

/**
 * What became of an attempt to hold a Lease: "other": another holds it; "contended": another wrote it at the same time.
 */
export type Claim = "held" | "other" | "contended";

/**
 * One candidate's view of a Lease. Every write carries the resource version it was based on, so that of two who
 * claim at once one is refused. Whether another's lease has run out is measured from when *we* last saw it change:
 * clocks of different machines are never compared.
 */
export class LeaseRecord {
  readonly #who: LeaseIdentity;
  #seen: Lease | undefined;
  #seenAt = 0;

  constructor(who: LeaseIdentity) {
    this.#who = who;
  }

  /** Who was seen to hold it last. */
  get holder(): string | undefined {
    return this.#seen?.spec?.holderIdentity || undefined;
  }

  /** Takes the lease or renews it. "other": another holds it; "contended": another wrote it just now. */
  async claim(signal: AbortSignal): Promise<Claim> {
    const { client, namespace, name, identity, clock } = this.#who;
    // While we hold it, what we wrote last is still current, and the resource version proves it.
    if (this.holder !== identity) this.#see(await client.find(Lease, { namespace, name }, { signal }));
    const holder = this.holder;
    const duration = (this.#seen?.spec?.leaseDurationSeconds ?? 0) * 1000;
    if (holder !== undefined && holder !== identity && this.#seenAt + duration > clock.now()) return "other";
    try {
      this.#see(await this.#write(this.#nextSpec(), signal));
      return "held";
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
      this.#see(await client.find(Lease, { namespace, name }, { signal }));
      return this.holder === undefined || this.holder === identity ? "contended" : "other";
    }
  }

  /** Releases it, so that another replica need not wait for it to expire. */
  async release(signal: AbortSignal): Promise<void> {
    if (!this.#seen || this.holder !== this.#who.identity) return;
    const { holderIdentity: _holder, ...rest } = this.#seen.spec ?? {};
    const now = microTimestamp(this.#who.clock.now());
    this.#see(await this.#write({ ...rest, leaseDurationSeconds: 1, renewTime: now, acquireTime: now }, signal));
  }

  #nextSpec(): LeaseSpec {
    const { identity, clock, leaseDuration } = this.#who;
    const now = microTimestamp(clock.now());
    const before = this.#seen?.spec ?? {};
    const ours = before.holderIdentity === identity;
    return {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
      acquireTime: ours ? (before.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: (before.leaseTransitions ?? 0) + (ours || !this.#seen ? 0 : 1),
    };
  }

  #write(spec: LeaseSpec, signal: AbortSignal): Promise<Lease> {
    const { client, namespace, name } = this.#who;
    if (this.#seen) return client.update(Lease, { ...this.#seen, spec }, { signal });
    const fresh: Lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace, name }, spec };
    return client.create(Lease, fresh, { signal });
  }

  #see(lease: Lease | undefined): void {
    if (!lease || lease.metadata.resourceVersion !== this.#seen?.metadata.resourceVersion) {
      this.#seenAt = this.#who.clock.now();
    }
    this.#seen = lease;
  }
}
