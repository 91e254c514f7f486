import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { ThreadTime } from "../contract/thread-time.ts";
import type { Report } from "./messages.ts";
import { startWatchdog } from "./watchdog.ts";
import { WATCHDOG_CHILD } from "./watchdog-child.ts";

test("a management process that is stuck says who holds it and aborts", { timeout: 300_000 }, async () => {
  const child = spawn(process.execPath, [WATCHDOG_CHILD], { stdio: ["ignore", "ignore", "pipe"] });
  const [output, [, signal]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(signal).toBe("SIGABRT");
  const line = output.split("\n").find((candidate) => candidate.startsWith("{"));
  expect(JSON.parse(line ?? "{}")).toMatchObject({
    level: "error",
    code: "APISERVER_STUCK",
    cluster: "mallory",
    request: "GET /x",
  });
});

test("the watchdog reports how long a process was held, and by which request", { timeout: 300_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), "watchdog-"));
  const file = join(dir, "reports");
  const fd = openSync(file, "a");
  const reports = (): Report[] =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Report);
  const still = new Int32Array(new SharedArrayBuffer(4));
  const thread = new ThreadTime();
  const watchdog = startWatchdog({ thread, near: Infinity, fd });
  try {
    // The thread is held until the watchdog has noticed, however busy the machine is.
    thread.run({ cluster: "a", request: "GET /x" }, () => {
      while (reports().length === 0) Atomics.wait(still, 0, 0, 20);
    });
    await expect.poll(() => reports().at(-1)?.stuck).toBe(0);
    expect(watchdog.last).toBe("a\nGET /x");
    expect(reports()[0]).toMatchObject({ holder: "a\nGET /x" });
    expect(reports()[0]?.stuck).toBeGreaterThanOrEqual(1);
  } finally {
    watchdog.stop();
    closeSync(fd);
    rmSync(dir, { recursive: true });
  }
});
