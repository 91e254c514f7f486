import { createLog, type Clock } from "@causeway/foundation";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ReopenQueue } from "./reopen-queue.ts";

let lines: string[];
let pauses: number[];
let changes: (readonly [string, string | undefined])[];
let stopping: AbortController;

beforeEach(() => {
  [lines, pauses, changes] = [[], [], []];
  stopping = new AbortController();
});
afterEach(() => stopping.abort());

/** Opening fails this many times more. */
function reopening(failures: number): ReopenQueue {
  let left = failures;
  const clock: Clock = { now: () => 0, sleep: async (time) => void pauses.push(time) };
  const destination = {
    write: (line: string) => {
      const { level, msg } = JSON.parse(line) as { level: number; msg: string };
      lines.push(`${level} ${msg}`);
    },
  };
  return new ReopenQueue({
    open: async () => {
      if (left-- > 0) throw new Error(`refused, ${left} more`);
    },
    changed: (cluster, problem) => void changes.push([cluster, problem]),
    clock,
    log: createLog({ destination }),
    signal: stopping.signal,
  });
}

async function settled(): Promise<void> {
  for (let i = 0; i < 200; i++) await Promise.resolve();
}

test("a cluster that cannot be opened is retried with growing pauses, and one error is logged when it fails twice", async () => {
  reopening(10).failed("a", new Error("first"));
  await settled();
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
  expect(lines).toEqual([
    "error a logical cluster cannot be opened; it is retried",
    "info a logical cluster is served again",
  ]);
  expect(changes.at(0)).toEqual(["a", "first"]);
  expect(changes.at(1)).toEqual(["a", "refused, 9 more"]);
  expect(changes.at(-1)).toEqual(["a", undefined]);
});

test("a cluster that fails to open once and then opens logs no error", async () => {
  reopening(0).failed("a", new Error("first"));
  await settled();
  expect(lines).toEqual(["info a logical cluster is served again"]);
});

test("a cluster that was removed is not opened again", async () => {
  const of = reopening(5);
  of.failed("a", new Error("first"));
  of.forget("a");
  await settled();
  expect(changes).toEqual([["a", "first"]]);
  expect(lines).toEqual([]);
});
