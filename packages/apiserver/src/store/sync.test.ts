import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CRASH_CHILD } from "./crash-child.ts";

/**
 * SIGKILL does not take the kernel's cache with it, a power cut does: this records what the kernel was requested to
 * do, in what order.
 */
const CALLS = "openat,pwrite64,fsync,fdatasync,write,link";
const traced = spawnSync("strace", ["-qq", "-e", "trace=none", "true"]).status === 0;

/** Runs the writer until it has acknowledged so many writes; answers its system calls in order. */
async function callsOf(dir: string, writes: number): Promise<string[]> {
  const log = join(dir, "calls");
  const args = ["-f", "-qq", "-s", "32", "-e", `trace=${CALLS}`, "-o", log, process.execPath, CRASH_CHILD];
  const child = spawn("strace", [...args, join(dir, "state"), "0"], { stdio: ["ignore", "pipe", "ignore"] });
  let lines = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    lines += chunk.toString().split("\n").length - 1;
    // The writer ends when its output has no reader.
    if (lines > writes) child.stdout.destroy();
  });
  await once(child, "close");
  return wholeCalls(readFileSync(log, "utf8").split("\n"));
}

/**
 * strace cuts a call in two when another thread calls meanwhile. What began remains where it began; what ended is whole
 * where it ended.
 */
function wholeCalls(lines: readonly string[]): string[] {
  const begun = new Map<string, string>();
  return lines.map((line) => {
    const [, thread = "", call = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const start = /^(.*) <unfinished \.\.\.>$/.exec(call)?.[1];
    if (start !== undefined) begun.set(thread, start);
    const [, name, rest = ""] = /^<\.\.\. (\w+) resumed>(.*)$/.exec(call) ?? [];
    if (name === undefined || name.startsWith("write") || name.startsWith("pwrite")) return line;
    return `${thread} ${begun.get(thread) ?? ""}${rest}`;
  });
}

const needs = traced ? "" : " (needs strace)";
const isSync = (call: string, of: string): boolean => new RegExp(`(fsync|fdatasync)\\(${of}\\) += 0`).test(call);

it.skipIf(!traced)(`the store syncs every write before it is acknowledged${needs}`, async () => {
  const dir = mkdtempSync(join(tmpdir(), "sync-"));
  let [wal, folder] = ["", ""];
  let [isDirty, isLinked, isNamed] = [false, false, false];
  let [acknowledged, syncs, early] = [0, 0, 0];
  for (const call of await callsOf(dir, 200)) {
    wal = /state\.sqlite-wal".* = (\d+)$/.exec(call)?.[1] ?? wal;
    folder = /\/state", O_RDONLY.* = (\d+)$/.exec(call)?.[1] ?? folder;
    if (/ link\(.*state\.sqlite"\) += 0/.test(call)) isLinked = true;
    if (isLinked && isSync(call, folder)) isNamed = true;
    if (call.includes(`pwrite64(${wal},`)) isDirty = true;
    if (isSync(call, wal)) {
      isDirty = false;
      syncs += 1;
    }
    if (!call.includes('write(1, "r0-')) continue;
    acknowledged += 1;
    // A new file's name is on disk, too.
    if (isDirty || !isNamed) early += 1;
  }
  rmSync(dir, { recursive: true });
  expect(acknowledged).toBeGreaterThan(100);
  expect(syncs).toBeGreaterThan(acknowledged / 5 - 5);
  expect(early).toBe(0);
});
