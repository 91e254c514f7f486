import fc from "fast-check";

/** What an Ingress asks for. */
export interface WantedIngress {
  /** Services of its paths "/", "/a" and "/b", as far as it has them. */
  readonly paths: readonly ("one" | "two" | "three" | undefined)[];
  readonly tls: boolean;
  readonly external: boolean;
  readonly fallback: boolean;
}

/** What users and processes do. */
export type Deed =
  | { readonly do: "want"; readonly ingress: 0 | 1; readonly wish: WantedIngress }
  | { readonly do: "delete"; readonly ingress: 0 | 1 }
  | { readonly do: "share"; readonly shared: boolean }
  | { readonly do: "cordon" | "uncordon"; readonly node: number }
  | { readonly do: "rotate" }
  | {
      readonly do: "take-away";
      readonly what: "load-balancer" | "listener" | "pool" | "member" | "policy" | "floating-ip";
    }
  | { readonly do: "restart" | "crash" | "second" };

/** What the cloud does to one call; "crash": the controller ends at that instant. */
const misfortunes = ["cut before", "cut after", "crash before", "crash after", "409", "429", "500", "503"] as const;
export type Misfortune = (typeof misfortunes)[number];

export interface Schedule {
  /** Milliseconds that a change keeps a load balancer PENDING. */
  readonly cycle: number;
  readonly deeds: readonly {
    readonly deed: Deed;
    readonly pause: number;
    readonly pending: "usual" | "long" | "broken";
  }[];
  /** By the number of the call, from 1. */
  readonly misfortunes: readonly { readonly call: number; readonly what: Misfortune }[];
}

const ingress = fc.constantFrom(0 as const, 1 as const);
const service = fc.constantFrom("one" as const, "two" as const, "three" as const);
const path = fc.option(service, { nil: undefined, freq: 3 });
const wish: fc.Arbitrary<WantedIngress> = fc.record({
  paths: fc.tuple(service, path, path),
  tls: fc.boolean(),
  external: fc.boolean(),
  fallback: fc.boolean(),
});
const one = <T extends string>(...words: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...words);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 7, arbitrary: fc.record({ do: one("want"), ingress, wish }) },
  { weight: 2, arbitrary: fc.record({ do: one("delete"), ingress }) },
  { weight: 1, arbitrary: fc.record({ do: one("share"), shared: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: one("cordon", "uncordon"), node: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: one("rotate") }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: one("take-away"),
      what: one("load-balancer", "listener", "pool", "member", "policy", "floating-ip"),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: one("restart", "crash", "second") }) },
);

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  cycle: fc.constantFrom(0, 500, 10_000),
  deeds: fc
    .tuple(
      wish,
      fc.array(
        fc.record({
          deed,
          pause: fc.constantFrom(0, 300, 2_000, 15_000, 70_000),
          pending: fc.oneof(
            { weight: 8, arbitrary: fc.constant("usual" as const) },
            { weight: 1, arbitrary: fc.constant("long" as const) },
            { weight: 1, arbitrary: fc.constant("broken" as const) },
          ),
        }),
        { minLength: 1, maxLength: 7 },
      ),
    )
    .map(([first, deeds]) => [
      {
        deed: { do: "want" as const, ingress: 0 as const, wish: first },
        pause: deeds[0]?.pause ?? 0,
        pending: "usual" as const,
      },
      ...deeds,
    ]),
  misfortunes: fc.uniqueArray(
    fc.record({ call: fc.integer({ min: 1, max: 80 }), what: fc.constantFrom(...misfortunes) }),
    { selector: (m) => m.call, maxLength: 6 },
  ),
});
