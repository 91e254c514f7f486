import type { Parked } from "../contract/parked.ts";

const MINUTE = 60_000;
const WINDOW = 10 * MINUTE;
const FAULTS = 3;
const FIRST_PAUSE = 30_000;
const LONGEST_PAUSE = 10 * MINUTE;

interface Record {
  faults: number[];
  /** How often it was parked in a row. */
  times: number;
  parked: Parked | undefined;
}

/**
 * Parks a logical cluster that was at fault for three ends of its worker within ten minutes, so that the other clusters
 * of the worker are served. Each pause is twice as long as the one before, ten minutes at most. A cluster that was
 * without fault for ten minutes after a pause starts again from the shortest pause; before that one fault is enough.
 */
export class Brake {
  readonly #clusters = new Map<string, Record>();

  /** Notes that a cluster was at fault for the end of its worker; returns its pause if it has to have one. */
  fault(cluster: string, reason: string, now: number): Parked | undefined {
    const record = this.#clusters.get(cluster) ?? { faults: [], times: 0, parked: undefined };
    this.#clusters.set(cluster, record);
    if (record.parked && now - record.parked.until > WINDOW) record.times = 0;
    record.faults = [...record.faults.filter((at) => now - at < WINDOW), now];
    if (record.times === 0 && record.faults.length < FAULTS) return undefined;
    const pause = Math.min(FIRST_PAUSE * 2 ** record.times, LONGEST_PAUSE);
    record.times += 1;
    record.parked = { until: now + pause, reason };
    return record.parked;
  }

  /** The pause that a cluster has now. */
  parked(cluster: string, now: number): Parked | undefined {
    const parked = this.#clusters.get(cluster)?.parked;
    return parked && now < parked.until ? parked : undefined;
  }

  /** Forgets a cluster that was removed. */
  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }
}
