import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Programs that run: they end with this process. */
const running = new Set<() => void>();
process.once("exit", () => running.forEach((kill) => kill()));

/** Starts a program with its output in a file; the answer ends it. */
export function launchInto(log: string, file: string, args: readonly string[]): () => Promise<void> {
  const out = openSync(log, "a", 0o600);
  const child = spawn(file, args, { stdio: ["ignore", out, out] });
  closeSync(out);
  const kill = (): void => void child.kill("SIGKILL");
  running.add(kill);
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  child.once("error", (error) => console.error(`${file}: ${error.message}`));
  return () => {
    running.delete(kill);
    kill();
    return ended;
  };
}

export interface HollowNode {
  readonly name: string;
  /** A file. */
  readonly kubeconfig: string;
  /** The folder with the program "hollow-node". */
  readonly programs: string;
  /** For its log. */
  readonly dir: string;
  /** Two free ones, distinct for nodes that start together. */
  readonly ports: readonly number[];
}

/** Starts Kubernetes' own kubelet with made-up containers; the answer ends it. */
export function startHollowNode({ name, kubeconfig, programs, dir, ports }: HollowNode): () => Promise<void> {
  const [port = 0, readOnly = 0] = ports;
  const args = [
    `--name=${name}`,
    `--kubeconfig=${kubeconfig}`,
    `--kubelet-port=${port}`,
    `--kubelet-read-only-port=${readOnly}`,
  ];
  const log = join(dir, `${name}.log`);
  const stop = launchInto(log, join(programs, "hollow-node"), args);
  return async () => {
    await stop();
    // It keeps its pods' folders in one of its own, wherever temporary files are to be.
    const [, kept] = /Using (\/tmp\/hollow-kubelet\.\d+) as root dir/.exec(readFileSync(log, "utf8")) ?? [];
    if (kept !== undefined) rmSync(kept, { recursive: true, force: true });
  };
}
