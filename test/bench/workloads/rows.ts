import { rounded } from "../apiserver/rows.ts";

/** What a situation took, and what it cost the processes of the control plane. */
export interface Figures {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly memoryMiB: number;
}

export type Side = "ours" | "upstream" | "unlimited";

export interface Row {
  readonly name: string;
  /** By side. */
  readonly figures: Readonly<Partial<Record<Side, Figures>>>;
  /** Of the upstream sides: kube-controller-manager and kube-scheduler without kube-apiserver and etcd. */
  readonly controllers: Readonly<Partial<Record<Side, Figures>>>;
  readonly note?: string;
}

const SIDES: readonly Side[] = ["ours", "upstream", "unlimited"];
const FIELDS = ["seconds", "cpuSeconds", "memoryMiB"] as const;

/** The table that a person reads: seconds, processor seconds and MiB of each side. */
export function printed(rows: readonly Row[]): string {
  const head = ["", ...["s", "CPU s", "MiB"].flatMap((unit) => SIDES.map((side) => `${unit} ${side}`)), ""];
  const table = [head, ...rows.map(cellsOf)];
  const widths = head.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  const lineOf = (line: readonly string[]): string =>
    line
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return table.map(lineOf).join("\n");
}

function cellsOf({ name, figures, note = "" }: Row): string[] {
  const cell = (side: Side, field: (typeof FIELDS)[number]): string => {
    const found = figures[side];
    return found === undefined ? "-" : String(rounded(found[field]));
  };
  return [name, ...FIELDS.flatMap((field) => SIDES.map((side) => cell(side, field))), note];
}

export function roundedFigures({ seconds, cpuSeconds, memoryMiB }: Figures): Figures {
  return { seconds: rounded(seconds), cpuSeconds: rounded(cpuSeconds), memoryMiB: rounded(memoryMiB) };
}
