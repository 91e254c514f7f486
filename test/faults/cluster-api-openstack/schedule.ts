import fc from "fast-check";

/** What a machine is made of. */
export interface Shape {
  readonly rootVolume: boolean;
  readonly trunk: boolean;
  readonly pool: boolean;
}

/** What users and processes do. */
export type Deed =
  | { readonly do: "machine"; readonly machine: number; readonly shape: Shape }
  | { readonly do: "delete-machine"; readonly machine: number }
  | { readonly do: "change"; readonly what: "name-servers" | "rules" }
  | { readonly do: "take-away"; readonly what: "rule" | "server" | "floating-ip" }
  | { readonly do: "restart" | "crash" | "second" };

/** What the cloud does to one call; "crash": the provider ends at that instant. */
const misfortunes = ["cut before", "cut after", "crash before", "crash after", "409", "429", "500", "503"] as const;
export type Misfortune = (typeof misfortunes)[number];

export interface Schedule {
  readonly balanced: boolean;
  readonly deeds: readonly {
    readonly deed: Deed;
    /** Milliseconds of the clock until the next. */
    readonly pause: number;
    /** How servers, volumes and load balancers come up meanwhile. */
    readonly pending: "usual" | "long" | "broken";
  }[];
  /** By the number of the call, from 1. */
  readonly misfortunes: readonly { readonly call: number; readonly what: Misfortune }[];
}

const machine = fc.nat(2);
const shape: fc.Arbitrary<Shape> = fc.record({ rootVolume: fc.boolean(), trunk: fc.boolean(), pool: fc.boolean() });
const one = <T extends string>(...words: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...words);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 7, arbitrary: fc.record({ do: one("machine"), machine, shape }) },
  { weight: 3, arbitrary: fc.record({ do: one("delete-machine"), machine }) },
  { weight: 2, arbitrary: fc.record({ do: one("change"), what: one("name-servers", "rules") }) },
  { weight: 2, arbitrary: fc.record({ do: one("take-away"), what: one("rule", "server", "floating-ip") }) },
  { weight: 4, arbitrary: fc.record({ do: one("restart", "crash", "second") }) },
);

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  balanced: fc.boolean(),
  deeds: fc.array(
    fc.record({
      deed,
      pause: fc.constantFrom(0, 300, 2_000, 15_000, 70_000),
      pending: fc.oneof(
        { weight: 8, arbitrary: fc.constant("usual" as const) },
        { weight: 1, arbitrary: fc.constant("long" as const) },
        { weight: 1, arbitrary: fc.constant("broken" as const) },
      ),
    }),
    { minLength: 2, maxLength: 8 },
  ),
  misfortunes: fc.uniqueArray(
    fc.record({ call: fc.integer({ min: 1, max: 90 }), what: fc.constantFrom(...misfortunes) }),
    { selector: (m) => m.call, maxLength: 6 },
  ),
});
