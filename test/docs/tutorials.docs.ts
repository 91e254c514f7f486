import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { blocksOf, type Block } from "./blocks.ts";

/** The tutorials, run as a reader would: in an empty folder, with the checkout's commands on PATH. */
const root = resolve(import.meta.dirname, "../..");
const folder = join(root, "docs/tutorials");
const READY = 120_000;

const running: ChildProcess[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) await end(child);
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const missing = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0;

describe("tutorial", () => {
  const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
  for (const name of pages) {
    const blocks = blocksOf(readFileSync(join(folder, name), "utf8"));
    if (blocks.length === 0) continue;
    const reason = missing("kubectl") ? " (needs kubectl)" : "";
    it.skipIf(reason !== "")(`${name} does what it says${reason}`, { timeout: 600_000 }, () => play(blocks));
  }
});

async function play(blocks: readonly Block[]): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "tutorial-"));
  folders.push(dir);
  for (const entry of ["package.json", "package-lock.json", "node_modules", "packages", "scripts", "deploy"])
    symlinkSync(join(root, entry), join(dir, entry));
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}`,
    NO_COLOR: "1",
  };
  delete environment["KUBECONFIG"];
  for (const block of blocks) {
    if (block.needs !== undefined && missing(block.needs)) continue;
    if (block.kind === "file") writeFileSync(join(dir, block.file), block.content);
    else if (block.kind === "background") await start(block, dir, environment);
    else runAll(block, dir, environment);
  }
}

/** Commands of one block share a shell; what they export is there for the blocks that follow. */
function runAll(block: Block, dir: string, environment: NodeJS.ProcessEnv): void {
  for (const { command, output } of block.commands) {
    const script = `${command}\nstatus=$?\nenv -0 >&3\nexit $status`;
    const done = spawnSync("bash", ["-c", script], {
      cwd: dir,
      env: environment,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      timeout: 180_000,
    });
    const said = `${done.stdout}${done.stderr}`;
    expect(done.status, `line ${block.line}: ${command}\n${said}`).toBe(0);
    for (const text of output) expect(said, `line ${block.line}: ${command}`).toContain(text);
    for (const entry of (done.output[3] ?? "").split("\0")) {
      const at = entry.indexOf("=");
      if (/^(OS_|KUBECONFIG)/.test(entry)) environment[entry.slice(0, at)] = entry.slice(at + 1);
    }
  }
}

async function start(block: Block, dir: string, env: NodeJS.ProcessEnv): Promise<void> {
  // The checkout is installed already: what remains is the command behind `npm ci`.
  const command = (block.commands[0]?.command ?? "").replace(/^npm ci.*?&& /, "");
  const child = spawn("bash", ["-c", `exec ${command}`], {
    cwd: dir,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.push(child);
  let said = "";
  await new Promise<void>((resolved, reject) => {
    const fail = (why: string): void => reject(new Error(`line ${block.line}: ${command}: ${why}\n${said}`));
    const timer = setTimeout(() => fail(`was not ready after ${READY / 1000} s`), READY);
    const read = (chunk: Buffer): void => {
      said += chunk.toString();
      if (!said.includes(block.until)) return;
      clearTimeout(timer);
      resolved();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("close", () => fail("ended"));
  });
}

/** Ends a command with all that it started. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const closed = new Promise((done) => child.once("close", done));
  process.kill(-child.pid, "SIGTERM");
  await closed;
}
