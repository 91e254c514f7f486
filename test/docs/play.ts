import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Block } from "./blocks.ts";

const READY = 120_000;

/** Where a page's commands run, and what runs on next to them. */
export interface Stage {
  readonly dir: string;
  /** What a command exports of OS_ variables and KUBECONFIG is put here for those that follow. */
  readonly environment: NodeJS.ProcessEnv;
  /** Commands in the background, to be ended by `end`. */
  readonly running: ChildProcess[];
}

export const missing = (program: string, env: NodeJS.ProcessEnv = process.env): boolean =>
  spawnSync("sh", ["-c", `command -v ${program}`], { env }).status !== 0;

/** Runs the blocks of a page, one after the other. A command whose program is missing is left out. */
export async function play(blocks: readonly Block[], stage: Stage): Promise<void> {
  for (const block of blocks) {
    if (block.needs !== undefined && missing(block.needs, stage.environment)) continue;
    if (block.kind === "file") writeFileSync(join(stage.dir, block.file), block.content);
    else if (block.kind === "background") await start(block, stage);
    else runAll(block, stage);
  }
}

/** Commands of one block share a shell; what they export is there for the blocks that follow. */
function runAll(block: Block, { dir, environment }: Stage): void {
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

async function start(block: Block, { dir, environment: env, running }: Stage): Promise<void> {
  // A checkout that is installed already: what remains is the command behind `npm ci`.
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
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const closed = new Promise((done) => child.once("close", done));
  process.kill(-child.pid, "SIGTERM");
  await closed;
}
