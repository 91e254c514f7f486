import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stop } from "../apiserver/subject.ts";

export type Side = "ours" | "upstream";

/** The command as it is installed. */
const CAUSEWAY = join(import.meta.dirname, "../../../packages/causeway/src/launch.sh");
const LAST_WORDS = 2000;
const STARTUP = 60_000;

/** A driver's controller service and the stock sidecars on its socket: the containers of one pod. */
export interface DriverPod {
  readonly driver: ChildProcess;
  readonly sidecars: readonly ChildProcess[];
  /** Throws what a log ends with when one of them has ended. */
  check(): void;
  /** SIGKILL. */
  stop(): Promise<void>;
}

export interface StartFrom {
  readonly side: Side;
  readonly cloudConf: string;
  readonly kubeconfig: string;
  /** Where logs go. */
  readonly files: string;
  /** cinder-csi-plugin. */
  readonly upstream: string;
  /** The folder of the stock sidecars. */
  readonly sidecars: string;
  readonly cluster?: string;
}

/**
 * As in upstream's manifest, without an election; the limits of requests to the API server are so wide that they decide
 * nothing.
 */
const COMMON = ["--timeout=3m", "--kube-api-qps=500", "--kube-api-burst=1000", "--leader-election=false"];
const SIDECARS: Readonly<Record<string, readonly string[]>> = {
  "csi-provisioner": ["--default-fstype=ext4", "--feature-gates=Topology=true", "--extra-create-metadata"],
  "csi-attacher": ["--default-fstype=ext4"],
  "csi-snapshotter": ["--extra-create-metadata"],
  "csi-resizer": ["--handle-volume-inuse-error=false"],
};

export async function startPod(from: StartFrom): Promise<DriverPod> {
  const { side, cloudConf, files, kubeconfig, cluster = "bench" } = from;
  // A path of a Unix socket has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "csi-"));
  const socket = join(folder, "csi.sock");
  const log = join(files, `${side}.log`);
  const args = [`--endpoint=unix://${socket}`, `--cloud-config=${cloudConf}`, `--cluster=${cluster}`, "-v=0"];
  const driver =
    side === "ours"
      ? launch(CAUSEWAY, ["run", "cinder-csi", "--controller", ...args], log)
      : launch(from.upstream, ["--provide-node-service=false", ...args], log);
  const sidecars: ChildProcess[] = [];
  const all = () => [driver, ...sidecars];
  const kill = (): void => all().forEach((each) => each.kill("SIGKILL"));
  process.once("exit", kill);
  const pod: DriverPod = {
    driver,
    sidecars,
    check() {
      const ended = all().some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
      if (ended) throw new Error(`a program ended:\n${readFileSync(log, "utf8").slice(-LAST_WORDS)}`);
    },
    async stop() {
      process.removeListener("exit", kill);
      await Promise.all(all().map(stop));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  for (const end = Date.now() + STARTUP; !existsSync(socket);) {
    pod.check();
    if (Date.now() > end) throw new Error(`the driver of ${side} does not listen`);
    await new Promise((done) => setTimeout(done, 20));
  }
  for (const [name, more] of Object.entries(SIDECARS)) {
    const flags = [`--csi-address=${socket}`, `--kubeconfig=${kubeconfig}`, ...COMMON, ...more];
    sidecars.push(launch(join(from.sidecars, name), flags, log));
  }
  return pod;
}

/** The cluster's own controller of VolumeSnapshots, which belongs to no driver. */
export function startSnapshotController(from: Pick<StartFrom, "files" | "kubeconfig" | "sidecars">): ChildProcess {
  const limits = ["--kube-api-qps=500", "--kube-api-burst=1000", "--leader-election=false"];
  const args = [`--kubeconfig=${from.kubeconfig}`, ...limits];
  const child = launch(join(from.sidecars, "snapshot-controller"), args, join(from.files, "snapshots.log"));
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

export function launch(file: string, args: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, "a", 0o600);
  // The command starts the first `node` of the path: this one.
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  return spawn(file, args, { stdio: ["ignore", log, log], env: { ...process.env, PATH: path } });
}
