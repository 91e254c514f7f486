import { fork, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SERVER_CHILD } from "./server-child.ts";

const NAMESPACES = ["--user", "--map-root-user", "--mount"];

/** Why this machine cannot mount a file system of ours; undefined when it can. */
export function noSmallDisk(): string | undefined {
  const tried = spawnSync("unshare", [...NAMESPACES, "true"], { encoding: "utf8" });
  return tried.status === 0 ? undefined : `no user namespaces: ${tried.error?.message ?? tried.stderr.trim()}`;
}

/** A file system of a few megabytes, in a mount namespace that a sleeping process keeps. */
export class SmallDisk {
  readonly #keeper: ChildProcess;
  readonly #dir: string;

  private constructor(keeper: ChildProcess, dir: string) {
    this.#keeper = keeper;
    this.#dir = dir;
  }

  static async mount(dir: string, megabytes: number): Promise<SmallDisk> {
    const script = 'mount -t tmpfs -o size="$2"m,mode=700 tmpfs "$1" && echo mounted && exec sleep 600';
    const keeper = spawn("unshare", [...NAMESPACES, "sh", "-c", script, "sh", dir, String(megabytes)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise<void>((done, reject) => {
      keeper.stdout.once("data", () => done());
      keeper.once("exit", () => reject(new Error("the file system was not mounted")));
    });
    return new SmallDisk(keeper, dir);
  }

  /** The server's child process, with this file system where others have an empty folder. */
  fork(): ChildProcess {
    const into = ["-t", String(this.#keeper.pid), "-U", "-m", "--preserve-credentials", process.execPath];
    return fork(SERVER_CHILD, { stdio: ["ignore", "inherit", "inherit", "ipc"], execPath: "nsenter", execArgv: into });
  }

  fill(name: string, megabytes: number): void {
    writeFileSync(this.#outside(name), Buffer.alloc(megabytes * 1024 * 1024, 1));
  }

  remove(name: string): void {
    rmSync(this.#outside(name));
  }

  unmount(): void {
    this.#keeper.kill("SIGKILL");
  }

  #outside(name: string): string {
    return join(`/proc/${this.#keeper.pid}/root`, this.#dir, name);
  }
}
