import { spawn } from "node:child_process";
import { CausewayError, messageOf } from "@causeway/foundation";

/** How a command ended. `status` is -1 when a signal ended it. */
export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The node's operating system, as far as the driver uses it: util-linux, e2fsprogs, xfsprogs and the kernel's files.
 */
export interface Host {
  /** Where udev links block devices by their serial: /dev/disk/by-id. */
  readonly byId: string;
  /** /proc/self/mountinfo */
  readonly mountInfo: string;
  /** /sys */
  readonly sys: string;
  run(command: string, args: readonly string[], signal?: AbortSignal): Promise<CommandResult>;
}

/** Characters of a command's output that are kept. */
const LONGEST_OUTPUT = 64 * 1024;

/** This machine. The commands are found on PATH, and never run by a shell. */
export function linuxHost(paths: Partial<Pick<Host, "byId" | "mountInfo" | "sys">> = {}): Host {
  return { byId: "/dev/disk/by-id", mountInfo: "/proc/self/mountinfo", sys: "/sys", ...paths, run };
}

/** A command is not ended with its caller: a half-written file system is worse than a late one. */
function run(command: string, args: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, LC_ALL: "C" } });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout = (stdout + text).slice(0, LONGEST_OUTPUT)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr = (stderr + text).slice(0, LONGEST_OUTPUT)));
    child.on("error", (error) =>
      reject(
        new CausewayError("CSI_COMMAND_MISSING", `${command} cannot be run: ${messageOf(error)}.`, {
          cause: error,
          hint: "The node needs util-linux, e2fsprogs and xfsprogs.",
        }),
      ),
    );
    child.on("close", (code) => resolve({ status: code ?? -1, stdout, stderr }));
  });
}

/** The output of a command that must succeed. Throws CSI_COMMAND_FAILED. */
export async function output(host: Host, command: string, args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await host.run(command, args);
  if (status === 0) return stdout;
  const said = (stderr.trim() || stdout.trim()).slice(0, 500);
  throw new CausewayError("CSI_COMMAND_FAILED", `${command} ${args.join(" ")} ended with ${status}: ${said}`);
}
