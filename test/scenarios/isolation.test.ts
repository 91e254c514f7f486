/**
 * Logical clusters in worker processes: the quick cases. What takes long, such as a worker that is stuck:
 * long/isolation.test.ts.
 */
import { existsSync } from "node:fs";
import { request } from "node:https";
import { getPriority } from "node:os";
import { join } from "node:path";
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

describe("a further worker process", () => {
  const further = (): readonly object[] =>
    stage().lines.filter(({ msg }) => String(msg).startsWith("a further worker process is started"));

  test("is started where those that clusters share have as many with controllers as fit", async () => {
    const server = await stage().start({ capacity: 1, resident: 600 });
    const controllers = { controllers: true };
    for (const name of ["a", "b", "c"]) await server.ensureCluster(name, controllers);
    await server.ensureCluster("d");
    expect(server.workers.map(({ clusters }) => clusters)).toEqual([["a", "d"], ["b"], ["c"]]);
    expect(further()).toMatchObject([{ worker: "3", cluster: "c", shared: 2 }]);
    const folder = join(stage().root, "state/workers/2");
    for (const name of ["c", "b"]) await server.removeCluster(name);
    expect(server.workers.map(({ name }) => name)).toEqual(["1", "3"]);
    expect(existsSync(folder)).toBe(false);
  });

  test("is started where those that clusters share are near their limit of memory", async () => {
    // Near its limit from the start: its watchdog reports that within half a second.
    const server = await stage().start({ heap: 64, resident: 600 });
    const a = await stage().tenant(server, "a");
    await stage().tenant(server, "b");
    let count = 0;
    while (server.workers.length < 3) await server.ensureCluster(`c${++count}`);
    const last = `c${count}`;
    expect(server.workers[2]).toMatchObject({ name: "3", clusters: [last] });
    expect(further()).toMatchObject([{ worker: "3", cluster: last }]);
    expect(await readAgain(a)).toMatchObject({ data: { of: "a" } });
    expect(server.workers.map(({ restarts }) => restarts)).toEqual([0, 0, 0]);
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
