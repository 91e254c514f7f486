import { styleText } from "node:util";
import type { OutputFormat } from "../../options/output.ts";
import { wrapped } from "../../terminal/wrap-help.ts";
import type { Finding, State } from "./finding.ts";
import { documentOf } from "../../terminal/documents.ts";

/** What the doctor says. */
export interface Report {
  readonly cloud: string;
  readonly region: string;
  readonly findings: readonly Finding[];
}

/** How a table is written. */
export interface TableStyle {
  /** The table leaves out what works. */
  readonly quiet: boolean;
  /** Columns of the terminal; undefined: lines are not wrapped. */
  readonly width: number | undefined;
  /** Where the table is written: colours only on a terminal, and not with NO_COLOR. */
  readonly stream: NodeJS.WritableStream | undefined;
}

const PLAIN: TableStyle = { quiet: false, width: undefined, stream: undefined };

/** What must be done first is read first. */
const ORDER: readonly State[] = ["broken", "missing", "limited", "works"];
const COLORS = { broken: "red", missing: "yellow", limited: "yellow", works: "green" } as const;
/** A narrower column of words is harder to read than a line that the terminal breaks. */
const NARROWEST = 30;

/** A table for people, or the report as JSON or YAML: with all findings, problems first. */
export function renderReport(report: Report, format: OutputFormat, style: TableStyle = PLAIN): string {
  const findings = ORDER.flatMap((state) => report.findings.filter((finding) => finding.state === state));
  const document = documentOf({ ...report, findings }, format);
  if (document !== undefined) return document;
  const shown = style.quiet ? findings.filter(({ state }) => state !== "works") : findings;
  const widest = Math.max(0, ...shown.map((finding) => finding.feature.length));
  const lines = shown.flatMap((finding) => rowsOf(finding, widest, style));
  const table = lines.length === 0 ? "" : `${lines.join("\n")}\n\n`;
  return `cloud ${report.cloud}, region ${report.region}\n\n${table}${summary(findings)}\n`;
}

function rowsOf({ feature, state, because, todo }: Finding, widest: number, style: TableStyle): string[] {
  const indent = widest + 12;
  const room = style.width === undefined ? Infinity : Math.max(NARROWEST, style.width - indent);
  const [first = "", ...more] = wrapped(because, room);
  const advice =
    todo === undefined ? [] : wrapped(todo, room - 2).map((line, i) => (i === 0 ? `→ ${line}` : `  ${line}`));
  const label = colored(state.padEnd(8), COLORS[state], style.stream);
  const rest = [...more, ...advice].map((line) => `${" ".repeat(indent)}${line}`);
  return [`${label}  ${feature.padEnd(widest)}  ${first}`, ...rest];
}

function colored(text: string, color: "red" | "yellow" | "green", stream: TableStyle["stream"]): string {
  return stream === undefined ? text : styleText(color, text, { stream });
}

function summary(findings: readonly Finding[]): string {
  const count = (state: State) => findings.filter((finding) => finding.state === state).length;
  return `${count("works")} work, ${count("limited")} with limits, ${count("missing")} missing, ${count("broken")} broken`;
}
