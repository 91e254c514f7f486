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

export interface Schedule {
  readonly nodes: number;
  readonly deeds: readonly { readonly deed: Deed; readonly pause: number }[];
  /** By the number of the write to the management cluster, from 1. */
  readonly misfortunes: readonly { readonly write: number; readonly what: "refused" | "lost" }[];
  /** Once all is complete, the certificate authority is rotated: processes end after so many rounds of the others. */
  readonly rotation?: { readonly crashes: readonly number[] } | undefined;
  /** Things that happen between the request of the deletion and its end. */
  readonly ending: readonly number[];
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

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  nodes,
  deeds: fc.array(fc.record({ deed, pause: fc.constantFrom(0, 0, 2, 10) }), { minLength: 4, maxLength: 24 }),
  misfortunes: fc.uniqueArray(fc.record({ write: fc.integer({ min: 1, max: 40 }), what: one("refused", "lost") }), {
    selector: (misfortune) => misfortune.write,
    maxLength: 4,
  }),
  rotation: fc.option(fc.record({ crashes: fc.uniqueArray(fc.nat(12), { maxLength: 3 }) }), {
    nil: undefined,
    freq: 2,
  }),
  ending: fc.array(fc.nat(20), { maxLength: 6 }),
});
