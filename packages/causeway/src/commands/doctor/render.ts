import { stringify } from "yaml";
import type { OutputFormat } from "../../options/output.ts";
import type { Finding, State } from "./findings.ts";

/** What the doctor says. */
export interface Report {
  readonly cloud: string;
  readonly region: string;
  readonly findings: readonly Finding[];
}

/** A table for people, or the report as JSON or YAML. */
export function renderReport(report: Report, format: OutputFormat): string {
  if (format === "json") return `${JSON.stringify(report, null, 2)}\n`;
  if (format === "yaml") return stringify(report);
  const width = Math.max(...report.findings.map((finding) => finding.feature.length));
  const lines = report.findings.flatMap(({ feature, state, because, todo }) => [
    `${state.padEnd(8)}  ${feature.padEnd(width)}  ${because}`,
    ...(todo === undefined ? [] : [`${" ".repeat(width + 12)}→ ${todo}`]),
  ]);
  return `cloud ${report.cloud}, region ${report.region}\n\n${lines.join("\n")}\n\n${summary(report.findings)}\n`;
}

function summary(findings: readonly Finding[]): string {
  const count = (state: State) => findings.filter((finding) => finding.state === state).length;
  return `${count("works")} work, ${count("limited")} with limits, ${count("missing")} missing, ${count("broken")} broken`;
}
