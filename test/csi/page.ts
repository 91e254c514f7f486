/** docs/reference/csi.md: what csi-sanity says of the drivers. */
import type { SpecResult } from "./report.ts";

/** All specs of one driver. */
export interface DriverResult {
  readonly name: string;
  readonly specs: readonly SpecResult[];
}

export function pageOf(drivers: readonly DriverResult[]): string {
  const names = [...new Set(drivers.flatMap(({ specs }) => specs.map(({ name }) => name)))].toSorted();
  const byName = drivers.map(({ specs }) => new Map(specs.map((spec) => [spec.name, spec])));
  const rows = names.map((name) => {
    const results = byName.map((specs) => specs.get(name));
    const reason = results.find((spec) => spec !== undefined && spec.reason !== "")?.reason ?? "";
    return [cell(name), ...results.map((spec) => spec?.status ?? ""), cell(reason)];
  });
  const head = ["spec", ...drivers.map(({ name }) => name), "reason"];
  return [
    "# CSI conformance",
    "",
    "`npm run test:csi` runs csi-sanity 5.6.0 of kubernetes-csi/csi-test, whole and unchanged, against cinder-csi and manila-csi over their Unix sockets: Go's",
    "gRPC client and a simulated cloud. cinder-csi's node service formats and mounts loop devices with the commands and the kernel of this machine. manila-csi",
    "forwards to a stand-in for csi-driver-nfs and ceph-csi, which records and mounts nothing. It writes this page.",
    "`npm run test:csi -- --real devcloud` runs the specs on a real OpenStack (tools/devcloud): cinder-csi's, whose servers' disks are loop devices, too: 93 passed, 0 failed, 10 skipped;",
    "and those of manila-csi with NFS: 45 passed, 0 failed, 58 skipped. That Manila has no backend for CephFS.",
    "",
    ...drivers.map(summary),
    "",
    ...table([head, ...rows]),
    "",
    "## Schedules of faults",
    "",
    "Seeds 1 to 2,000 of `packages/cinder-csi/src/schedules.test.ts` and of manila-csi's lose requests and answers, kill controllers, run two at once, delete servers and change states by",
    "hand; contents decide that no data is lost. All 4,000 were played on 2026-11-24 without a failure. `CAUSEWAY_CSI_FIRST` and `CAUSEWAY_CSI_SCHEDULES`, or `CAUSEWAY_MANILA_FIRST`",
    "and `CAUSEWAY_MANILA_SCHEDULES`, choose the seeds. A hundred take about 30 s for Cinder and 20 s for Manila.",
    "",
  ].join("\n");
}

function summary({ name, specs }: DriverResult): string {
  const count = (status: string) => specs.filter((spec) => spec.status === status).length;
  return `- ${name}: ${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped.`;
}

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").slice(0, 160);

/** With columns of one width, as the formatter writes tables. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)];
}
