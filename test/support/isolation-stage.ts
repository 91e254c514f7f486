/** API servers with worker processes in a folder of a test's own, and clients of their clusters. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer, type ApiServer, type IsolationOptions } from "@causeway/apiserver";
import { createLog, systemClock } from "@causeway/foundation";
import { ConfigMap, createClient, isNotFound, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { afterEach, beforeEach } from "vitest";
import { OBEDIENT_WORKER, type Order } from "./obedient-worker.ts";
import { TIMEOUT } from "./processes.ts";

/** Milliseconds that a request may take, next to other suites on a busy machine. A process that hangs never answers. */
export const ANSWER = 60_000;

/** What one test has: all of it ends with the test. */
export class IsolationStage {
  readonly root = mkdtempSync(join(tmpdir(), "isolation-"));
  /** What the servers of the test have logged. */
  readonly lines: Readonly<Record<string, unknown>>[] = [];
  /** What is done after the test, the last one first. */
  readonly ending: (() => unknown)[] = [];

  async start(isolation: IsolationOptions = {}, dir = "state", clock = systemClock): Promise<ApiServer> {
    const destination = {
      write: (line: string) => void this.lines.push(JSON.parse(line) as (typeof this.lines)[number]),
    };
    const server = await startApiServer({
      dir: join(this.root, dir),
      clock,
      log: createLog({ destination }),
      isolation: { program: OBEDIENT_WORKER, ...isolation },
    });
    this.ending.push(() => server.close());
    return server;
  }

  clientOf(kubeconfig: string): KubernetesClient {
    const client = createClient(loadKubeconfig({ text: kubeconfig }));
    this.ending.push(() => client.close());
    return client;
  }

  /** A logical cluster with one object in it, and a client of it. */
  async tenant(server: ApiServer, name: string, options = {}): Promise<KubernetesClient> {
    const client = this.clientOf(await (await server.ensureCluster(name, options)).kubeconfig());
    await client.create(ConfigMap, object(name));
    return client;
  }

  async until<T>(find: () => T | undefined): Promise<T> {
    for (const end = Date.now() + TIMEOUT; Date.now() < end;) {
      const found = find();
      if (found !== undefined) return found;
      await systemClock.sleep(20);
    }
    const logged = this.lines.map((line) => JSON.stringify(line)).join("\n");
    throw new Error(`not in ${TIMEOUT} ms; it logged:\n${logged}`);
  }

  /** The error line with a code, once it is logged. */
  logged(code: string, after = 0): Promise<Readonly<Record<string, unknown>>> {
    return this.until(() => this.lines.slice(after).find((line) => line["code"] === code));
  }

  /** Has the worker of a cluster do harm, as if a request of that cluster did. */
  order(server: ApiServer, cluster: string, harm: Order["harm"]): void {
    const request = `PATCH /api/v1/namespaces/default/configmaps/${harm} user mallory`;
    this.command({ harm, cluster, request }, pidOf(server, cluster));
  }

  /** Has the worker process do harm. */
  command(order: Order, pid: number): void {
    writeFileSync(join(this.root, "order"), JSON.stringify(order));
    process.kill(pid, "SIGUSR2");
  }

  async close(): Promise<void> {
    for (const end of this.ending.splice(0).toReversed()) await end();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A stage for each test of the file. */
export function setIsolationStage(): () => IsolationStage {
  let stage: IsolationStage | undefined;
  beforeEach(() => {
    stage = new IsolationStage();
    process.env["CAUSEWAY_TEST_ORDER"] = join(stage.root, "order");
  });
  afterEach(async () => {
    await stage?.close();
    delete process.env["CAUSEWAY_TEST_ORDER"];
  });
  return () => {
    if (!stage) throw new Error("the stage is not set");
    return stage;
  };
}

export const object = (of: string): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "kept", namespace: "default" },
  data: { of },
});

export const read = (client: KubernetesClient): Promise<ConfigMap> =>
  client.get(ConfigMap, { namespace: "default", name: "kept" }, { signal: AbortSignal.timeout(ANSWER) });

/** Asks until the answer comes: a worker that is started again needs a moment. */
export async function readAgain(client: KubernetesClient): Promise<ConfigMap> {
  for (;;) {
    try {
      return await read(client);
    } catch (error) {
      if (isNotFound(error)) throw error;
      await systemClock.sleep(50);
    }
  }
}

export function pidOf(server: ApiServer, cluster: string): number {
  return server.workers.find(({ clusters }) => clusters.includes(cluster))?.pid ?? 0;
}
