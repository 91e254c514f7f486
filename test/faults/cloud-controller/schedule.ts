import fc from "fast-check";

export type Provider = "amphora" | "ovn";

/** What people do to the cluster and to the cloud. */
export type Deed =
  | { readonly do: "ports"; readonly service: 0 | 1; readonly ports: readonly number[] }
  | { readonly do: "delete"; readonly service: 0 | 1 }
  | { readonly do: "exclude" | "include"; readonly node: number }
  | {
      readonly do: "take-away";
      readonly service: 0 | 1;
      readonly what: "member" | "listener" | "pool" | "floating-ip" | "load-balancer";
    }
  | { readonly do: "add-member"; readonly service: 0 | 1 }
  | { readonly do: "families"; readonly service: 0 | 1; readonly families: 1 | 2 }
  | { readonly do: "provider"; readonly service: 0 | 1; readonly provider: Provider }
  /** The cluster is renamed, which a user does when all Services are settled. */
  | { readonly do: "rename" }
  | { readonly do: "restart" | "crash" | "second" };

/** What the cloud does to one call; "crash": the controller ends at that instant. */
export const misfortunes = [
  "cut before",
  "cut after",
  "crash before",
  "crash after",
  "409",
  "429",
  "500",
  "503",
] as const;
export type Misfortune = (typeof misfortunes)[number];

export interface Schedule {
  readonly provider: Provider;
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

const service = fc.constantFrom(0 as const, 1 as const);
const provider = fc.constantFrom("amphora" as const, "ovn" as const);
const ports = fc.subarray([80, 443, 8080], { minLength: 1 });
const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("ports" as const), service, ports }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), service }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("exclude" as const, "include" as const), node: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("take-away" as const),
      service,
      what: fc.constantFrom("member" as const, "listener", "pool", "floating-ip", "load-balancer"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("add-member" as const), service }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("families" as const),
      service,
      families: fc.constantFrom(1 as const, 2 as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("provider" as const), service, provider }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rename" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("restart" as const, "crash", "second") }) },
);

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  provider,
  cycle: fc.constantFrom(0, 500, 10_000),
  deeds: fc
    .array(
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
    )
    .map((deeds) => [
      {
        deed: { do: "ports" as const, service: 0 as const, ports: [80] },
        pause: deeds[0]?.pause ?? 0,
        pending: "usual" as const,
      },
      ...deeds,
    ]),
  misfortunes: fc.uniqueArray(
    fc.record({ call: fc.integer({ min: 1, max: 60 }), what: fc.constantFrom(...misfortunes) }),
    {
      selector: (m) => m.call,
      maxLength: 6,
    },
  ),
});
