import latencies from "./latencies.json" with { type: "json" };

/**
 * Milliseconds of operations on an OpenStack of Debian 12, with the statuses they go through: `npm run record:latency`
 * writes it.
 */
interface Passage {
  readonly settled: { readonly p50: number };
  readonly statuses: readonly string[];
}

const operations: Readonly<Record<string, Passage>> = latencies.operations;
const settled = (operation: string): number => operations[operation]?.settled.p50 ?? 0;

/** Operations whose completion a status shows; the others are complete with their response. */
const asTheyAre = Object.fromEntries(
  Object.entries(operations)
    .filter(([, { statuses }]) => statuses.length > 0)
    .map(([operation, { settled: spread }]) => [operation, spread.p50]),
);

/** Of a load balancer made at once, each member takes its part: of 3 × 40 and 3 × 10 the difference. */
const member = Math.max(
  0,
  Math.round((settled("loadbalancer.ovn.create3x40") - settled("loadbalancer.ovn.create3x10")) / 90),
);

/** Assumed, not recorded: where the others were, no machine can run amphorae. */
const amphora = {
  "loadbalancer.amphora.create": 4000,
  "loadbalancer.amphora.update": 2500,
  "loadbalancer.amphora.delete": 2500,
};

/** Milliseconds from request to result as they were recorded; operations not named take none. */
const realDelays: Readonly<Record<string, number>> = { ...asTheyAre, "loadbalancer.ovn.member": member, ...amphora };

/** Milliseconds by operation ("server.create"); with "instant" nothing takes time. */
export const delaysOf = (profile: "instant" | "real"): Readonly<Record<string, number>> =>
  profile === "real" ? realDelays : {};
