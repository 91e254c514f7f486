/** A real MariaDB for tests, where it is installed. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, isInstalled } from "./commands.ts";

export const hasMariaDb = ["mariadbd", "mariadb", "mariadb-install-db"].every(isInstalled);
const TRIES = 400;

export interface MariaDb {
  readonly port: number;
  /** Statements of root, whose password is "of-root"; what they print, without names of columns. */
  readonly sql: (text: string) => string;
  /** STOP: it does not respond until CONT. */
  readonly signal: (name: "SIGSTOP" | "SIGCONT") => void;
  readonly stop: () => Promise<void>;
}

/** Starts one with its data in `dir`. */
export async function startMariaDb(dir: string): Promise<MariaDb> {
  const data = join(dir, "mysql");
  const port = await freePort();
  const user = process.getuid?.() === 0 ? ["--user=root"] : [];
  const options = ["--no-defaults", ...user, `--datadir=${data}`];
  const install = [...options, "--auth-root-authentication-method=normal", "--skip-test-db"];
  execFileSync("mariadb-install-db", install, { stdio: "ignore" });
  const init = join(dir, "init.sql");
  writeFileSync(
    init,
    "CREATE OR REPLACE USER 'root'@'127.0.0.1' IDENTIFIED BY 'of-root';\nGRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n",
  );
  const network = [`--port=${port}`, "--bind-address=127.0.0.1", "--skip-name-resolve", `--socket=${data}.sock`];
  const small = ["--innodb-buffer-pool-size=16M", "--performance-schema=OFF", `--init-file=${init}`];
  const server = spawn("mariadbd", [...options, ...network, ...small], { stdio: "ignore" });
  const client = ["--protocol=tcp", "-h127.0.0.1", `-P${port}`, "-uroot", "-pof-root"];
  for (let tries = 0; spawnSync("mariadb", [...client, "-e", "SELECT 1"]).status !== 0; tries++) {
    if (tries === TRIES || server.exitCode !== null) throw new Error("MariaDB did not start");
    await new Promise((done) => setTimeout(done, 100));
  }
  return {
    port,
    sql: (text) =>
      execFileSync("mariadb", [...client, "-BN"], { input: text, encoding: "utf8", timeout: 60_000 }).trim(),
    signal: (name) => void server.kill(name),
    async stop() {
      if (server.exitCode !== null) return;
      const ended = new Promise((done) => server.once("close", done));
      server.kill("SIGTERM");
      server.kill("SIGCONT");
      await ended;
    },
  };
}
