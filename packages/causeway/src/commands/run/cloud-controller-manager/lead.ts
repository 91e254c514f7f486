import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { ControllerName } from "@causeway/cloud-controller-manager";
import type { Metrics } from "@causeway/foundation";
import { electLeader } from "@causeway/kubernetes";
import type { Run } from "./manager.ts";

/** Runs the controllers of a set until the signal aborts. */
export type Work = (controllers: ReadonlySet<ControllerName>, signal: AbortSignal) => Promise<void>;

/**
 * Works while it leads. In a migration the controllers that move wait for the shared Lease, and are stopped with either
 * of the two: the program they come from holds it as long as it may still write.
 */
export async function lead(run: Run, work: Work, signal: AbortSignal): Promise<void> {
  const { election, controllers, migration } = run.flags;
  if (election === undefined) return work(controllers, signal);
  if (migration === undefined) return elect(run, election.name, (term) => work(controllers, term), signal);
  const moving = new Set([...controllers].filter((name) => migration.migrated.has(name)));
  const own = new Set([...controllers].filter((name) => !moving.has(name) && !migration.others.has(name)));
  const both = async (term: AbortSignal): Promise<void> => {
    const shared = elect(run, migration.leaseName, (shift) => work(moving, shift), term);
    await Promise.all([own.size > 0 ? work(own, term) : undefined, moving.size > 0 ? shared : undefined]);
  };
  return elect(run, election.name, both, signal);
}

async function elect(
  { client, log, clock, flags, metrics }: Run,
  name: string,
  onLeading: (term: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (flags.election === undefined) return;
  const identity = `${hostname()}_${randomUUID()}`;
  const setLeading = leadership(metrics, name);
  setLeading(0);
  const leading = async (term: AbortSignal) => {
    setLeading(1);
    await onLeading(term).finally(() => setLeading(0));
  };
  await electLeader({ ...flags.election, name, client, identity, onLeading: leading, clock, log }, signal);
}

function leadership(metrics: Metrics, name: string): (value: 0 | 1) => void {
  const status = metrics.gauge({
    name: "leader_election_master_status",
    help: "1 for the leader, 0 for a standby",
    labels: ["name"],
  });
  return (value) => status.set(value, { name });
}
