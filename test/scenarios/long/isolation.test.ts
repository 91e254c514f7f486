/**
 * Logical clusters in worker processes: what one of them does to its process hurts neither the management cluster nor
 * the clusters of another worker, and nothing that was written is lost. The quick cases are in
 * test/scenarios/isolation.test.ts.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { restoreApiServer } from "@causeway/apiserver";
import { messageOf, systemClock, type Clock } from "@causeway/foundation";
import { createEmbeddedRuntime } from "@causeway/hosted-control-plane";
import { ConfigMap } from "@causeway/kubernetes";
import { describe, expect, test, vi } from "vitest";
import { ISOLATED_SERVER, type Said, type Wanted } from "../../support/isolated-server.ts";
import { ANSWER, object, pidOf, read, readAgain, setIsolationStage } from "../../support/isolation-stage.ts";
import { OBEDIENT_WORKER } from "../../support/obedient-worker.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

/** Of processor time: starts and ordinary requests take less in one turn. */
const stuckAfter = 3000;

/** Milliseconds for which a cluster is not served the first time. */
const PAUSE = 30_000;

const stage = setIsolationStage();

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a worker process", () => {
  test("that is stuck is reported with the cluster and the request, ended and started again, while all others are served", async () => {
    const server = await stage().start({ stuckAfter });
    const [mallory, other] = [await stage().tenant(server, "mallory"), await stage().tenant(server, "other")];
    const management = stage().clientOf(await server.management.kubeconfig());
    await management.create(ConfigMap, object("management"));
    const before = pidOf(server, "mallory");
    expect(pidOf(server, "other")).not.toBe(before);
    const { url } = server.cluster("mallory") ?? {};
    stage().order(server, "mallory", "spin");
    // Both are requested again and again until the worker is ended: neither may wait for it.
    let answers = 0;
    while (!stage().lines.some((line) => line["code"] === "APISERVER_WORKER_STUCK")) {
      await Promise.all([read(other), read(management)]);
      answers += 1;
    }
    expect(answers).toBeGreaterThan(10);
    expect(await stage().logged("APISERVER_WORKER_STUCK")).toMatchObject({
      level: "error",
      cluster: "mallory",
      request: "PATCH /api/v1/namespaces/default/configmaps/spin user mallory",
      pid: before,
    });
    expect(
      stage().lines.find((line) => line["msg"] === "a request holds the thread of a worker process"),
    ).toMatchObject({
      cluster: "mallory",
    });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
    expect(server.cluster("mallory")?.url).toBe(url);
    expect(pidOf(server, "mallory")).not.toBe(before);
    expect(pidOf(server, "other")).toBe(server.workers[1]?.pid);
    expect(server.workers.map(({ restarts }) => restarts)).toEqual([1, 0]);
  });

  test("that eats memory ends alone, and its cluster is named", async () => {
    const server = await stage().start({ heap: 96, stuckAfter: 3_600_000 });
    const [mallory, other] = [await stage().tenant(server, "mallory"), await stage().tenant(server, "other")];
    stage().order(server, "mallory", "eat");
    expect(await stage().logged("APISERVER_WORKER_OUT_OF_MEMORY")).toMatchObject({
      level: "error",
      cluster: "mallory",
    });
    expect(await read(other)).toMatchObject({ data: { of: "other" } });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });

  test("that reaches its limit of resident memory before its heap is full is ended", async () => {
    const server = await stage().start({ heap: 4096, resident: 400, stuckAfter: 3_600_000 });
    const mallory = await stage().tenant(server, "mallory");
    stage().order(server, "mallory", "eat");
    const line = await stage().logged("APISERVER_WORKER_OUT_OF_MEMORY");
    expect(line).toMatchObject({ cluster: "mallory", reason: expect.stringContaining("of 400 MiB") });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });
});

describe("a cluster", () => {
  test("that ends its worker three times gets 503, and the others of the worker are served", async () => {
    // The first pause is over when the test says so.
    const over = Promise.withResolvers<void>();
    let now = systemClock.now();
    const clock: Clock = {
      now: () => now,
      sleep: (time, signal) => (time === PAUSE ? over.promise : systemClock.sleep(time, signal)),
    };
    const server = await stage().start({ workers: 1 }, "state", clock);
    const [mallory, other] = [await stage().tenant(server, "mallory"), await stage().tenant(server, "other")];
    const changed: string[] = [];
    server.onChange((cluster) => changed.push(cluster));
    for (let i = 0; i < 3; i++) {
      await readAgain(mallory);
      const after = stage().lines.length;
      stage().order(server, "mallory", "throw");
      expect(await stage().logged("APISERVER_WORKER_CRASHED", after)).toMatchObject({
        cluster: "mallory",
        reason: "ordered to throw",
      });
    }
    expect(await readAgain(other)).toMatchObject({ data: { of: "other" } });
    const refused = await mallory
      .get(ConfigMap, { namespace: "default", name: "kept" }, { signal: AbortSignal.timeout(ANSWER) })
      .catch((error: unknown) => error);
    expect(messageOf(refused)).toMatch(/not served until .*ordered to throw/);
    expect(server.cluster("mallory")?.parked).toMatchObject({ reason: expect.stringContaining("ordered to throw") });
    expect(server.cluster("other")?.parked).toBeUndefined();
    expect(changed).toEqual(["mallory"]);
    await expect(server.ensureCluster("mallory")).rejects.toMatchObject({ code: "APISERVER_CLUSTER_PARKED" });
    expect(await stage().logged("APISERVER_CLUSTER_PARKED")).toMatchObject({ cluster: "mallory" });
    now += PAUSE;
    over.resolve();
    await stage().until(() => (changed.length === 2 ? true : undefined));
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });

  test("that cannot be opened when its worker restarts is reported until it is served again", async () => {
    const server = await stage().start({ workers: 1 });
    const [mallory, other] = [await stage().tenant(server, "mallory"), await stage().tenant(server, "other")];
    const runtime = createEmbeddedRuntime({ apiServer: server });
    const observed = () => runtime.observe("mallory", new AbortController().signal);
    const changed: string[] = [];
    server.onChange((cluster) => changed.push(cluster));
    const settings = join(stage().root, "state/workers/1/clusters/mallory/cluster.json");
    const saved = readFileSync(settings, "utf8");
    writeFileSync(settings, '{"version":"none"}');
    process.kill(pidOf(server, "mallory"), "SIGKILL");
    const problem = await stage().until(() => server.clusterProblem("mallory"));
    expect(problem).toContain("none is not a Kubernetes version");
    expect(changed).toEqual(["mallory"]);
    expect(await observed()).toMatchObject({ ready: false, message: `not served: ${problem}` });
    expect(await readAgain(other)).toMatchObject({ data: { of: "other" } });
    await stage().until(() =>
      stage().lines.find((line) => line["msg"] === "a logical cluster cannot be opened; it is retried"),
    );
    writeFileSync(settings, saved);
    await stage().until(() => (server.clusterProblem("mallory") === undefined ? true : undefined));
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
    expect(changed.at(-1)).toBe("mallory");
    expect(stage().lines.filter((line) => line["level"] === "error" && line["cluster"] === "mallory").length).toBe(1);
  });

  test("with a worker of its own takes it along when it is removed", async () => {
    const server = await stage().start();
    await stage().tenant(server, "shared");
    const own = await stage().tenant(server, "own", { worker: "own" });
    const pid = pidOf(server, "own");
    expect(pidOf(server, "shared")).not.toBe(pid);
    await server.removeCluster("own");
    expect(server.cluster("own")).toBeUndefined();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(stage().root, "state/workers/2"))).toBe(false);
    await expect(read(own)).rejects.toThrow();
    await server.removeCluster("own");
  });

  test("that was removed leaves nothing that a new one of its name has", async () => {
    const server = await stage().start();
    await stage().tenant(server, "a");
    await server.removeCluster("a");
    const again = stage().clientOf(await (await server.ensureCluster("a")).kubeconfig());
    await expect(read(again)).rejects.toThrow(/not found/);
  });
});

describe("a worker process whose database is damaged", () => {
  test("does not keep others from backup and reload, and its clusters can be removed", async () => {
    const before = await stage().start();
    for (const name of ["a", "b", "c"]) await stage().tenant(before, name);
    await stage().tenant(before, "own", { worker: "own" });
    await before.close();
    const placed = { a: "1", b: "2", c: "1", own: "3" };
    for (const worker of ["1", "3"]) damage(join(stage().root, `state/workers/${worker}/state.sqlite`));
    const server = await stage().start();
    expect(server.clusterProblem("a")).toMatch(/cannot be read|damaged/);
    expect(server.clusterProblem("b")).toBeUndefined();
    await server.reload();
    expect(await server.backup(join(stage().root, "backup"))).toMatchObject({ missing: ["a", "c", "own"] });
    expect(
      stage().lines.find((line) => line["msg"] === "the backup lacks the objects of logical clusters"),
    ).toBeDefined();
    await server.removeCluster("own");
    expect(existsSync(join(stage().root, "state/workers/3"))).toBe(false);
    await server.removeCluster("a");
    expect(existsSync(join(stage().root, "state/workers/1/clusters/a"))).toBe(false);
    expect(server.clusterProblem("c")).toBeDefined();
    // The last cluster of a damaged worker takes it along, and a new one of that name begins with nothing.
    await server.removeCluster("c");
    expect(existsSync(join(stage().root, "state/workers/1"))).toBe(false);
    const again = await stage().tenant(server, "c");
    expect(await read(again)).toMatchObject({ data: { of: "c" } });
    expect(placementOf()).toMatchObject({ clusters: { b: placed.b, c: "4" } });
  });

  test("removes, once it is repaired, what was removed in the meantime", async () => {
    const before = await stage().start({ workers: 1 });
    for (const name of ["a", "b"]) await stage().tenant(before, name);
    await before.close();
    const database = join(stage().root, "state/workers/1/state.sqlite");
    copyFileSync(database, join(stage().root, "copy"));
    damage(database);
    const server = await stage().start({ workers: 1 });
    await server.removeCluster("a");
    expect(placementOf()).toMatchObject({ removed: { 1: ["a"] } });
    copyFileSync(join(stage().root, "copy"), database);
    await stage().until(() => (server.clusterProblem("b") === undefined ? true : undefined));
    await stage().until(() => (Object.keys(placementOf().removed).length === 0 ? true : undefined));
    const again = stage().clientOf(await (await server.ensureCluster("a")).kubeconfig());
    await expect(read(again)).rejects.toThrow(/not found/);
    expect(await read(stage().clientOf((await server.cluster("b")?.kubeconfig()) ?? ""))).toMatchObject({
      data: { of: "b" },
    });
  });
});

/** Overwrites the beginning of a database. */
function damage(path: string): void {
  writeFileSync(path, Buffer.concat([Buffer.alloc(4096, 0x5a), readFileSync(path).subarray(4096)]));
}

function placementOf(): { clusters: Record<string, string>; removed: Record<string, string[]> } {
  return JSON.parse(readFileSync(join(stage().root, "state/workers/placement.json"), "utf8")) as ReturnType<
    typeof placementOf
  >;
}

describe("a server with worker processes", () => {
  test("makes and removes one cluster in the order of the calls, and uses no folder of a worker twice", async () => {
    const server = await stage().start();
    await stage().tenant(server, "kept");
    const made = [1, 2, 3].flatMap(() => [server.ensureCluster("a", { worker: "own" }), server.removeCluster("a")]);
    const meanwhile = server.ensureCluster("b", { worker: "own" });
    await Promise.all([...made, meanwhile]);
    expect(server.cluster("a")).toBeUndefined();
    await stage().tenant(server, "b", { worker: "own" });
    const names = readdirSync(join(stage().root, "state/workers")).filter((name) => name !== "placement.json");
    expect(names.toSorted()).toEqual(Object.values(placementOf().clusters).toSorted());
    expect(new Set(Object.values(placementOf().clusters)).size).toBe(2);
  });

  test("removes the folders of removed workers that an earlier process left", async () => {
    const before = await stage().start();
    await stage().tenant(before, "a", { worker: "own" });
    await before.removeCluster("a");
    await before.close();
    mkdirSync(join(stage().root, "state/workers/1"));
    await stage().start();
    expect(existsSync(join(stage().root, "state/workers/1"))).toBe(false);
    const removed = "the state folder of a removed worker was left over, and is removed";
    expect(stage().lines.filter(({ msg }) => msg === removed)).toMatchObject([{ worker: "1", level: "info" }]);
  });

  test("is restored from one backup with the objects of all workers", async () => {
    const server = await stage().start();
    for (const name of ["a", "b", "c"]) await stage().tenant(server, name);
    await server.backup(join(stage().root, "backup"));
    await server.close();
    await restoreApiServer(join(stage().root, "backup"), { dir: join(stage().root, "restored") });
    const restored = await stage().start({}, "restored");
    for (const name of ["a", "b", "c"]) {
      const client = stage().clientOf((await restored.cluster(name)?.kubeconfig()) ?? "");
      expect(await read(client)).toMatchObject({ data: { of: name } });
      expect(Number((await read(client)).metadata.resourceVersion)).toBeLessThan(1_000_000);
      const made = await client.create(ConfigMap, {
        ...object("new"),
        metadata: { name: "new", namespace: "default" },
      });
      expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(1_000_000_000);
    }
  });

  test("leaves no worker behind when it is killed, and the next start has all that was written", async () => {
    const wanted: Wanted = {
      dir: join(stage().root, "state"),
      isolation: { program: OBEDIENT_WORKER },
      clusters: ["a", "b", "c"],
    };
    const first = await begin(wanted);
    for (const name of wanted.clusters)
      await stage()
        .clientOf(first.said.kubeconfigs[name] ?? "")
        .create(ConfigMap, object(name));
    first.child.kill("SIGKILL");
    // At once: the next start waits until the workers of the first are gone.
    const second = await begin(wanted);
    await stage().until(() => (first.said.pids.some(isAlive) ? undefined : true));
    for (const name of wanted.clusters) {
      expect(await read(stage().clientOf(second.said.kubeconfigs[name] ?? ""))).toMatchObject({ data: { of: name } });
    }
  });

  test("that is killed while a worker is stuck leaves no worker behind either", async () => {
    const wanted: Wanted = {
      dir: join(stage().root, "state"),
      isolation: { program: OBEDIENT_WORKER, stuckAfter: 600_000 },
      clusters: ["a"],
    };
    const { child, said } = await begin(wanted);
    const [pid = 0] = said.pids;
    stage().command({ harm: "spin", cluster: "a", request: "GET /x" }, pid);
    await systemClock.sleep(500);
    child.kill("SIGKILL");
    await stage().until(() => (isAlive(pid) ? undefined : true));
  });
});

async function begin(wanted: Wanted): Promise<{ child: ChildProcess; said: Said }> {
  const child = fork(ISOLATED_SERVER, [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  stage().ending.push(() => child.kill("SIGKILL"));
  child.send(wanted);
  const [said] = (await once(child, "message")) as [Said];
  return { child, said };
}
