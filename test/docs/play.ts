import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Block } from "./blocks.ts";
import type { Place } from "./place.ts";

const READY = 300_000;

/** A folder of a place, and what runs on there next to a page's commands. */
export interface Stage {
  readonly place: Place;
  /** Below the home folder. */
  readonly folder: string;
  /** What a command exports of OS_ variables and KUBECONFIG is put here for those that follow. */
  readonly environment: NodeJS.ProcessEnv;
  /** Commands in the background, to be ended by `end`. */
  readonly running: ChildProcess[];
}

const EXPORTED = /^(OS_|KUBECONFIG)/;

/** A name with a slash is a file, which a program that runs has made. */
const missing = (needed: string): boolean =>
  needed.includes("/") ? !existsSync(needed) : spawnSync("sh", ["-c", `command -v ${needed}`]).status !== 0;

/** Why a block is left out; undefined: it is run. */
export const reasonToSkip = ({ needs }: Block): string | undefined =>
  needs !== undefined && missing(needs) ? `${needs} is missing` : undefined;

/** Runs the blocks of a page, one after the other. */
export async function play(blocks: readonly Block[], stage: Stage): Promise<void> {
  for (const block of blocks) {
    if (block.kind === "file") writeFileSync(join(stage.place.home, stage.folder, block.file), block.content);
    else if (block.kind === "background") await start(block, stage);
    else runAll(block, stage);
  }
}

/** Commands of one block share a shell; what they export is there for the blocks that follow. */
function runAll(block: Block, stage: Stage): void {
  for (const { command, output } of block.commands) {
    const script = `${command}\nstatus=$?\nenv -0 >&3\nexit $status`;
    const { program, args, options } = invocation(script, block, stage);
    const done = spawnSync(program, [...args], {
      ...options,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      timeout: 180_000,
    });
    const said = `${done.stdout}${done.stderr}`;
    expect(done.status, `line ${block.line}: ${command}\n${said}`).toBe(0);
    for (const text of output) expect(said, `line ${block.line}: ${command}`).toContain(text);
    for (const entry of (done.output[3] ?? "").split("\0")) {
      const at = entry.indexOf("=");
      if (EXPORTED.test(entry)) stage.environment[entry.slice(0, at)] = entry.slice(at + 1);
    }
  }
}

interface Invocation {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: { readonly cwd?: string; readonly env: NodeJS.ProcessEnv };
}

/** A block that needs a program of this machine runs outside the place, in the same folder. */
function invocation(script: string, block: Block, { place, folder, environment }: Stage): Invocation {
  if (block.needs === undefined) {
    const [program, args] = place.shell(script, folder);
    return { program, args, options: { env: environment } };
  }
  const exported = Object.entries(environment).filter(([name]) => EXPORTED.test(name));
  const own = Object.entries(process.env).filter(([name]) => !EXPORTED.test(name));
  const env = Object.fromEntries([...own, ...exported]);
  return { program: "bash", args: ["-c", script], options: { cwd: join(place.home, folder), env } };
}

async function start(block: Block, stage: Stage): Promise<void> {
  // A checkout that is installed already: what remains is the command behind `npm ci`.
  const command = (block.commands[0]?.command ?? "").replace(/^npm ci.*?&& /, "");
  const { program, args, options } = invocation(`exec ${command}`, block, stage);
  const child = spawn(program, [...args], { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
  stage.running.push(child);
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
