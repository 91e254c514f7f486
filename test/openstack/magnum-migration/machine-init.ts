/**
 * Process of a played server, in namespaces of its own: what systemd and sshd are on one. Units are read from
 * /etc/systemd/system; commands come by a socket on its disk.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";

const [disk = "", name = ""] = process.argv.slice(2);
const socket = join(disk, "s");
const GRACE = 10_000;
const RESTART = 1_000;

/** /etc and /var/lib of the host, with what the machine has of its own. */
for (const [folder, own] of [
  ["/etc", "etc"],
  ["/var/lib", "var-lib"],
] as const) {
  for (const part of [own, `${own}.work`]) mkdirSync(join(disk, part), { recursive: true });
  const options = `lowerdir=${folder},upperdir=${join(disk, own)},workdir=${join(disk, `${own}.work`)}`;
  execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, folder]);
}
execFileSync("hostname", [name]);
mkdirSync(join(disk, "bin"), { recursive: true });
mkdirSync(join(disk, "log"), { recursive: true });
const client = `const { request } = await import("node:http");
const call = request({ socketPath: ${JSON.stringify(socket)}, path: "/systemctl", method: "POST" }, (response) => {
  response.pipe(process.stdout);
  process.exitCode = response.statusCode === 200 ? 0 : 3;
});
call.end(JSON.stringify(process.argv.slice(2)));
`;
writeFileSync(join(disk, "bin/systemctl.mjs"), client);
const script = `#!/bin/sh\nexec ${process.execPath} ${join(disk, "bin/systemctl.mjs")} "$@"\n`;
writeFileSync(join(disk, "bin/systemctl"), script);
chmodSync(join(disk, "bin/systemctl"), 0o755);
const PATH = `${join(disk, "bin")}:${process.env["PATH"] ?? ""}`;

const running = new Map<string, ChildProcess>();
const wanted = new Set<string>();

function values(unit: string, key: string): string[] {
  const text = readFileSync(`/etc/systemd/system/${unit}.service`, "utf8");
  return [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
}

function environmentOf(unit: string): Record<string, string> {
  const lines = values(unit, "EnvironmentFile").flatMap((file) => readFileSync(file, "utf8").split("\n"));
  const pairs = lines.map((line) => /^([A-Z_0-9]+)="?(.*?)"?$/.exec(line)).filter((found) => found !== null);
  return Object.fromEntries(pairs.map(([, key = "", value = ""]) => [key, value]));
}

function start(unit: string): void {
  wanted.add(unit);
  if (running.has(unit)) return;
  const log = openSync(join(disk, "log", `${unit}.log`), "a");
  const [line = "false"] = values(unit, "ExecStart");
  const env = { ...process.env, ...environmentOf(unit) };
  const child = spawn("/bin/bash", ["-c", `exec ${line}`], { stdio: ["ignore", log, log], env });
  closeSync(log);
  running.set(unit, child);
  child.on("exit", () => {
    running.delete(unit);
    setTimeout(() => wanted.has(unit) && start(unit), RESTART);
  });
}

async function stop(unit: string): Promise<void> {
  wanted.delete(unit);
  const child = running.get(unit);
  if (child === undefined) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE);
  await ended;
  clearTimeout(timer);
}

async function systemctl([verb = "", ...units]: readonly string[]): Promise<{ isGood: boolean; text: string }> {
  if (verb === "is-active") {
    const lines = units.map((unit) => (running.has(unit) ? "active" : "inactive"));
    return { isGood: !lines.includes("inactive"), text: `${lines.join("\n")}\n` };
  }
  for (const unit of units) await (verb === "start" ? start(unit) : stop(unit));
  return { isGood: verb === "start" || verb === "stop", text: "" };
}

function shell(line: string): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((done) => {
    const child = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, PATH } });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
    child.on("close", (code) => done({ code: code ?? 1, stdout, stderr }));
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

createServer((request, response) => {
  void bodyOf(request).then(async (body) => {
    if (request.url === "/systemctl") {
      const { isGood, text } = await systemctl(JSON.parse(body) as string[]);
      response.writeHead(isGood ? 200 : 400).end(text);
    } else response.end(JSON.stringify(await shell(body)));
  });
}).listen(socket);
// As tini's only child it ends with its input, so that no machine outlives the test.
process.stdin.resume().on("end", () => process.exit(0));
