import { spawn } from "node:child_process";
import { CausewayError } from "@causeway/foundation";

/** Commands on the cluster's machines, as root. */
export interface MachineShell {
  /** The standard output. @throws MIGRATE_SHELL_FAILED */
  run(address: string, command: readonly string[], signal: AbortSignal): Promise<string>;
}

const MOST = 1024 * 1024;
const TIMEOUT = 60_000;

/**
 * Runs each command through a program that the operator names, such as "ssh -o BatchMode=yes core@{address} sudo".
 * Words are separated by spaces; {address} is the machine's address. Arguments are quoted for the shell at the other
 * end.
 */
export function createMachineShell(prefix: string): MachineShell {
  const words = prefix.trim().split(/\s+/);
  return {
    run(address, command, signal) {
      const [program = "", ...args] = words.map((word) => word.replaceAll("{address}", address));
      const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
      return new Promise((resolve, reject) => {
        const child = spawn(program, [...args, line], { stdio: ["ignore", "pipe", "pipe"], signal, timeout: TIMEOUT });
        let [output, problem] = ["", ""];
        child.stdout.on("data", (chunk: Buffer) => (output = (output + chunk.toString("utf8")).slice(0, MOST)));
        child.stderr.on("data", (chunk: Buffer) => (problem = (problem + chunk.toString("utf8")).slice(0, 2_000)));
        child.on("error", (error) => reject(failure(address, command, error.message)));
        child.on("close", (code) => {
          if (code === 0) resolve(output);
          else reject(failure(address, command, problem.trim() || `exit status ${code ?? "unknown"}`));
        });
      });
    },
  };
}

function failure(address: string, command: readonly string[], why: string): CausewayError {
  return new CausewayError("MIGRATE_SHELL_FAILED", `"${command.join(" ")}" on ${address} failed: ${why}`, {
    hint: "Try the command of --machine-shell by hand; it has to reach every machine of the cluster as root.",
  });
}
