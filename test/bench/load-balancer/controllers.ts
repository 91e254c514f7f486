import { spawn, type ChildProcess } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { freePort } from "../../support/free-ports.ts";
import { stop } from "../apiserver/subject.ts";
import type { BenchCloud } from "./cloud.ts";
import { OURS_CHILD } from "./ours-child.ts";

export type Side = "ours" | "upstream";

/** A cloud controller manager under measurement. */
export interface Controller {
  readonly processes: readonly ChildProcess[];
  /** Throws what its log ends with when one of them is gone. */
  check(): void;
  /** SIGKILL. */
  stop(): Promise<void>;
}

export interface StartFrom {
  readonly cloud: BenchCloud;
  /** Where logs go. */
  readonly files: string;
  readonly kubeconfigs: readonly string[];
  /** The upstream program. */
  readonly program: string;
}

/** The command as it is installed. */
export const CAUSEWAY = join(import.meta.dirname, "../../../packages/causeway/src/launch.sh");

/** Ours: the command, as a cluster runs it; of several clusters, one process for all. */
export async function startOurs({ cloud, files, kubeconfigs }: StartFrom): Promise<Controller> {
  const log = join(files, "ours.log");
  const [kubeconfig = "", ...others] = kubeconfigs;
  if (others.length > 0) {
    const args = ["--max-semi-space-size=4", OURS_CHILD, cloud.cloudsYaml, cloud.cloudConf, ...kubeconfigs];
    return running([launch(process.execPath, args, log)], log);
  }
  const args = [
    "run",
    "cloud-controller-manager",
    `--cloud-config=${cloud.cloudConf}`,
    `--kubeconfig=${kubeconfig}`,
    "--cluster-name=bench",
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${await freePort()}`,
    "-v0",
  ];
  return running([launch(CAUSEWAY, args, log)], log);
}

/** The upstream one: a process for each cluster, as it comes, but without an election of one. */
export async function startUpstreamController({ cloud, files, kubeconfigs, program }: StartFrom): Promise<Controller> {
  const processes: ChildProcess[] = [];
  const log = join(files, "upstream.log");
  for (const [i, kubeconfig] of kubeconfigs.entries()) {
    const args = [
      "--cloud-provider=openstack",
      `--cloud-config=${cloud.cloudConf}`,
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--cluster-name=${kubeconfigs.length === 1 ? "bench" : `bench-${i}`}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${await freePort()}`,
      `--cert-dir=${files}`,
    ];
    processes.push(launch(program, args, log));
  }
  return running(processes, log);
}

const LAST_WORDS = 2000;

/** Of processes that end with this one. */
export function running(processes: readonly ChildProcess[], log: string): Controller {
  const kill = (): void => processes.forEach((p) => p.kill("SIGKILL"));
  process.once("exit", kill);
  return {
    processes,
    check() {
      const gone = processes.some((p) => p.exitCode !== null || p.signalCode !== null);
      if (gone) throw new Error(`a controller ended:\n${readFileSync(log, "utf8").slice(-LAST_WORDS)}`);
    },
    async stop() {
      process.removeListener("exit", kill);
      await Promise.all(processes.map(stop));
    },
  };
}

/** Its output goes to a file. */
export function launch(file: string, args: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, "a", 0o600);
  // The command starts the first `node` of the path: this one.
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  return spawn(file, args, { stdio: ["ignore", log, log], env: { ...process.env, PATH: path } });
}
