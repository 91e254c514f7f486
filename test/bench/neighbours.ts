/**
 * What a tenant at its quota costs its neighbour: two embedded control planes of `causeway up`, a process of its own.
 * One tenant's clients write as fast as they get responses, up to its limit of bytes and on, when every write is
 * refused; the other one reads and writes at a fixed rate. Quiet and busy rounds take turns, so that other work of the
 * machine falls on both. `--rounds 6`, `--seconds 5` for each round, `--json FILE`. The load comes from this process,
 * which shares the machine's processors with what it measures.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { hasCode, messageOf } from "@causeway/foundation";
import { ConfigMap, createClient, isTooManyRequests, type KubernetesClient } from "@causeway/kubernetes";
import { rounded } from "./apiserver/rows.ts";
import { startWhole } from "./clusters/system.ts";
import { tenantConfig, tenantReady, type TenantOptions } from "./hosted-control-plane/tenants.ts";

const VERSION = "v1.34.4";
/** Of the tenant that fills it. */
const QUOTA = 16 * 2 ** 20;
const WRITERS = 8;
const TEXT = "x".repeat(100_000);
/** Milliseconds between two requests of the neighbour. */
const EVERY = 10;
/** That the neighbour writes in turn: two writes of one object at the same time could conflict. */
const BEATS = 100;
/** p99 next to the other tenant, by p99 alone. */
const LIMIT = 1.1;

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    rounds: { type: "string", default: "6" },
    seconds: { type: "string", default: "5" },
  },
});
const [rounds = 0, seconds = 0] = [values.rounds, values.seconds].map(Number);
if (![rounds, seconds].every((n) => Number.isInteger(n) && n > 0))
  throw new Error("--rounds and --seconds take whole numbers from 1");

const key = (name: string) => ({ namespace: "default", name });
const configMap = (name: string, text = ""): ConfigMap => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: key(name),
  data: { text },
});
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

interface Row {
  readonly name: string;
  readonly by: string;
  readonly ours: Readonly<Record<string, number>>;
  readonly limit: number;
}

const rows: Row[] = [];
const base = mkdtempSync(join(tmpdir(), "bench-neighbours-"));
const system = await startWhole(base);
const clients: KubernetesClient[] = [];
try {
  const neighbour = await tenant("neighbour");
  for (let i = 0; i < BEATS; i++) await neighbour.create(ConfigMap, configMap(`beat-${i}`));
  for (const [worker, where] of [
    ["Shared", "in the same worker process"],
    ["Own", "with a worker process of its own"],
  ] as const) {
    const full = await tenant(`full-${worker.toLowerCase()}`, { worker, limits: { bytes: QUOTA } });
    rows.push(await compare(neighbour, full, `a neighbour of a tenant at its quota, ${where}`));
  }
} finally {
  await Promise.all(clients.map((client) => client.close()));
  await system.close();
  rmSync(base, { recursive: true, force: true });
}
console.table(Object.fromEntries(rows.map(({ name, ours, limit }) => [name, { ...ours, limit }])));
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
process.exit();

async function tenant(name: string, spec: TenantOptions = {}): Promise<KubernetesClient> {
  await tenantReady(system.client, name, VERSION, spec);
  const config = await tenantConfig(system.client, name);
  if (config === undefined) throw new Error(`no kubeconfig of ${name}`);
  const client = createClient(config, { userAgent: "bench" });
  clients.push(client);
  return client;
}

async function compare(neighbour: KubernetesClient, full: KubernetesClient, name: string): Promise<Row> {
  // Both run compiled code before anything counts.
  await measure(neighbour, seconds);
  const [quiet, busy]: [number[], number[]] = [[], []];
  const writes = { accepted: 0, refused: 0, throttled: 0 };
  for (let round = 0; round < rounds; round++) {
    quiet.push(...(await measure(neighbour, seconds)));
    const stop = fill(full, writes);
    busy.push(...(await measure(neighbour, seconds)));
    await stop();
  }
  if (writes.refused === 0) throw new Error("the tenant never reached its quota: let the rounds last longer");
  const [alone, next] = [at(quiet, 0.99), at(busy, 0.99)];
  const ours = {
    p99Ratio: rounded(next / alone),
    quietP50Milliseconds: rounded(at(quiet, 0.5)),
    quietP99Milliseconds: rounded(alone),
    busyP50Milliseconds: rounded(at(busy, 0.5)),
    busyP99Milliseconds: rounded(next),
    requests: quiet.length + busy.length,
    ...writes,
  };
  return { name, by: "p99Ratio", ours, limit: LIMIT };
}

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Milliseconds of each request, reads and writes in turn; one that is late does not hold up the next. */
async function measure(client: KubernetesClient, time: number): Promise<number[]> {
  const took: number[] = [];
  const one = async (beat: ReturnType<typeof key>, isWrite: boolean): Promise<void> => {
    const begun = performance.now();
    if (isWrite) await client.patch(ConfigMap, beat, { type: "merge", body: { data: { at: String(begun) } } });
    else await client.get(ConfigMap, beat);
    took.push(performance.now() - begun);
  };
  const running: Promise<void>[] = [];
  const failures: unknown[] = [];
  const begun = performance.now();
  for (let i = 0; performance.now() - begun < time * 1_000; i++) {
    const beat = key(`beat-${Math.floor(i / 2) % BEATS}`);
    running.push(one(beat, i % 2 === 0).catch((error: unknown) => void failures.push(error)));
    await pause(Math.max(0, begun + (i + 1) * EVERY - performance.now()));
  }
  await Promise.all(running);
  // A request that fails ends the run with all that it started.
  if (failures.length > 0) throw failures[0];
  return took;
}

/** Writes of the tenant that fills its quota, by how they ended. */
interface Writes {
  accepted: number;
  /** For the quota. */
  refused: number;
  /** 429: later. */
  throttled: number;
}

/** Writes until it is stopped: first up to the quota, then in vain. Another error than a refusal ends the run. */
function fill(client: KubernetesClient, writes: Writes): () => Promise<void> {
  let isStopped = false;
  const count = (error: unknown): void => {
    if (hasCode(error, "KUBERNETES_INSUFFICIENT_STORAGE")) writes.refused++;
    else if (isTooManyRequests(error)) writes.throttled++;
    else throw new Error(`a write of the tenant at its quota: ${messageOf(error)}`, { cause: error });
  };
  const writer = async (): Promise<void> => {
    while (!isStopped)
      await client
        .create(ConfigMap, configMap(`large-${crypto.randomUUID()}`, TEXT))
        .then(() => void writes.accepted++, count);
  };
  const running = Promise.allSettled(Array.from({ length: WRITERS }, writer));
  return async () => {
    isStopped = true;
    for (const ended of await running) if (ended.status === "rejected") throw ended.reason;
  };
}
