import fc from "fast-check";

/** What users, machines and processes do. */
export type Deed =
  | { readonly do: "resize"; readonly nodes: number }
  | { readonly do: "upgrade" | "group" | "ungroup" | "crash" | "second" }
  /** New credentials, requested from all processes at the same time. */
  | { readonly do: "renew" }
  /** Controllers other than Magnum's do one thing of what they can: which. */
  | { readonly do: "progress"; readonly which: number }
  /** A machine that is not ready yet fails, or recovers. */
  | { readonly do: "fail" | "recover" };

/** What happens between the request of a deletion and its end. */
export type EndingDeed =
  | Extract<Deed, { readonly do: "progress" }>
  | { readonly do: "crash" | "second" | "renew" }
  /** Another request for the deletion. */
  | { readonly do: "delete" }
  /** From now on no process leads, or one does. */
  | { readonly do: "follow" | "lead" };

type Misfortune = { readonly write: number; readonly what: "refused" | "lost" };

export interface Deletion {
  /**
   * Requested after so many deeds, and then rounds of the rotation, in whatever state the cluster is. Undefined, or
   * more than there are: once all is complete.
   */
  readonly after?: number | undefined;
  /** At the same time new credentials are requested from all processes. */
  readonly isRacing: boolean;
  /** By the number of the write since its request. */
  readonly misfortunes: readonly Misfortune[];
  readonly deeds: readonly { readonly deed: EndingDeed; readonly pause: number }[];
}

export interface Schedule {
  /** Clusters have users of their own in Keystone. */
  readonly hasTrustees: boolean;
  /** No process leads when the cluster is created. */
  readonly isUnled: boolean;
  readonly nodes: number;
  readonly deeds: readonly { readonly deed: Deed; readonly pause: number }[];
  /** By the number of the write to the management cluster, from 1. */
  readonly misfortunes: readonly Misfortune[];
  /** Once all is complete, the certificate authority is rotated: processes end after so many rounds of the others. */
  readonly rotation?: { readonly crashes: readonly number[] } | undefined;
  readonly deletion: Deletion;
}

const nodes = fc.nat(3);
const one = <T extends string>(...words: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...words);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: one("resize"), nodes }) },
  { weight: 3, arbitrary: fc.record({ do: one("upgrade", "group", "ungroup") }) },
  { weight: 12, arbitrary: fc.record({ do: one("progress"), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: one("fail", "recover") }) },
  { weight: 1, arbitrary: fc.record({ do: one("crash", "second") }) },
  { weight: 1, arbitrary: fc.record({ do: one("renew") }) },
);

const ending: fc.Arbitrary<EndingDeed> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: one("progress"), which: fc.nat(20) }) },
  { weight: 6, arbitrary: fc.record({ do: one("crash", "second", "renew", "delete", "follow", "lead") }) },
);
const pauses = fc.constantFrom(0, 0, 2, 10);
const misfortunes = (last: number): fc.Arbitrary<readonly Misfortune[]> =>
  fc.uniqueArray(fc.record({ write: fc.integer({ min: 1, max: last }), what: one("refused", "lost") }), {
    selector: (misfortune) => misfortune.write,
    maxLength: 4,
  });

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  hasTrustees: fc.constantFrom(false, false, true),
  isUnled: fc.constantFrom(false, false, false, true),
  nodes,
  deeds: fc.array(fc.record({ deed, pause: pauses }), { minLength: 4, maxLength: 24 }),
  misfortunes: misfortunes(40),
  rotation: fc.option(fc.record({ crashes: fc.uniqueArray(fc.nat(12), { maxLength: 3 }) }), {
    nil: undefined,
    freq: 2,
  }),
  deletion: fc.record({
    after: fc.nat(40),
    isRacing: fc.constantFrom(false, false, true),
    misfortunes: misfortunes(12),
    deeds: fc.array(fc.record({ deed: ending, pause: pauses }), { maxLength: 8 }),
  }),
});
