import { createHash } from "node:crypto";
import type { Clock } from "@causeway/foundation";
import type { KubernetesClient } from "../client/interface.ts";
import { isConflict } from "../client/errors.ts";
import { microTimestamp } from "../status/conditions.ts";
import { Lease } from "../types/access.ts";

/** The label of the Leases of processes that share namespaces; its value is the name that they share. */
export const membersLabel = "causeway.dev/shards-of";
/** The annotation with the number of shards that a process works with. */
const countAnnotation = "causeway.dev/shards";
const fieldManager = "causeway-shards";

/** One of the processes that share namespaces, and where their Leases are. */
export interface MembershipOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** What the processes that share namespaces have in common. */
  readonly name: string;
  readonly identity: string;
  /** The number of shards. */
  readonly count: number;
  readonly clock: Clock;
  /** Milliseconds after which a process that does not renew is no member. */
  readonly leaseDuration: number;
}

/** What one read of the Leases showed. */
export interface Members {
  /** Identities of the live processes with the same number of shards, this one included. */
  readonly live: readonly string[];
  /** An earlier process that works with another number of shards. Nothing is done next to it. */
  readonly other?: { readonly identity: string; readonly count: number };
}

interface Seen {
  readonly revision: string | undefined;
  readonly at: number;
}

/**
 * The processes that share namespaces. Each renews a Lease of its own and lists those of all. Whether another lives is
 * measured from when this process last saw its Lease change: clocks of different machines are never compared.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #seen = new Map<string, Seen>();

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  get #leaseName(): string {
    const { name, identity } = this.#options;
    return `${name}-member-${createHash("sha256").update(identity).digest("hex").slice(0, 16)}`;
  }

  /** Renews this process's Lease, lists all, and deletes those that ended long ago. */
  async renew(signal: AbortSignal): Promise<Members> {
    const { client, namespace, name, identity, count, clock, leaseDuration } = this.#options;
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1000),
      renewTime: microTimestamp(clock.now()),
    };
    const metadata = {
      namespace,
      name: this.#leaseName,
      labels: { [membersLabel]: name },
      annotations: { [countAnnotation]: String(count) },
    };
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    const own = await client.apply(Lease, lease, { fieldManager, signal });
    const { items } = await client.list(Lease, { namespace, labelSelector: `${membersLabel}=${name}`, signal });
    const live = items.filter((one) => one.metadata.uid === own.metadata.uid || this.#lives(one));
    await this.#deleteEnded(items, signal);
    const other = live
      .filter((one) => countOf(one) !== count && isBefore(one, own))
      .map((one) => ({ identity: one.spec?.holderIdentity ?? "", count: countOf(one) }))[0];
    const same = live.filter((one) => countOf(one) === count).map((one) => one.spec?.holderIdentity ?? "");
    return { live: same, ...(other ? { other } : {}) };
  }

  /** Ends the membership, so that the others need not wait for the Lease to run out. */
  async leave(signal: AbortSignal): Promise<void> {
    await this.#options.client.delete(Lease, { namespace: this.#options.namespace, name: this.#leaseName }, { signal });
  }

  #lives({ metadata: { uid = "", resourceVersion }, spec }: Lease): boolean {
    const now = this.#options.clock.now();
    const known = this.#seen.get(uid);
    if (known?.revision !== resourceVersion || known === undefined) {
      this.#seen.set(uid, { revision: resourceVersion, at: now });
      return true;
    }
    return now - known.at < (spec?.leaseDurationSeconds ?? 0) * 1000;
  }

  async #deleteEnded(leases: readonly Lease[], signal: AbortSignal): Promise<void> {
    const { client, namespace, clock } = this.#options;
    const uids = new Set(leases.map(({ metadata }) => metadata.uid));
    for (const uid of this.#seen.keys()) if (!uids.has(uid)) this.#seen.delete(uid);
    for (const { metadata, spec } of leases) {
      const seen = this.#seen.get(metadata.uid ?? "");
      if (!seen || clock.now() - seen.at < 10_000 * (spec?.leaseDurationSeconds ?? 0)) continue;
      const { uid, resourceVersion } = metadata;
      const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
      await client.delete(Lease, { namespace, name: metadata.name }, { preconditions, signal }).catch((error) => {
        // It lives after all, or another process was faster.
        if (!isConflict(error)) throw error;
      });
    }
  }
}

function countOf({ metadata }: Lease): number {
  return Number(metadata.annotations?.[countAnnotation] ?? Number.NaN);
}

/** The order in which processes came, the same for all readers. */
function isBefore(a: Lease, b: Lease): boolean {
  const age = ({ metadata }: Lease) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return age(a) < age(b);
}
