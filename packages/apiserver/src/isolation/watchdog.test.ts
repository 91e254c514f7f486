import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { ThreadTime } from "../flow/thread-time.ts";
import type { Report } from "./messages.ts";
import { startWatchdog } from "./watchdog.ts";
import { WATCHDOG_CHILD } from "./watchdog-child.ts";

test("a management process that is stuck says who holds it and aborts", async () => {
  const child = spawn(process.execPath, [WATCHDOG_CHILD], { stdio: ["ignore", "ignore", "pipe"] });
  const [output, [, signal]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(signal).toBe("SIGABRT");
  const line = output.split("\n").find((told) => told.startsWith("{"));
  expect(JSON.parse(line ?? "{}")).toMatchObject({
    level: 50,
    code: "APISERVER_STUCK",
    cluster: "mallory",
    request: "GET /x",
  });
});

test("a process that is free again is told how long it was held, and by whom", async () => {
  const thread = new ThreadTime();
  const reports: Report[] = [];
  const recovered = Promise.withResolvers<void>();
  const watchdog = startWatchdog({
    thread,
    near: Infinity,
    report: (report) => {
      reports.push(report);
      if (report.stuck === 0) recovered.resolve();
    },
  });
  thread.run({ cluster: "a", request: "GET /x" }, () => {
    // What counts is processor time.
    for (const begun = process.cpuUsage(); process.cpuUsage(begun).user < 4e6;);
  });
  await recovered.promise;
  watchdog.stop();
  expect(watchdog.last).toBe("a\nGET /x");
  expect(reports[0]).toMatchObject({ holder: "a\nGET /x" });
  expect(reports[0]?.stuck).toBeGreaterThanOrEqual(1);
});
