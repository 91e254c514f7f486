/** The value below which that part of the values is; 0 of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** What the probes measured during an attack (ms), and what became of its requests. */
export interface Latencies {
  readonly outcome: string;
  readonly management: readonly number[];
  readonly tenant: readonly number[];
}

const figures = (values: readonly number[]): string =>
  [percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1)]
    .map((ms) => ms.toFixed(0).padStart(6))
    .join("");

/** A line for each attack: p50, p99 and the latest answer (ms) of the management API and of the other tenant. */
export function latencyTable(seen: ReadonlyMap<string, Latencies>, quiet: readonly (readonly number[])[]): string {
  const lines = [...seen].map(
    ([title, { outcome, ...l }]) => `${figures(l.management)} |${figures(l.tenant)} | ${title} (${outcome})`,
  );
  const all = [...seen.values()];
  const total = { management: all.flatMap((l) => l.management), tenant: all.flatMap((l) => l.tenant) };
  return [
    "management (ms)    | other tenant (ms) | attack",
    "   p50   p99   max |   p50   p99   max |",
    ...quiet.map((latencies, i) => `                   |${figures(latencies)} | none, ${i === 0 ? "before" : "after"}`),
    ...lines,
    `${figures(total.management)} |${figures(total.tenant)} | all attacks`,
  ].join("\n");
}
