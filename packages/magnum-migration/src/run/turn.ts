import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { CausewayError, type Clock } from "@causeway/foundation";
import { electLeader, isConflict, Lease, type KubernetesClient } from "@causeway/kubernetes";
import type { MigrationRecord } from "../record/record.ts";

/** Ms after which a holder that does not renew has lost its turn, and between renewals. */
const DURATION = 15_000;
const PERIOD = 2_000;

/** Which migration's turn is held, and by whom. */
export interface TurnOptions {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly record: Pick<MigrationRecord, "namespace" | "name" | "inventory">;
  readonly report: (line: string) => void;
  /** "HOST/SPACE/PID/RANDOM". */
  readonly identity?: string;
  /** Whether the process of an identity is known to have ended. */
  readonly isGone?: (identity: string) => boolean;
}

/**
 * Runs one command at a time for a cluster: its Lease is renewed while `work` runs. What was killed on this machine
 * loses its turn at once. @throws MIGRATE_BUSY
 */
export async function inTurn<T>(
  { client, clock, record, report, identity = ownIdentity(), isGone = isGoneHere }: TurnOptions,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const key = { namespace: record.namespace, name: `${record.name}-migration` };
  await requireFree({ client, clock, key, cluster: record.inventory.name, report, isGone }, signal);
  let done: { value: T } | undefined;
  await electLeader(
    {
      client,
      ...key,
      identity,
      clock,
      leaseDuration: DURATION,
      retryPeriod: PERIOD,
      onLeading: async (term) => {
        done = { value: await work(term) };
      },
    },
    signal,
  );
  signal.throwIfAborted();
  if (done) return done.value;
  throw busy(record.inventory.name, "another run");
}

interface TurnContext extends Required<Pick<TurnOptions, "client" | "clock" | "report" | "isGone">> {
  readonly key: { readonly namespace: string; readonly name: string };
  readonly cluster: string;
}

async function requireFree(asked: TurnContext, signal: AbortSignal): Promise<void> {
  const { client, clock, key, cluster, report, isGone } = asked;
  const first = await client.find(Lease, key, { signal });
  const holder = first?.spec?.holderIdentity ?? "";
  if (!first || holder === "" || clock.now() - renewedAt(first) > DURATION) return;
  if (isGone(holder)) return release(client, first, signal);
  report(`waiting for the run of ${holder}`);
  const end = clock.now() + DURATION;
  while (clock.now() < end) {
    await clock.sleep(PERIOD, signal);
    const now = await client.find(Lease, key, { signal });
    if ((now?.spec?.holderIdentity ?? "") === "") return;
    if (now && renewedAt(now) !== renewedAt(first)) throw busy(cluster, holder);
  }
  await release(client, first, signal);
}

/** Of a holder that has ended; nothing where another has the Lease by now. */
async function release(client: KubernetesClient, lease: Lease, signal: AbortSignal): Promise<void> {
  try {
    await client.update(Lease, { ...lease, spec: { ...lease.spec, holderIdentity: "" } }, { signal });
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

const renewedAt = ({ spec }: Lease): number => Date.parse(spec?.renewTime ?? "") || 0;

function busy(cluster: string, holder: string): CausewayError {
  return new CausewayError("MIGRATE_BUSY", `Another command works on the migration of cluster ${cluster}: ${holder}`, {
    hint: "Let it end, or end it; then run yours again.",
  });
}

/** Process ids count in one process namespace only: of containers with one host name, each has its own. */
function processSpace(): string {
  if (process.platform !== "linux") return process.platform;
  try {
    return readlinkSync("/proc/self/ns/pid").replaceAll("/", "_");
  } catch {
    return randomUUID();
  }
}

const ownIdentity = (): string => `${hostname()}/${processSpace()}/${process.pid}/${randomUUID()}`;

/** Killed on this machine: its process is not there. */
export function isGoneHere(identity: string): boolean {
  const [host, space, pid] = identity.split("/");
  if (host !== hostname() || space !== processSpace() || !/^\d+$/.test(pid ?? "")) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
