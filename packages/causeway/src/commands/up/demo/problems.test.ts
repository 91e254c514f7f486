import { VirtualClock } from "@causeway/foundation";
import type { ServerProblem } from "@causeway/apiserver";
import { expect, test } from "vitest";
import { followProblems } from "./problems.ts";

const full: ServerProblem = {
  check: "disk",
  code: "APISERVER_DISK_FULL",
  message: "the disk is full",
  hint: "Free space.",
};
const stuck: ServerProblem = {
  check: "workers",
  code: "APISERVER_WORKER_UNAVAILABLE",
  message: "worker 1",
  hint: "Wait.",
};

function following(timeout?: number) {
  const clock = new VirtualClock();
  const shown: string[] = [];
  const stopping = new AbortController();
  let found: readonly ServerProblem[] = [];
  const followed = followProblems(
    {
      problems: () => found,
      clock,
      show: (line) => shown.push(line),
      ...(timeout === undefined ? {} : { timeout }),
    },
    stopping.signal,
  );
  const ended = followed.then(
    () => "ended",
    (error: { code?: string }) => error.code,
  );
  return {
    shown,
    ended,
    stop: () => stopping.abort(),
    async pass(milliseconds: number, problems: readonly ServerProblem[]) {
      found = problems;
      for (let i = 0; i < milliseconds; i += 500) await clock.advance(500);
    },
  };
}

test("an unattended run ends with the problem that does not go away", async () => {
  const run = following(600_000);
  await run.pass(3000, [full]);
  await run.pass(1000, []);
  await run.pass(3000, [full]);
  expect(run.shown).toEqual(Array(2).fill("API server: the disk is full. Free space. (APISERVER_DISK_FULL)"));
  await run.pass(6000, [full]);
  expect(await run.ended).toBe("APISERVER_DISK_FULL");
});

test("an unattended run ends when its time is over, whatever it waits for", async () => {
  const run = following(10_000);
  await run.pass(11_000, [stuck]);
  expect(await run.ended).toBe("DEMO_TIMEOUT");
});

test("a run that a person watches shows the problem and continues", async () => {
  const run = following();
  await run.pass(3_600_000, [full]);
  expect(run.shown.length).toBe(1);
  run.stop();
  expect(await run.ended).toBe("ended");
});
