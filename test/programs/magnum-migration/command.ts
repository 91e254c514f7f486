/** The command itself, as operators run it: with files, a shell of the masters and a client of Magnum's database. */
import { createServer } from "node:http";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Simulator } from "@causeway/simulator";
import { parse, stringify } from "yaml";
import { launch } from "../run.ts";
import type { Masters } from "./masters.ts";
import { startLaps } from "./laps.ts";
import { openOldMagnum, sqlCommand, type OldMagnum } from "./old-magnum.ts";

const MAIN = resolve(import.meta.dirname, "../../../packages/causeway/src/main.ts");

export interface CommandOptions {
  /** SIGKILL after so many steps were printed; the step that was printed last may be done or not. */
  readonly killAfter?: number;
  /** SIGKILL as soon as it is true; it is checked every few milliseconds. */
  readonly killWhen?: () => boolean;
  readonly more?: readonly string[];
}

export interface Ended {
  readonly isKilled: boolean;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Command extends OldMagnum {
  readonly command: (phase: string, options?: CommandOptions) => Promise<Ended>;
  close(): void;
}

interface Parts {
  readonly simulator: Simulator;
  readonly masters: Masters;
  /** Kubeconfigs of the management cluster and of the cluster that is migrated. */
  readonly kubeconfig: string;
  readonly source: string;
}

export async function openCommand(dir: string, { simulator, masters, kubeconfig, source }: Parts): Promise<Command> {
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const { clouds } = parse(simulator.cloudsYaml) as { clouds: Record<string, Record<string, unknown>> };
  const container_infrastructure_management_endpoint_override = `${new URL(simulator.authUrl).origin}/container-infra/v1`;
  const changed = Object.entries(clouds).map(([name, entry]) => [
    name,
    { ...entry, container_infrastructure_management_endpoint_override },
  ]);
  const env = {
    OS_CLIENT_CONFIG_FILE: file("clouds.yaml", stringify({ clouds: Object.fromEntries(changed) as object })),
  };
  const shell = await openShell(masters);
  const base = [
    "--cloud=simulator",
    `--kubeconfig=${file("management", kubeconfig)}`,
    `--source-kubeconfig=${file("source", source)}`,
    `--etcd-urls=${masters.etcdUrls.join(",")}`,
    "--admin-cloud=simulator-admin",
    `--magnum-sql=${sqlCommand(dir)}`,
    `--machine-shell=${process.execPath} ${file("shell.mjs", SHELL)} ${shell.port} {address}`,
  ];
  const old = await openOldMagnum(dir, simulator);
  return {
    async command(phase, { killAfter = Number.POSITIVE_INFINITY, killWhen = () => false, more = [] } = {}) {
      // Discovery needs nothing of the cluster itself.
      const given = phase === "discover" ? base.slice(0, 2) : base;
      const args = [MAIN, "migrate", "magnum", phase, "web", ...given, ...more];
      const lap = startLaps();
      const running = launch(process.execPath, args, { env });
      let isKilled = false;
      let text = "";
      running.child.stderr?.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
        lap.line(chunk.toString("utf8").trim());
        const steps = text.split("\n").filter((line) => line !== "" && !line.startsWith("waiting")).length;
        if (steps < killAfter || isKilled) return;
        isKilled = true;
        running.child.kill("SIGKILL");
      });
      const watch = setInterval(() => {
        if (isKilled || !killWhen()) return;
        isKilled = true;
        running.child.kill("SIGKILL");
      }, 5);
      const { code, stdout, stderr } = await running.ended;
      clearInterval(watch);
      lap.end(`${phase}${isKilled ? " (killed)" : ""}`);
      return { isKilled, code, stdout, stderr };
    },
    old: old.old,
    trustee: old.trustee,
    magnum: old.magnum,
    close() {
      shell.close();
      void old.magnum.admin.close();
    },
  };
}

/** What the masters' sshd would be: runs a line of quoted words on a machine. */
async function openShell(masters: Masters): Promise<{ port: number; close(): void }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString("utf8")));
    request.on("end", () => {
      const { address, line } = JSON.parse(body) as { address: string; line: string };
      const words = [...line.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = ""]) => word.replaceAll(`'\\''`, "'"));
      masters.run(address, words, new AbortController().signal).then(
        (output) => response.end(output),
        (error: unknown) => response.writeHead(500).end(String(error).replace("ENOENT: no such file", "No such file")),
      );
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  return { port, close: () => void server.close() };
}

const SHELL = `const [port, address, line] = process.argv.slice(2);
const response = await fetch("http://127.0.0.1:" + port, { method: "POST", body: JSON.stringify({ address, line }) });
const text = await response.text();
(response.ok ? process.stdout : process.stderr).write(text);
process.exitCode = response.ok ? 0 : 1;
`;
