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

/**
 * The table that a person reads. Processor time is the server's, per call, in milliseconds: it hardly depends on how
 * busy the machine is.
 */
export function printed(rows: readonly Row[]): string {
  const head = ["", "ours", "kube-apiserver + etcd", "ahead", "CPU ours", "CPU theirs", ""];
  const table = [head, ...rows.map(cellsOf)];
  const widths = head.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return table
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function cellsOf(row: Row): string[] {
  const { name, ours, upstream, note = "" } = row;
  const ratio = ahead(row);
  const value = (figures: Figures | undefined): string => {
    const given = figures?.[row.by];
    return given === undefined ? "-" : `${rounded(given)} ${UNITS[row.by]}`;
  };
  const cpu = (figures: Figures | undefined): string =>
    !figures || row.by === "memoryMiB" ? "-" : `${rounded((figures.cpuSeconds * 1000) / figures.calls)} ms`;
  return [
    name,
    value(ours),
    value(upstream),
    ratio === undefined ? "-" : `${rounded(ratio)}×`,
    cpu(ours),
    cpu(upstream),
    note,
  ];
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
