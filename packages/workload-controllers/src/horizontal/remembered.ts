import type { ObjectKey } from "@causeway/kubernetes";
import type { AutoscalerStatus } from "./autoscaler.ts";
import type { Memory, Observed, Recommendation, ScaleEvent } from "./observed.ts";

/** The longest window and period that the API takes, in milliseconds: what is older has no meaning. */
const LONGEST = 3_600_000;

interface Kept {
  readonly uid: string | undefined;
  /** What the autoscaler requested. */
  readonly epoch: string;
  readonly observed: Observed;
}

interface Entry {
  kept?: Kept | undefined;
  recommendations: Recommendation[];
  added: ScaleEvent[];
  removed: ScaleEvent[];
  pods: ReadonlySet<string>;
}

/**
 * What the controller knows of each autoscaler between two reconciles, and what it did lately. A restart forgets it, as
 * kube-controller-manager's does.
 */
export class Remembered {
  /** By namespace and name. */
  readonly #entries = new Map<string, Map<string, Entry>>();

  find({ namespace, name }: ObjectKey): Kept | undefined {
    return this.#entries.get(namespace)?.get(name)?.kept;
  }

  keep(key: ObjectKey, kept: Kept): void {
    const entry = this.#entry(key);
    const before = entry.kept;
    if (before && before.uid !== kept.uid) Object.assign(entry, fresh());
    entry.kept = kept;
  }

  memory(key: ObjectKey, now: number): Memory {
    const entry = this.#entry(key);
    const isRecent = ({ at }: { readonly at: number }): boolean => now - at <= LONGEST;
    entry.recommendations = entry.recommendations.filter(isRecent);
    entry.added = entry.added.filter(isRecent);
    entry.removed = entry.removed.filter(isRecent);
    const { recommendations, added, removed } = entry;
    return { recommendations: [...recommendations], added: [...added], removed: [...removed] };
  }

  /**
   * Notes which pods an autoscaler selects; returns the names of others of the namespace that select some of them, too.
   */
  claim(key: ObjectKey, pods: readonly string[], exists: (other: ObjectKey) => boolean): string[] {
    this.#entry(key).pods = new Set(pods);
    const rivals: string[] = [];
    const { namespace } = key;
    for (const [name, { pods: theirs }] of this.#entries.get(namespace) ?? []) {
      if (name === key.name || !pods.some((pod) => theirs.has(pod))) continue;
      if (exists({ namespace, name })) rivals.push(name);
    }
    return rivals.toSorted();
  }

  /** The target has its new size. */
  scaled(key: ObjectKey, { from, to, at }: { readonly from: number; readonly to: number; readonly at: number }): void {
    const entry = this.#entry(key);
    if (to > from) entry.added.push({ at, change: to - from });
    else entry.removed.push({ at, change: from - to });
    if (entry.kept) entry.kept = { ...entry.kept, observed: { ...entry.kept.observed, scaledTo: to } };
  }

  /** The status is current: until the next reconcile nothing is left to do. */
  settle(key: ObjectKey, status: AutoscalerStatus, recommendations: readonly Recommendation[]): void {
    const entry = this.#entry(key);
    if (!entry.kept || entry.kept.observed.settled) return;
    entry.recommendations = [...recommendations];
    entry.kept = { ...entry.kept, observed: { ...entry.kept.observed, settled: status } };
  }

  /** The next round reads again. */
  expire(key: ObjectKey): void {
    this.#entry(key).kept = undefined;
  }

  forget({ namespace, name }: ObjectKey): void {
    const within = this.#entries.get(namespace);
    within?.delete(name);
    if (within?.size === 0) this.#entries.delete(namespace);
  }

  #entry({ namespace, name }: ObjectKey): Entry {
    const within = this.#entries.get(namespace) ?? new Map<string, Entry>();
    this.#entries.set(namespace, within);
    const entry = within.get(name) ?? fresh();
    within.set(name, entry);
    return entry;
  }
}

function fresh(): Entry {
  return { recommendations: [], added: [], removed: [], pods: new Set() };
}
