import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SCRIPT = `
  import { lowerPriority, niceAfter, threadsOf } from ${JSON.stringify(new URL("./priority.ts", import.meta.url).href)};
  import { readFileSync } from "node:fs";
  import { Worker } from "node:worker_threads";
  const before = threadsOf();
  new Worker("setTimeout(() => {}, 60_000)", { eval: true });
  lowerPriority(before, niceAfter(5));
  const niceOf = (id) => Number(readFileSync("/proc/self/task/" + id + "/stat", "latin1").split(") ")[1].split(" ")[16]);
  const later = threadsOf().filter((id) => !before.includes(id));
  console.log(JSON.stringify({ before: before.map(niceOf), later: later.map(niceOf) }));
  process.exit(0);
`;

test.runIf(process.platform === "linux")(
  "all threads that a worker process began with get the lower priority, its watchdog keeps the old one",
  () => {
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT], { encoding: "utf8" });
    expect(stderr).toBe("");
    const { before, later } = JSON.parse(stdout) as { before: number[]; later: number[] };
    const own = Number(readFileSync("/proc/self/stat", "latin1").split(") ")[1]?.split(" ")[16]);
    expect(before.length).toBeGreaterThan(1);
    expect(new Set(before)).toEqual(new Set([Math.min(19, own + 5)]));
    expect(new Set(later)).toEqual(new Set([own]));
  },
);
