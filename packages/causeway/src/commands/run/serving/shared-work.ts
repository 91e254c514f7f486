import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { InputError, systemClock, type Log, type Metrics } from "@causeway/foundation";
import { createSharedWork, MOST_SHARDS, type KubernetesClient, type SharedWork } from "@causeway/kubernetes";

/** Where processes agree on who has which namespaces. */
export interface SharingOptions {
  readonly client: KubernetesClient;
  readonly namespace: string;
  /** The Lease of an elected process: the names of the shards' Leases begin with it. */
  readonly lease: string;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** @throws FLAG_INVALID */
export function readShards(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d{1,3}$/.test(text) && count >= 1 && count <= MOST_SHARDS) return count;
  throw new InputError(
    "FLAG_INVALID",
    `--shards must be a number from 1 to ${MOST_SHARDS}; it is ${JSON.stringify(text)}.`,
  );
}

/** Does `work` on a share of the namespaces until the signal aborts. */
export async function shareWork(
  count: number,
  { client, namespace, lease, metrics, log }: SharingOptions,
  work: (shards: SharedWork, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const identity = `${hostname()}_${randomUUID()}`;
  const shards = createSharedWork({
    client,
    namespace,
    name: lease,
    identity,
    count,
    clock: systemClock,
    log,
    metrics,
  });
  const ended = new AbortController();
  const life = AbortSignal.any([signal, ended.signal]);
  const sharing = shards.run(life);
  try {
    // The controllers outlive the share: they end what they have in hand, and only then are their shards given up.
    await work(shards, signal);
  } finally {
    ended.abort();
    await sharing;
  }
}
