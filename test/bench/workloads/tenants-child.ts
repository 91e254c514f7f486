/**
 * Serves tenants that run their own workloads, as `causeway up` does: `node tenants-child.ts DIR`. The parent sends how
 * many; each gets a Deployment of one pod, so that its scheduler and all of its controllers run. Reports "ready", then
 * the worker processes, and how long the slowest pod took from its Deployment on.
 */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { startApiServer } from "@causeway/apiserver";
import { bundled } from "@causeway/causeway/bundled";
import { createClient, Deployment, loadKubeconfig, Pod, type KubernetesClient } from "@causeway/kubernetes";
import { deploymentOf, key } from "./objects.ts";
import { inParallel } from "../in-parallel.ts";

const AT_ONCE = 4;
const main = bundled("main");
const program =
  main === undefined
    ? resolve(import.meta.dirname, "../../../packages/causeway/src/workloads/worker-main.ts")
    : join(dirname(fileURLToPath(main)), "worker.js");

process.once("disconnect", () => process.exit());
const server = await startApiServer({ dir: process.argv[2] ?? "", isolation: { program, heap: 3072, resident: 4096 } });
process.send?.({ ready: true });
process.once("message", (count: number) => void fill(count));

async function fill(count: number): Promise<void> {
  let slowest = 0;
  const measured = async (name: string): Promise<void> => {
    const took = await add(name);
    slowest = Math.max(slowest, took);
  };
  await inParallel(
    Array.from({ length: count }, (_, i) => `tenant-${i}`),
    measured,
    AT_ONCE,
  );
  process.send?.({ workers: server.workers.map(({ pid }) => pid), slowest });
}

/** Returns once the tenant's controllers have made the pod: the milliseconds since its Deployment was created. */
async function add(name: string): Promise<number> {
  const tenant = await server.ensureCluster(name, { controllers: true });
  const client = createClient(loadKubeconfig({ text: await tenant.kubeconfig() }));
  try {
    await client.create(Deployment, deploymentOf(1));
    const created = performance.now();
    while (!(await hasPod(client))) await new Promise((done) => setTimeout(done, 20));
    return performance.now() - created;
  } finally {
    await client.close();
  }
}

async function hasPod(client: KubernetesClient): Promise<boolean> {
  const { items } = await client.list(Pod, { namespace: key.namespace });
  return items.some(({ status }) => status?.conditions?.some(({ type }) => type === "PodScheduled"));
}
