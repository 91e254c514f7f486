import { spawn } from "node:child_process";
import { CausewayError } from "@causeway/foundation";

/** Magnum's own database, which its API gives no way to: rows are read and deleted by SQL. */
export interface MagnumDatabase {
  /** Runs statements, and returns the lines that they print. @throws MIGRATE_DATABASE_FAILED */
  run(sql: string, signal: AbortSignal): Promise<readonly string[]>;
}

const MOST = 1024 * 1024;
const TIMEOUT = 60_000;

/**
 * Runs SQL through a program that the operator names, such as "ssh controller sudo mysql --batch magnum": statements
 * are its standard input.
 */
export function createMagnumDatabase(command: string): MagnumDatabase {
  const [program = "", ...args] = command.trim().split(/\s+/);
  return {
    run(sql, signal) {
      return new Promise((resolve, reject) => {
        const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], signal, timeout: TIMEOUT });
        let [output, problem] = ["", ""];
        child.stdout.on("data", (chunk: Buffer) => (output = (output + chunk.toString("utf8")).slice(0, MOST)));
        child.stderr.on("data", (chunk: Buffer) => (problem = (problem + chunk.toString("utf8")).slice(0, 2_000)));
        child.on("error", (error) => reject(failure(error.message)));
        child.on("close", (code) => {
          if (code === 0) resolve(output.split("\n").filter((line) => line !== ""));
          else reject(failure(problem.trim() || `exit status ${code ?? "unknown"}`));
        });
        // A program that ends early closes its input: its exit status says why.
        child.stdin.on("error", () => {});
        child.stdin.end(sql);
      });
    },
  };
}

function failure(why: string): CausewayError {
  return new CausewayError("MIGRATE_DATABASE_FAILED", `The command of --magnum-sql failed: ${why}`, {
    hint: "Try it by hand: it has to run SQL of its standard input on Magnum's database, such as 'mysql --batch magnum'.",
  });
}
