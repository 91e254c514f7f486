import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { Pace } from "./pace.js";

/** Whether a worker gives way after each of some steps of a tenth of a second. */
const after = (parts: readonly number[]): readonly boolean[] => {
  const pace = new Pace();
  return parts.map((part) => {
    pace.sample(part);
    return pace.givesWay;
  });
};
const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value);

test("a worker that uses little keeps its priority", () => {
  expect(after(times(100, 0.3))).toEqual(times(100, false));
});

test("a worker gives way at once when it uses much, and until it uses little on average", () => {
  expect(after([0.1, 0.9])).toEqual([false, true]);
  // A short burst is soon forgotten, a long one for a while not.
  expect(after([1, 0, 0])).toEqual([true, false, false]);
  const long = after([...times(50, 1), ...times(50, 0)]);
  expect(long.slice(0, 50)).toEqual(times(50, true));
  expect(long.slice(50, 60)).toEqual(times(10, true));
  expect(long.slice(70)).toEqual(times(30, false));
});

const SCRIPT = `
  import { startWatchdog } from ${JSON.stringify(new URL("./watchdog.ts", import.meta.url).href)};
  import { getPriority } from "node:os";
  const nice = getPriority();
  startWatchdog({ thread: {}, near: Infinity, fd: 2, nice });
  const burn = (until) => { const end = Date.now() + 60_000; while (!until() && Date.now() < end); };
  burn(() => getPriority() !== nice);
  const low = getPriority();
  const end = Date.now() + 60_000;
  const poll = () => {
    if (getPriority() !== nice && Date.now() < end) return void setTimeout(poll, 50);
    console.log(JSON.stringify({ nice, low, after: getPriority() }));
    process.exit(0);
  };
  setTimeout(poll, 50);
`;

test.runIf(process.platform === "linux" && process.getuid?.() === 0)(
  "a worker process that is busy has a lower priority, and its own again when it is idle",
  () => {
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT], { encoding: "utf8" });
    const { nice, low, after: later } = JSON.parse(stdout) as Record<"nice" | "low" | "after", number>;
    expect([low, later]).toEqual([Math.min(19, nice + 10), nice]);
  },
  130_000,
);
