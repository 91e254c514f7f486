/** docs/reference/csi.md: what csi-sanity says of the driver. */
import type { SpecResult } from "./report.ts";

export function pageOf(specs: readonly SpecResult[]): string {
  const count = (status: string) => specs.filter((spec) => spec.status === status).length;
  const rows = specs
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, status, reason }) => [cell(name), status, cell(reason)]);
  const head = ["spec", "result", "reason"];
  return [
    "# CSI conformance",
    "",
    "`npm run test:csi` runs csi-sanity 5.6.0 of kubernetes-csi/csi-test, whole and unchanged, against cinder-csi over its Unix socket: Go's gRPC",
    "client, a simulated cloud, and a node service that formats and mounts loop devices with the commands and the kernel of this machine. It writes this page.",
    "",
    `${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped.`,
    "",
    ...table([head, ...rows]),
    "",
  ].join("\n");
}

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 160);

/** With columns of one width, as the formatter writes tables. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)];
}
