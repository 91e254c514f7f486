/** Runs of the canary, as its metrics say. */
import { eventually } from "../support/processes.ts";
import { NAME, serviceAddress } from "./cloud.ts";
import { TIMEOUT, type Rig } from "./rig.ts";

export interface CanaryRun {
  /** How many runs there were. */
  readonly runs: number;
  /** Phases of the newest one that failed: none, or one. */
  readonly failed: readonly string[];
  readonly seconds: Readonly<Record<string, number>>;
}

/** Waits for what is requested of the newest run that has ended. */
export async function canaryRun(rig: Rig, is: (run: CanaryRun) => boolean): Promise<CanaryRun> {
  let found: CanaryRun = { runs: 0, failed: [], seconds: {} };
  await eventually(TIMEOUT, async () => {
    const services = rig.kubectl("get", "services", "-o", "name");
    if (!services.includes(`service/${NAME}-canary\n`)) return false;
    const url = `http://${serviceAddress(rig, "canary")}:9180/metrics`;
    const text = await rig.inNetwork("curl", "-s", "-m", "10", url).catch(() => "");
    if (text === "") return false;
    const failed = values(text, "causeway_canary_failed", "phase");
    found = {
      runs: Object.values(values(text, "causeway_canary_runs_total", "result")).reduce((sum, each) => sum + each, 0),
      failed: Object.keys(failed).filter((phase) => failed[phase] === 1),
      seconds: values(text, "causeway_canary_phase_seconds", "phase"),
    };
    return is(found);
  });
  return found;
}

/** Values of a metric by one of its labels. */
const values = (text: string, metric: string, label: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(new RegExp(`^${metric}\\{[^}]*${label}="([^"]+)"[^}]*\\} (\\S+)$`, "gm"))].map(
      ([, name = "", value]) => [name, Number(value)],
    ),
  );

/** Drops echo requests to these addresses on their way out of the cluster; the returned function ends that. */
export async function withoutEchoes(rig: Rig, cidr: string): Promise<() => Promise<void>> {
  const table = ["inet", "rig-echoes"];
  const nft = (...words: readonly string[]) => rig.inNetwork("nft", ...words);
  await nft("add", "table", ...table);
  await nft("add", "chain", ...table, "out", "{ type filter hook forward priority -10; }");
  await nft("add", "rule", ...table, "out", "ip", "daddr", cidr, "icmp", "type", "echo-request", "drop");
  return async () => void (await nft("delete", "table", ...table));
}
