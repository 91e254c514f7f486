import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, VirtualClock, type Log } from "@causeway/foundation";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { SupervisedWorker } from "./supervised-worker.ts";

vi.setConfig({ testTimeout: 60_000 });

/**
 * A worker that notes what it is called, and reports a surplus each time it is called for a snapshot; also when it has
 * opened its state, again and again until it is called: a report that comes with the response to "open" is not heard.
 */
const PROGRAM = `
import { appendFileSync, writeSync } from "node:fs";
const file = process.env.RENEWAL_TEST_FILE;
process.on("disconnect", () => process.exit());
let reporting;
process.on("message", ({ id, call }) => {
  clearInterval(reporting);
  appendFileSync(file, process.pid + " " + call + "\\n");
  if (call === "ready" && process.env.RENEWAL_TEST_FAILS) process.exit(3);
  process.send({ id, result: call === "open" ? [] : null });
  const report = () => process.send({ surplus: 150 * 1024 * 1024 });
  if (call === "open") reporting = setInterval(report, 50);
  if (call === "snapshot") setTimeout(report, 50);
  // What its watchdog would report.
  const memory = { reload: 70, park: 600 }[call];
  if (memory !== undefined) writeSync(4, JSON.stringify({ memory, holder: "" }) + "\\n");
});
`;

const folder = mkdtempSync(join(tmpdir(), "renewal-"));
let count = 0;
let notes = "";
beforeEach(() => {
  // Of each test: the process of one before may note that it is closed after that test has ended.
  notes = join(folder, `notes-${++count}`);
});

interface SupervisedParts {
  readonly log?: Log;
  readonly isRenewable?: () => boolean;
}

function supervised(failed: () => void, { log = silentLog, isRenewable = () => true }: SupervisedParts = {}) {
  const program = join(folder, "worker.mjs");
  writeFileSync(program, PROGRAM);
  const clock = new VirtualClock();
  const worker = new SupervisedWorker({
    name: "1",
    program,
    limits: { stuckAfter: 10_000, heap: 64, resident: 512 },
    clock,
    log,
    options: () => ({
      dir: folder,
      around: folder,
      host: "127.0.0.1",
      limits: { stuckAfter: 1, heap: 1, resident: 1 },
      parked: {},
      removed: [],
    }),
    opened: () => {},
    changed: () => {},
    refused: () => {},
    failed,
    isRenewable,
  });
  onTestFinished(async () => {
    const closed = worker.close(100);
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      await Promise.race([closed, Promise.reject(new Error("not yet"))]);
    });
    vi.unstubAllEnvs();
  });
  return { worker, clock };
}

const calls = (): string[] => readFileSync(notes, "utf8").trim().split("\n");

test("a worker that keeps memory without use is replaced by one that was loaded before, once an hour at most", async () => {
  vi.stubEnv("RENEWAL_TEST_FILE", notes);
  const failed = vi.fn();
  const { worker, clock } = supervised(failed);
  await worker.opened();
  const first = worker.pid;
  await vi.waitFor(() => expect(worker.pid).not.toBe(first), { timeout: 20_000 });
  await worker.opened();
  const second = worker.pid;
  expect(calls()).toEqual([`${first} open`, `${second} ready`, `${first} close`, `${second} open`]);
  // The second one reported a surplus, too: it remains for the rest of the hour.
  await worker.call("snapshot", "x");
  expect(worker.pid).toBe(second);
  await clock.advance(3_600_000);
  await worker.call("snapshot", "x");
  await vi.waitFor(() => expect(worker.pid).not.toBe(second), { timeout: 20_000 });
  await worker.opened();
  expect(failed).not.toHaveBeenCalled();
  expect(worker.restarts).toBe(0);
});

test("a worker continues where the new process does not start, and the log says so", async () => {
  vi.stubEnv("RENEWAL_TEST_FILE", notes);
  vi.stubEnv("RENEWAL_TEST_FAILS", "yes");
  const warn = vi.fn();
  const { worker } = supervised(() => {}, { log: { ...silentLog, with: () => silentLog, warn } });
  await worker.opened();
  const first = worker.pid;
  await vi.waitFor(
    () => expect(warn).toHaveBeenCalledWith(expect.stringContaining("could not be replaced"), expect.anything()),
    {
      timeout: 20_000,
    },
  );
  expect(worker.pid).toBe(first);
  expect(await worker.call("snapshot", "x")).toBeNull();
});

test("a worker whose clusters cannot be away is replaced when they can", async () => {
  vi.stubEnv("RENEWAL_TEST_FILE", notes);
  let isRenewable = false;
  const requested = vi.fn(() => isRenewable);
  const { worker } = supervised(() => {}, { isRenewable: requested });
  await worker.opened();
  const first = worker.pid;
  for (let i = 0; i < 3; i++) {
    await worker.call("snapshot", "x");
    await vi.waitFor(() => expect(requested.mock.calls.length).toBeGreaterThan(i), { timeout: 20_000 });
  }
  expect(new Set(calls().map((call) => call.split(" ")[0]))).toEqual(new Set([String(first)]));
  isRenewable = true;
  await worker.call("snapshot", "x");
  await vi.waitFor(() => expect(worker.pid).not.toBe(first), { timeout: 20_000 });
});

test("a worker is near its limit of memory for a while after a report, and longer after it ended a process", async () => {
  vi.stubEnv("RENEWAL_TEST_FILE", notes);
  const failed = vi.fn();
  const { worker, clock } = supervised(failed);
  await worker.opened();
  await vi.waitFor(() => expect(calls().at(-1)).toMatch(/ open$/), { timeout: 20_000 });
  expect(worker.isNearLimit).toBe(false);
  await worker.call("reload");
  await vi.waitFor(() => expect(worker.isNearLimit).toBe(true), { timeout: 20_000 });
  await clock.advance(9_999);
  expect(worker.isNearLimit).toBe(true);
  await clock.advance(1);
  expect(worker.isNearLimit).toBe(false);
  await worker.call("park", "a", null).catch(() => {});
  await vi.waitFor(() => expect(failed).toHaveBeenCalled(), { timeout: 20_000 });
  expect(failed.mock.calls).toMatchObject([[{ code: "APISERVER_WORKER_OUT_OF_MEMORY" }]]);
  await worker.opened();
  await clock.advance(599_999);
  expect(worker.isNearLimit).toBe(true);
  await clock.advance(1);
  expect(worker.isNearLimit).toBe(false);
});
