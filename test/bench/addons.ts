/**
 * Memory of the operator for add-ons: embedded tenants of `causeway up`, a process of its own, each with an AddonSet of
 * ConfigMaps; until all are applied, and until one that was deleted is back while the operator watches all of them.
 * `--tenants 300`, `--objects 40` for each, `--json FILE`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AddonSet } from "@causeway/api";
import { ConfigMap, createClient, isTrue, type Condition, type KubernetesClient } from "@causeway/kubernetes";
import { rounded } from "./apiserver/rows.ts";
import { proportionalMiB } from "./apiserver/subject.ts";
import { startWhole } from "./clusters/system.ts";
import { tenantConfig, tenantReady } from "./hosted-control-plane/tenants.ts";
import { inParallel } from "./in-parallel.ts";

const VERSION = "v1.34.4";
const AT_ONCE = 8;
/** What is still to be done after the last answer (ms): statuses, caches, events. */
const SETTLE = 10_000;
const LONGEST = 600_000;
const DELETIONS = 20;

const { values } = parseArgs({
  options: {
    json: { type: "string" },
    tenants: { type: "string", default: "300" },
    objects: { type: "string", default: "40" },
  },
});
const [tenants = 0, objects = 0] = [values.tenants, values.objects].map(Number);
if (![tenants, objects].every((n) => Number.isInteger(n) && n > 0))
  throw new Error("--tenants and --objects take whole numbers from 1");

const key = (name: string) => ({ namespace: "default", name });
const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));
const names = Array.from({ length: tenants }, (_, i) => `tenant-${i}`);
const base = mkdtempSync(join(tmpdir(), "bench-addons-"));
const system = await startWhole(base);
try {
  await inParallel(names, (name) => tenantReady(system.client, name, VERSION, { longest: LONGEST }), AT_ONCE);
  await pause(SETTLE);
  const before = proportionalMiB([{ pid: system.pid }]);
  const begun = performance.now();
  await inParallel(names, declare, AT_ONCE);
  await inParallel(names, applied, AT_ONCE);
  const seconds = (performance.now() - begun) / 1000;
  await pause(SETTLE);
  const memoryMiB = proportionalMiB([{ pid: system.pid }]) - before;
  report({ seconds, memoryMiB, memoryMiBEach: memoryMiB / tenants }, await restored(names[0] ?? ""));
} finally {
  await system.close();
  rmSync(base, { recursive: true, force: true });
}
process.exit();

async function declare(name: string): Promise<void> {
  const manifests = Array.from({ length: objects }, (_, i) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: key(`part-${i}`),
      data: { text: "x".repeat(500) },
    }),
  ).join("\n---\n");
  await system.client.create(AddonSet, {
    apiVersion: "addons.causeway.dev/v1alpha1",
    kind: "AddonSet",
    metadata: key(name),
    spec: { clusterName: name, addons: [{ name: "parts", manifests }] },
  });
}

async function applied(name: string): Promise<void> {
  await until(`add-ons of ${name}`, async () => {
    const { status } = await system.client.get(AddonSet, key(name));
    return isTrue((status?.conditions ?? []) as Condition[], "Applied");
  });
}

/** The milliseconds until an object that was deleted is there again, sorted. */
async function restored(name: string): Promise<number[]> {
  const config = await tenantConfig(system.client, name);
  if (config === undefined) throw new Error(`no kubeconfig of ${name}`);
  const client: KubernetesClient = createClient(config, { userAgent: "bench" });
  try {
    const took: number[] = [];
    // Each once: what is changed again and again is restored later.
    for (let i = 0; i < Math.min(DELETIONS, objects); i++) {
      const part = key(`part-${i}`);
      const begun = performance.now();
      await client.delete(ConfigMap, part);
      await until(part.name, async () => (await client.find(ConfigMap, part)) !== undefined);
      took.push(performance.now() - begun);
    }
    return took.toSorted((a, b) => a - b);
  } finally {
    await client.close();
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LONGEST; performance.now() < end;) {
    if (await holds()) return;
    await pause(10);
  }
  throw new Error(`not within ${LONGEST / 1000} s: ${what}`);
}

function report(all: { seconds: number; memoryMiB: number; memoryMiBEach: number }, took: readonly number[]): void {
  const round = (given: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, rounded(value)]));
  const milliseconds = took[Math.floor(took.length / 2)] ?? 0;
  const rows = [
    { name: `add-ons of ${tenants} tenants with ${objects} objects each`, by: "memoryMiBEach", ours: round(all) },
    {
      name: "a deleted object is back",
      by: "p50Milliseconds",
      ours: round({ p50Milliseconds: milliseconds, longestMilliseconds: took.at(-1) ?? 0 }),
      limit: 5_000,
    },
  ];
  console.table(Object.fromEntries(rows.map((row) => [row.name, row.ours])));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, null, 2)}\n`);
}
