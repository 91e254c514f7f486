import type { ObjectKey } from "@causeway/kubernetes";
import type { AutoscalerStatus } from "./autoscaler.ts";
import type { Memory, Observed, Recommendation, ScaleEvent } from "./observed.ts";

/** The longest window and period that the API takes, in milliseconds: what is older has no meaning. */
const LONGEST = 3_600_000;

interface Kept {
  readonly uid: string | undefined;
  /** What the autoscaler asked for. */
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

/** What the controller knows of each autoscaler between two looks, and what it did lately. A restart forgets it, as kube-controller-manager's does. */
export class Remembered {
  readonly #entries = new Map<string, Entry>();

  look(key: ObjectKey): Kept | undefined {
    return this.#entries.get(textOf(key))?.kept;
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

  /** Notes which pods an autoscaler selects; returns the names of others of the namespace that select some of them, too. */
  claim(key: ObjectKey, pods: readonly string[], exists: (other: ObjectKey) => boolean): string[] {
    this.#entry(key).pods = new Set(pods);
    const rivals: string[] = [];
    for (const [text, { pods: theirs }] of this.#entries) {
      const [namespace = "", name = ""] = text.split("/");
      if (namespace !== key.namespace || name === key.name || !pods.some((pod) => theirs.has(pod))) continue;
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

  /** The status stands: until the next look nothing is left to do. */
  settle(key: ObjectKey, status: AutoscalerStatus, recommendations: readonly Recommendation[]): void {
    const entry = this.#entry(key);
    if (!entry.kept || entry.kept.observed.settled) return;
    entry.recommendations = [...recommendations];
    entry.kept = { ...entry.kept, observed: { ...entry.kept.observed, settled: status } };
  }

  /** The next round looks again. */
  unlook(key: ObjectKey): void {
    this.#entry(key).kept = undefined;
  }

  forget(key: ObjectKey): void {
    this.#entries.delete(textOf(key));
  }

  #entry(key: ObjectKey): Entry {
    const text = textOf(key);
    const entry = this.#entries.get(text) ?? fresh();
    this.#entries.set(text, entry);
    return entry;
  }
}

function fresh(): Entry {
  return { recommendations: [], added: [], removed: [], pods: new Set() };
}

function textOf({ namespace, name }: ObjectKey): string {
  return `${namespace}/${name}`;
}
