import { rounded } from "../apiserver/rows.ts";

/** What a row cost one side: calls of the cloud, and what its processes took. */
export interface Figures {
  readonly calls: number;
  readonly byVerb: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
}

export interface Row {
  readonly name: string;
  readonly ours?: Figures;
  readonly upstream?: Figures;
  /** What was not measured but reckoned, and how. */
  readonly note?: string;
}

/** The table that a person reads: ours, theirs, each figure with its unit. */
export function printed(rows: readonly Row[]): string {
  const head = ["", "calls ours", "theirs", "s ours", "theirs", "CPU s ours", "theirs", "MiB ours", "theirs", ""];
  const table = [head, ...rows.map(cellsOf)];
  const widths = head.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  const lineOf = (line: readonly string[]): string =>
    line
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return table.map(lineOf).join("\n");
}

function cellsOf({ name, ours, upstream, note = "" }: Row): string[] {
  const both = (field: "calls" | "seconds" | "cpuSeconds" | "memoryMiB"): string[] =>
    [ours, upstream].map((side) => (side === undefined ? "-" : String(rounded(side[field]))));
  return [name, ...both("calls"), ...both("seconds"), ...both("cpuSeconds"), ...both("memoryMiB"), note];
}

export function roundedFigures(figures: Figures): Figures {
  const { calls, byVerb, seconds, cpuSeconds, memoryMiB } = figures;
  return {
    calls: Math.round(calls),
    byVerb,
    seconds: rounded(seconds),
    cpuSeconds: rounded(cpuSeconds),
    memoryMiB: rounded(memoryMiB),
  };
}

/** As if `figures` had been `factor` times as much; memory remains. */
export function scaled(figures: Figures, factor: number): Figures {
  return {
    calls: figures.calls * factor,
    byVerb: Object.fromEntries(Object.entries(figures.byVerb).map(([verb, n]) => [verb, Math.round(n * factor)])),
    seconds: figures.seconds * factor,
    cpuSeconds: figures.cpuSeconds * factor,
    memoryMiB: figures.memoryMiB,
  };
}

/** Rows as they are kept in a file, with ours divided by upstream's; a ratio to nothing is left out. */
export function rowsForFile(rows: readonly Row[]): unknown[] {
  const fields = ["calls", "seconds", "cpuSeconds", "memoryMiB"] as const;
  return rows.map(({ name, ours, upstream, note }) => ({
    name,
    ...(ours ? { ours: roundedFigures(ours) } : {}),
    ...(upstream ? { upstream: roundedFigures(upstream) } : {}),
    ...(ours && upstream
      ? {
          ratios: Object.fromEntries(
            fields
              .filter((field) => upstream[field] > 0)
              .map((field) => [field, Math.round((ours[field] / upstream[field]) * 1000) / 1000]),
          ),
        }
      : {}),
    ...(note === undefined ? {} : { note }),
  }));
}
