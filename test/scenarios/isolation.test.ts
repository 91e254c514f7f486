/**
 * Logical clusters in worker processes: the quick cases. What takes long, such as a worker that is stuck:
 * long/isolation.test.ts.
 */
import { request } from "node:https";
import { getPriority } from "node:os";
import { describe, expect, test, vi } from "vitest";
import { pidOf, readAgain, setIsolationStage } from "../support/isolation-stage.ts";
import { TIMEOUT } from "../support/processes.ts";

// Processes start slowly next to others on a busy machine.
vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const stage = setIsolationStage();

describe("a worker process", () => {
  test("that is killed is started again with all that was written", async () => {
    const server = await stage().start();
    const mallory = await stage().tenant(server, "mallory");
    const pid = pidOf(server, "mallory");
    process.kill(pid, "SIGKILL");
    expect(await stage().logged("APISERVER_WORKER_CRASHED")).toMatchObject({ pid, reason: "signal SIGKILL" });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });

  test("has a lower priority than the management process", async () => {
    const server = await stage().start();
    await stage().tenant(server, "a");
    // 19 is the lowest there is: a test that runs with it cannot see a difference.
    expect(getPriority(pidOf(server, "a"))).toBeGreaterThanOrEqual(Math.min(19, getPriority(process.pid) + 1));
  });
});

describe("a cluster", () => {
  test("is not reachable at the management address, which does not reveal whether it exists", async () => {
    const server = await stage().start();
    await stage().tenant(server, "a");
    const statuses = await Promise.all(
      ["a", "none"].map((name) => status(`${server.management.url}/clusters/${name}/api`)),
    );
    expect(statuses).toEqual([401, 401]);
  });
});

function status(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}
