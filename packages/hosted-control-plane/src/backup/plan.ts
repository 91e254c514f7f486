import type { Plan } from "@causeway/kubernetes";
import type { BackupState } from "../runtime.ts";
import type { Observed } from "./gather.ts";
import { expiredPoints, isFull, nextPoint, type Point } from "./points.ts";
import type { Step } from "./steps.ts";

/** The rules of backups: what is due is created, and what no time within the retention needs is deleted. */
export function plan(observed: Observed, now: number): Plan<Step, BackupState | undefined> {
  const { spec, points, keyspace, encryption } = observed;
  const { backup } = spec;
  if (backup === undefined) return { steps: [], status: undefined };
  const status = stateOf(backup.folder, points);
  const next = nextPoint(points, backup, now);
  const newest = points.toSorted((a, b) => b.time - a.time)[0];
  const canTake = keyspace !== undefined && encryption !== undefined;
  if (!("at" in next)) {
    if (!canTake)
      return { steps: [], status, wait: { for: "the etcd of the control plane", until: now + backup.changesEvery } };
    const parent = next.take === "changes" && newest !== undefined ? { parent: newest } : {};
    // The names of all data are listed as rarely as all data is copied.
    const sweep: Step[] = next.take === "full" ? [{ type: "sweep" }] : [];
    return { steps: [{ type: "take", ...parent }, ...sweep], status };
  }
  const steps = expiredPoints(points, backup, now).map((point): Step => ({ type: "delete", point }));
  return { steps, status, wait: { for: "the next backup", until: next.at } };
}

function stateOf(folder: string, points: readonly Point[]): BackupState {
  const times = (of: readonly Point[]) => of.map(({ time }) => time);
  const all = times(points);
  const fulls = times(points.filter(isFull));
  return {
    folder,
    points: points.length,
    ...(all.length === 0 ? {} : { oldest: Math.min(...all), newest: Math.max(...all) }),
    ...(fulls.length === 0 ? {} : { newestFull: Math.max(...fulls) }),
  };
}
