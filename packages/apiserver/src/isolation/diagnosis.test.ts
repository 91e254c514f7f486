import { expect, test } from "vitest";
import { Diagnostician } from "./diagnosis.ts";

const killed = { code: null, signal: "SIGKILL", lastWords: "" };

test("the cluster that held the thread in most of the last reports is at fault", () => {
  const diagnostician = new Diagnostician();
  diagnostician.note({ memory: 700, holder: "a\nGET /old" }, 0);
  diagnostician.note({ memory: 700, holder: "a\nGET /old" }, 1);
  for (const at of [20_000, 20_500]) diagnostician.note({ memory: 700, holder: "b\nPATCH /x" }, at);
  diagnostician.note({ memory: 700, holder: "" }, 20_600);
  diagnostician.note({ memory: 700, holder: "a\nGET /new" }, 20_700);
  const lastWords = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
  expect(diagnostician.diagnose({ code: null, signal: "SIGABRT", lastWords }, 21_000)).toEqual({
    code: "APISERVER_WORKER_OUT_OF_MEMORY",
    reason: "it used all of its JavaScript heap",
    cluster: "b",
    request: "PATCH /x",
  });
});

test("the end of a process has the reason for which the supervisor ended it", () => {
  const diagnostician = new Diagnostician();
  diagnostician.note({ stuck: 10, holder: "a\nGET /x" }, 0);
  diagnostician.end("APISERVER_WORKER_STUCK", "it made no progress for 10 s");
  expect(diagnostician.diagnose(killed, 1)).toMatchObject({ code: "APISERVER_WORKER_STUCK", cluster: "a" });
});

test("an end without a report is a crash, and no cluster is blamed", () => {
  expect(new Diagnostician().diagnose(killed, 0)).toEqual({
    code: "APISERVER_WORKER_CRASHED",
    reason: "signal SIGKILL",
    cluster: undefined,
    request: undefined,
  });
});

test("an uncaught exception is reported with the cluster that held the thread", () => {
  const diagnostician = new Diagnostician();
  diagnostician.note({ crash: "boom", holder: "a\nGET /x" }, 0);
  const about = { code: "APISERVER_WORKER_CRASHED", reason: "boom", cluster: "a", request: "GET /x" };
  expect(diagnostician.diagnose({ code: 1, signal: null, lastWords: "" }, 1)).toEqual(about);
});
