import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, type Log } from "@causeway/foundation";
import { expect, test } from "vitest";
import { checkDescriptors, Problems } from "./problems.ts";

test("a write that the disk refused is a problem until one succeeds, or for half a minute", () => {
  const dir = mkdtempSync(join(tmpdir(), "problems-"));
  let now = 0;
  let failure: { at: number; reason: string } | undefined = { at: 0, reason: "database or disk is full" };
  const problems = new Problems({ dir, store: () => ({ failure }), now: () => now });
  expect(problems.all).toMatchObject([{ check: "disk", code: "APISERVER_DISK_FULL" }]);
  expect(problems.all[0]?.message).toContain("database or disk is full");
  now = 30_001;
  expect(problems.all).toEqual([]);
  now = 40_000;
  failure = { at: now, reason: "again" };
  expect(new Problems({ dir, store: () => ({ failure }), now: () => now }).all.length).toBe(1);
  failure = undefined;
  now += 1000;
  expect(problems.all).toEqual([]);
  rmSync(dir, { recursive: true });
});

test("workers that do not serve their clusters are problems, one each", () => {
  const workers = () => ["worker 1: it makes no progress for 3 s"];
  const problems = new Problems({ dir: undefined, store: () => undefined, now: () => 0, workers });
  expect(problems.all).toMatchObject([{ check: "workers", message: "worker 1: it makes no progress for 3 s" }]);
});

test("a limit of descriptors that no server can work with is refused, a low one is warned of", () => {
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warned.push(message) };
  expect(() => checkDescriptors(log, 64)).toThrow(/limit of open file descriptors is 64/);
  checkDescriptors(log, 256);
  checkDescriptors(log, 1024);
  expect(warned).toEqual(["the limit of open file descriptors is 256, which bounds the number of clients"]);
});
