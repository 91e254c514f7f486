/** One side of a row: what was measured on one server. Times in seconds, latencies in milliseconds. */
export interface Figures {
  readonly calls: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
  readonly perSecond?: number;
  readonly p50?: number;
  readonly p99?: number;
}

export interface Row {
  readonly name: string;
  /** What is compared, and whether more of it is better. */
  readonly by: "perSecond" | "p50" | "p99" | "seconds" | "memoryMiB";
  readonly ours: Figures;
  readonly upstream?: Figures;
  readonly note?: string;
}

/** Above 1 we are ahead. */
export function ahead({ by, ours, upstream }: Row): number | undefined {
  const [mine, theirs] = [ours[by], upstream?.[by]];
  if (mine === undefined || theirs === undefined) return undefined;
  return by === "perSecond" ? mine / theirs : theirs / mine;
}

export function printed(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const ratio = ahead(row);
    const value = (figures: Figures | undefined): string => {
      const given = figures?.[row.by];
      return given === undefined ? "-" : `${rounded(given)} ${UNITS[row.by]}`;
    };
    return [
      row.name,
      value(row.ours),
      value(row.upstream),
      ratio === undefined ? "-" : `${rounded(ratio)}×`,
      row.note ?? "",
    ];
  });
  const table = [["", "ours", "kube-apiserver + etcd", "ahead", ""], ...lines];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return table
    .map((line) =>
      line
        .map((cell, i) => (i < 4 ? cell.padEnd(widths[i] ?? 0) : cell))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const UNITS: Readonly<Record<Row["by"], string>> = {
  perSecond: "/s",
  p50: "ms",
  p99: "ms",
  seconds: "s",
  memoryMiB: "MiB",
};

/** Three digits that count. */
export function rounded(value: number): number {
  if (value === 0) return 0;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return Number(value.toFixed(Math.min(digits, 6)));
}

export function roundedFigures(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, rounded(value)]),
  ) as unknown as Figures;
}
