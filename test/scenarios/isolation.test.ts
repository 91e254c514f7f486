/**
 * Logical clusters in worker processes: what one of them does to its process hurts neither the management cluster nor the clusters of another
 * worker, and nothing that was written is lost.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:https";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { restoreApiServer, startApiServer, type ApiServer, type IsolationOptions } from "@causeway/apiserver";
import { createLog, messageOf, systemClock, type Clock } from "@causeway/foundation";
import { ConfigMap, createClient, isNotFound, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { createEmbeddedRuntime } from "@causeway/hosted-control-plane";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ISOLATED_SERVER, type Said, type Wanted } from "../support/isolated-server.ts";
import { PATIENCE } from "../support/processes.ts";
import { OBEDIENT_WORKER, type Order } from "../support/obedient-worker.ts";

/** Milliseconds that a request of this suite may take, beside other suites on a busy machine. A process that hangs never answers. */
const ANSWER = 60_000;
/** Of processor time: starts and ordinary requests take less in one turn. */
const stuckAfter = 3000;

/** Milliseconds for which a cluster is not served the first time. */
const PAUSE = 30_000;

let root: string;
let lines: { readonly [field: string]: unknown }[];
const ending: (() => unknown)[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "isolation-"));
  lines = [];
  process.env["CAUSEWAY_TEST_ORDER"] = join(root, "order");
});
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
  delete process.env["CAUSEWAY_TEST_ORDER"];
  rmSync(root, { recursive: true, force: true });
});

async function start(isolation: IsolationOptions = {}, dir = "state", clock = systemClock): Promise<ApiServer> {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]) };
  const server = await startApiServer({
    dir: join(root, dir),
    clock,
    log: createLog({ destination }),
    isolation: { program: OBEDIENT_WORKER, ...isolation },
  });
  ending.push(() => server.close());
  return server;
}

function clientOf(kubeconfig: string): KubernetesClient {
  const client = createClient(loadKubeconfig({ text: kubeconfig }));
  ending.push(() => client.close());
  return client;
}

/** A logical cluster with one object in it, and a client of it. */
async function tenant(server: ApiServer, name: string, options = {}): Promise<KubernetesClient> {
  const client = clientOf(await (await server.ensureCluster(name, options)).kubeconfig());
  await client.create(ConfigMap, object(name));
  return client;
}

const object = (of: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "kept", namespace: "default" },
  data: { of },
});
const read = (client: KubernetesClient) =>
  client.get(ConfigMap, { namespace: "default", name: "kept" }, { signal: AbortSignal.timeout(ANSWER) });

/** Asks until the answer comes: a worker that is started again needs a moment. */
async function readAgain(client: KubernetesClient): Promise<ConfigMap> {
  for (;;) {
    try {
      return await read(client);
    } catch (error) {
      if (isNotFound(error)) throw error;
      await systemClock.sleep(50);
    }
  }
}

async function until<T>(find: () => T | undefined): Promise<T> {
  for (const end = Date.now() + PATIENCE; Date.now() < end;) {
    const found = find();
    if (found !== undefined) return found;
    await systemClock.sleep(20);
  }
  throw new Error(`not in ${PATIENCE} ms; it logged:\n${lines.map((line) => JSON.stringify(line)).join("\n")}`);
}

/** The error line with a code, once it is logged. */
const logged = (code: string, after = 0) => until(() => lines.slice(after).find((line) => line["code"] === code));

function pidOf(server: ApiServer, cluster: string): number {
  return server.workers.find(({ clusters }) => clusters.includes(cluster))?.pid ?? 0;
}

/** Has the worker of a cluster do harm, as if a request of that cluster did. */
function order(server: ApiServer, cluster: string, harm: Order["harm"]): void {
  const told: Order = { harm, cluster, request: `PATCH /api/v1/namespaces/default/configmaps/${harm} user mallory` };
  writeFileSync(join(root, "order"), JSON.stringify(told));
  process.kill(pidOf(server, cluster), "SIGUSR2");
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a worker process", () => {
  test("that is stuck is reported with the cluster and the request, ended and started again, while all others are served", async () => {
    const server = await start({ stuckAfter });
    const [mallory, other] = [await tenant(server, "mallory"), await tenant(server, "other")];
    const management = clientOf(await server.management.kubeconfig());
    await management.create(ConfigMap, object("management"));
    const before = pidOf(server, "mallory");
    expect(pidOf(server, "other")).not.toBe(before);
    const { url } = server.cluster("mallory") ?? {};
    order(server, "mallory", "spin");
    // Both are asked again and again until the worker is ended: neither may stand behind it.
    let answers = 0;
    while (!lines.some((line) => line["code"] === "APISERVER_WORKER_STUCK")) {
      await Promise.all([read(other), read(management)]);
      answers += 1;
    }
    expect(answers).toBeGreaterThan(10);
    expect(await logged("APISERVER_WORKER_STUCK")).toMatchObject({
      level: 50,
      cluster: "mallory",
      request: "PATCH /api/v1/namespaces/default/configmaps/spin user mallory",
      pid: before,
    });
    expect(lines.find((line) => line["msg"] === "a request holds the thread of a worker process")).toMatchObject({
      cluster: "mallory",
    });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
    expect(server.cluster("mallory")?.url).toBe(url);
    expect(pidOf(server, "mallory")).not.toBe(before);
    expect(pidOf(server, "other")).toBe(server.workers[1]?.pid);
    expect(server.workers.map(({ restarts }) => restarts)).toEqual([1, 0]);
  });

  test("that eats memory ends alone, and its cluster is named", async () => {
    const server = await start({ heap: 96, stuckAfter: 3_600_000 });
    const [mallory, other] = [await tenant(server, "mallory"), await tenant(server, "other")];
    order(server, "mallory", "eat");
    expect(await logged("APISERVER_WORKER_OUT_OF_MEMORY")).toMatchObject({ level: 50, cluster: "mallory" });
    expect(await read(other)).toMatchObject({ data: { of: "other" } });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });

  test("that reaches its limit of resident memory before its heap is full is ended", async () => {
    const server = await start({ heap: 4096, resident: 400, stuckAfter: 3_600_000 });
    const mallory = await tenant(server, "mallory");
    order(server, "mallory", "eat");
    const line = await logged("APISERVER_WORKER_OUT_OF_MEMORY");
    expect(line).toMatchObject({ cluster: "mallory", reason: expect.stringContaining("of 400 MiB") });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });

  test("that is killed is started again with all that was written", async () => {
    const server = await start();
    const mallory = await tenant(server, "mallory");
    const pid = pidOf(server, "mallory");
    process.kill(pid, "SIGKILL");
    expect(await logged("APISERVER_WORKER_CRASHED")).toMatchObject({ pid, reason: "signal SIGKILL" });
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });

  test("has a lower priority than the management process", async () => {
    const server = await start();
    await tenant(server, "a");
    expect(getPriority(pidOf(server, "a"))).toBeGreaterThan(getPriority(process.pid));
  });
});

describe("a cluster", () => {
  test("that ends its worker three times is answered with 503, and the others of the worker are served", async () => {
    // The first pause is over when the test says so.
    const over = Promise.withResolvers<void>();
    let now = systemClock.now();
    const clock: Clock = {
      now: () => now,
      sleep: (time, signal) => (time === PAUSE ? over.promise : systemClock.sleep(time, signal)),
    };
    const server = await start({ workers: 1 }, "state", clock);
    const [mallory, other] = [await tenant(server, "mallory"), await tenant(server, "other")];
    const changed: string[] = [];
    server.onChange((cluster) => changed.push(cluster));
    for (let i = 0; i < 3; i++) {
      await readAgain(mallory);
      const after = lines.length;
      order(server, "mallory", "throw");
      expect(await logged("APISERVER_WORKER_CRASHED", after)).toMatchObject({
        cluster: "mallory",
        reason: "told to throw",
      });
    }
    expect(await readAgain(other)).toMatchObject({ data: { of: "other" } });
    const refused = await mallory
      .get(ConfigMap, { namespace: "default", name: "kept" }, { signal: AbortSignal.timeout(ANSWER) })
      .catch((error: unknown) => error);
    expect(messageOf(refused)).toMatch(/not served until .*told to throw/);
    expect(server.cluster("mallory")?.parked).toMatchObject({ reason: expect.stringContaining("told to throw") });
    expect(server.cluster("other")?.parked).toBeUndefined();
    expect(changed).toEqual(["mallory"]);
    await expect(server.ensureCluster("mallory")).rejects.toMatchObject({ code: "APISERVER_CLUSTER_PARKED" });
    expect(await logged("APISERVER_CLUSTER_PARKED")).toMatchObject({ cluster: "mallory" });
    now += PAUSE;
    over.resolve();
    await until(() => (changed.length === 2 ? true : undefined));
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
  });

  test("that cannot be opened when its worker restarts is reported until it is served again", async () => {
    const server = await start({ workers: 1 });
    const [mallory, other] = [await tenant(server, "mallory"), await tenant(server, "other")];
    const runtime = createEmbeddedRuntime({ apiServer: server });
    const observed = () => runtime.observe("mallory", new AbortController().signal);
    const changed: string[] = [];
    server.onChange((cluster) => changed.push(cluster));
    const settings = join(root, "state/workers/1/clusters/mallory/cluster.json");
    const saved = readFileSync(settings, "utf8");
    writeFileSync(settings, '{"version":"none"}');
    process.kill(pidOf(server, "mallory"), "SIGKILL");
    const problem = await until(() => server.clusterProblem("mallory"));
    expect(problem).toContain("none is not a Kubernetes version");
    expect(changed).toEqual(["mallory"]);
    expect(await observed()).toMatchObject({ ready: false, message: `not served: ${problem}` });
    expect(await readAgain(other)).toMatchObject({ data: { of: "other" } });
    await until(() => lines.find((line) => line["msg"] === "a logical cluster cannot be opened; it is tried again"));
    writeFileSync(settings, saved);
    await until(() => (server.clusterProblem("mallory") === undefined ? true : undefined));
    expect(await readAgain(mallory)).toMatchObject({ data: { of: "mallory" } });
    expect(changed.at(-1)).toBe("mallory");
    expect(lines.filter((line) => line["level"] === 50 && line["cluster"] === "mallory").length).toBe(1);
  });

  test("is not reachable at the management address, nor is it told whether there is one", async () => {
    const server = await start();
    await tenant(server, "a");
    const statuses = await Promise.all(
      ["a", "none"].map((name) => status(`${server.management.url}/clusters/${name}/api`)),
    );
    expect(statuses).toEqual([401, 401]);
  });

  test("with a worker of its own takes it along when it is removed", async () => {
    const server = await start();
    await tenant(server, "shared");
    const own = await tenant(server, "own", { worker: "own" });
    const pid = pidOf(server, "own");
    expect(pidOf(server, "shared")).not.toBe(pid);
    await server.removeCluster("own");
    expect(server.cluster("own")).toBeUndefined();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(root, "state/workers/2"))).toBe(false);
    await expect(read(own)).rejects.toThrow();
    await server.removeCluster("own");
  });

  test("that was removed leaves nothing that a new one of its name has", async () => {
    const server = await start();
    await tenant(server, "a");
    await server.removeCluster("a");
    const again = clientOf(await (await server.ensureCluster("a")).kubeconfig());
    await expect(read(again)).rejects.toThrow(/not found/);
  });
});

describe("a worker process whose database is damaged", () => {
  test("does not keep others from backup and reload, and its clusters can be removed", async () => {
    const before = await start();
    for (const name of ["a", "b", "c"]) await tenant(before, name);
    await tenant(before, "own", { worker: "own" });
    await before.close();
    const placed = { a: "1", b: "2", c: "1", own: "3" };
    for (const worker of ["1", "3"]) damage(join(root, `state/workers/${worker}/state.sqlite`));
    const server = await start();
    expect(server.clusterProblem("a")).toMatch(/cannot be read|damaged/);
    expect(server.clusterProblem("b")).toBeUndefined();
    await server.reload();
    expect(await server.backup(join(root, "backup"))).toMatchObject({ missing: ["a", "c", "own"] });
    expect(lines.find((line) => line["msg"] === "the backup lacks the objects of logical clusters")).toBeDefined();
    await server.removeCluster("own");
    expect(existsSync(join(root, "state/workers/3"))).toBe(false);
    await server.removeCluster("a");
    expect(existsSync(join(root, "state/workers/1/clusters/a"))).toBe(false);
    expect(server.clusterProblem("c")).toBeDefined();
    // The last cluster of a damaged worker takes it along, and a new one of that name begins with nothing.
    await server.removeCluster("c");
    expect(existsSync(join(root, "state/workers/1"))).toBe(false);
    const again = await tenant(server, "c");
    expect(await read(again)).toMatchObject({ data: { of: "c" } });
    expect(placementOf()).toMatchObject({ clusters: { b: placed.b, c: "4" } });
  });

  test("removes, once it is repaired, what was removed in the meantime", async () => {
    const before = await start({ workers: 1 });
    for (const name of ["a", "b"]) await tenant(before, name);
    await before.close();
    const database = join(root, "state/workers/1/state.sqlite");
    copyFileSync(database, join(root, "copy"));
    damage(database);
    const server = await start({ workers: 1 });
    await server.removeCluster("a");
    expect(placementOf()).toMatchObject({ removed: { 1: ["a"] } });
    copyFileSync(join(root, "copy"), database);
    await until(() => (server.clusterProblem("b") === undefined ? true : undefined));
    await until(() => (Object.keys(placementOf().removed).length === 0 ? true : undefined));
    const again = clientOf(await (await server.ensureCluster("a")).kubeconfig());
    await expect(read(again)).rejects.toThrow(/not found/);
    expect(await read(clientOf((await server.cluster("b")?.kubeconfig()) ?? ""))).toMatchObject({ data: { of: "b" } });
  });
});

/** Overwrites the beginning of a database. */
function damage(path: string): void {
  writeFileSync(path, Buffer.concat([Buffer.alloc(4096, 0x5a), readFileSync(path).subarray(4096)]));
}

function placementOf(): { clusters: Record<string, string>; removed: Record<string, string[]> } {
  return JSON.parse(readFileSync(join(root, "state/workers/placement.json"), "utf8")) as ReturnType<typeof placementOf>;
}

describe("a server with worker processes", () => {
  test("makes and removes one cluster in the order of the calls, and uses no folder of a worker twice", async () => {
    const server = await start();
    await tenant(server, "kept");
    const made = [1, 2, 3].flatMap(() => [server.ensureCluster("a", { worker: "own" }), server.removeCluster("a")]);
    const meanwhile = server.ensureCluster("b", { worker: "own" });
    await Promise.all([...made, meanwhile]);
    expect(server.cluster("a")).toBeUndefined();
    await tenant(server, "b", { worker: "own" });
    const names = readdirSync(join(root, "state/workers")).filter((name) => name !== "placement.json");
    expect(names.toSorted()).toEqual(Object.values(placementOf().clusters).toSorted());
    expect(new Set(Object.values(placementOf().clusters)).size).toBe(2);
  });

  test("removes the folders of removed workers that an earlier process left", async () => {
    const before = await start();
    await tenant(before, "a", { worker: "own" });
    await before.removeCluster("a");
    await before.close();
    mkdirSync(join(root, "state/workers/1"));
    await start();
    expect(existsSync(join(root, "state/workers/1"))).toBe(false);
    expect(lines.find((line) => line["worker"] === "1" && line["level"] === 30)).toMatchObject({
      msg: "the state folder of a removed worker was left over, and is removed",
    });
  });

  test("is restored from one backup with the objects of all workers", async () => {
    const server = await start();
    for (const name of ["a", "b", "c"]) await tenant(server, name);
    await server.backup(join(root, "backup"));
    await server.close();
    await restoreApiServer(join(root, "backup"), { dir: join(root, "restored") });
    const restored = await start({}, "restored");
    for (const name of ["a", "b", "c"]) {
      const client = clientOf((await restored.cluster(name)?.kubeconfig()) ?? "");
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
      dir: join(root, "state"),
      isolation: { program: OBEDIENT_WORKER },
      clusters: ["a", "b", "c"],
    };
    const first = await begin(wanted);
    for (const name of wanted.clusters)
      await clientOf(first.said.kubeconfigs[name] ?? "").create(ConfigMap, object(name));
    first.child.kill("SIGKILL");
    // At once: the next start waits until the workers of the first are gone.
    const second = await begin(wanted);
    await until(() => (first.said.pids.some(isAlive) ? undefined : true));
    for (const name of wanted.clusters) {
      expect(await read(clientOf(second.said.kubeconfigs[name] ?? ""))).toMatchObject({ data: { of: name } });
    }
  });

  test("that is killed while a worker is stuck leaves no worker behind either", async () => {
    const wanted: Wanted = {
      dir: join(root, "state"),
      isolation: { program: OBEDIENT_WORKER, stuckAfter: 600_000 },
      clusters: ["a"],
    };
    const { child, said } = await begin(wanted);
    writeFileSync(
      join(root, "order"),
      JSON.stringify({ harm: "spin", cluster: "a", request: "GET /x" } satisfies Order),
    );
    const [pid = 0] = said.pids;
    process.kill(pid, "SIGUSR2");
    await systemClock.sleep(500);
    child.kill("SIGKILL");
    await until(() => (isAlive(pid) ? undefined : true));
  });
});

async function begin(wanted: Wanted): Promise<{ child: ChildProcess; said: Said }> {
  const child = fork(ISOLATED_SERVER, [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  ending.push(() => child.kill("SIGKILL"));
  child.send(wanted);
  const [said] = (await once(child, "message")) as [Said];
  return { child, said };
}

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
