/** Servers of the devcloud that are network namespaces, with a mount namespace, units and a shell of their own. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join, resolve } from "node:path";
import { eventually } from "../../support/processes.ts";

const INIT = resolve(import.meta.dirname, "machine-init.ts");
const TIMEOUT = 120_000;

export interface ServerMachine {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly disk: string;
  /** Runs a line of shell as root; its standard output. */
  run(line: string): Promise<string>;
  stop(): Promise<void>;
}

/** How to enter a server: its network, with mounts, processes and a host name of its own. */
export const entered = (id: string): readonly string[] => [
  `--net=/run/netns/vm-${id}`,
  "unshare",
  "--mount",
  "--propagation",
  "private",
  "--uts",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
  "tini",
  "--",
];

export type Files = Readonly<Record<string, string>>;

/** Puts files of /etc on the disk of a machine that is not booted. */
export function putFiles(disk: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(disk, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
}

export async function bootMachine(
  root: string,
  server: { readonly id: string; readonly name: string; readonly address: string },
  files: Files,
): Promise<ServerMachine> {
  const disk = join(root, server.address);
  putFiles(disk, files);
  const args = [...entered(server.id), process.execPath, "--max-semi-space-size=1", INIT, disk, server.name];
  const child = spawn("nsenter", args, { stdio: ["pipe", "inherit", "inherit"], detached: true });
  child.stdin.on("error", () => {});
  const run = (line: string): Promise<string> => runOn(disk, line);
  await eventually(TIMEOUT, () => run("true").then(() => true));
  return { ...server, disk, run, stop: () => ended(child) };
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once("close", done));
  child.stdin?.end();
  await gone;
}

function runOn(disk: string, line: string): Promise<string> {
  return new Promise((done, reject) => {
    const call = request({ socketPath: join(disk, "s"), path: "/run", method: "POST" }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
      response.on("end", () => {
        const { code, stdout, stderr } = JSON.parse(text) as { code: number; stdout: string; stderr: string };
        if (code === 0) done(stdout);
        else reject(new Error(`${line}: ${code} ${stderr}`));
      });
    });
    call.on("error", reject);
    call.end(line);
  });
}

/** The --machine-shell of these machines: what ssh would be. */
export function machineShell(dir: string, root: string): string {
  const program = join(dir, "shell.mjs");
  const text = `import { request } from "node:http";
const [root, address, line] = process.argv.slice(2);
const call = request({ socketPath: root + "/" + address + "/s", path: "/run", method: "POST" }, async (response) => {
  let text = "";
  for await (const chunk of response) text += chunk;
  const { code, stdout, stderr } = JSON.parse(text);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
});
call.end(line);
`;
  writeFileSync(program, text, { mode: 0o600 });
  return `${process.execPath} ${program} ${root} {address}`;
}
