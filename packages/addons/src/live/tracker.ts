import type { KubeObject } from "@causeway/kubernetes";
import { digestOf } from "../manifests/declared.ts";
import type { FieldChange } from "./fields.ts";

/** What was changed in an object, and by whom, when it was restored last. */
export interface Drift {
  readonly changes: readonly FieldChange[];
  readonly managers: readonly string[];
  /** How often it was restored, each time within a minute of the time before. */
  readonly times: number;
  readonly at: number;
}

interface Known {
  readonly digest: string;
  readonly token: string;
}

interface Refused {
  readonly digest: string;
  readonly uid: string | undefined;
  readonly reason: string;
}

const AGAIN = 60_000;

/**
 * kube-apiserver shows it in a DaemonSet, and not in the metadata of one: apps/v1 keeps it as spec.templateGeneration.
 */
const SHOWN_ONLY_WHOLE = "deprecated.daemonset.template.generation";

/**
 * What metadata says about the content: where the server counts generations, status changes leave it alone; else each
 * change counts. It is the same of a whole object and of its metadata.
 */
export function tokenOf({ metadata }: KubeObject): string {
  const { uid, generation, resourceVersion, labels, finalizers, deletionTimestamp } = metadata;
  const { [SHOWN_ONLY_WHOLE]: _, ...annotations } = metadata.annotations ?? {};
  const content = generation === undefined || generation === 0 ? resourceVersion : generation;
  return digestOf([uid, content, labels, annotations, finalizers, deletionTimestamp]);
}

/** What this process applied to one connection of one cluster, by object. */
export class Tracker {
  readonly #applied = new Map<string, Known>();
  readonly #drifts = new Map<string, Drift>();
  readonly #refused = new Map<string, Refused>();

  /** Is the object, by its metadata, as it was when `digest` was applied? */
  stateOf(id: string, digest: string, live: KubeObject): "unapplied" | "changed" | "current" {
    const known = this.#applied.get(id);
    if (known?.digest !== digest) return "unapplied";
    return known.token === tokenOf(live) ? "current" : "changed";
  }

  /** Was this content applied before by this process? */
  hasApplied(id: string, digest: string): boolean {
    return this.#applied.get(id)?.digest === digest;
  }

  applied(id: string, digest: string, live: KubeObject): void {
    this.#applied.set(id, { digest, token: tokenOf(live) });
    this.#refused.delete(id);
  }

  forget(id: string): void {
    this.#applied.delete(id);
    this.#drifts.delete(id);
    this.#refused.delete(id);
  }

  /** The live object cannot become this content; a new one could have it. */
  refused(id: string, digest: string, { metadata: { uid } }: KubeObject, reason: string): void {
    this.#refused.set(id, { digest, uid, reason });
  }

  /** Why the live object cannot become this content; undefined: nothing is known that prevents it. */
  immutableOf(id: string, digest: string, { metadata: { uid } }: KubeObject): string | undefined {
    const refused = this.#refused.get(id);
    return refused?.digest === digest && refused.uid === uid ? refused.reason : undefined;
  }

  /** Notes a restoration, and returns it with how often it was needed. */
  restored(id: string, { changes, managers, now }: Omit<Drift, "times" | "at"> & { readonly now: number }): Drift {
    const before = this.#drifts.get(id);
    // What comes back within a minute after the hold is the same fight.
    const again = before !== undefined && now <= heldUntil(before) + AGAIN;
    const drift = { changes, managers, times: again ? before.times + 1 : 1, at: now };
    this.#drifts.set(id, drift);
    return drift;
  }

  driftOf(id: string): Drift | undefined {
    return this.#drifts.get(id);
  }
}

/** So often an object is restored at once. */
const FREE = 3;
const LONGEST_HOLD = 300_000;

/**
 * When an object that another writer changes again and again is restored next: 1 s after the third time, then ever
 * later, 5 min at most.
 */
export function heldUntil({ times, at }: Pick<Drift, "times" | "at">): number {
  return times < FREE ? at : at + Math.min(LONGEST_HOLD, 1_000 * 2 ** Math.min(times - FREE, 30));
}
