/**
 * The API server is killed (SIGKILL) under write load, again and again, on one state folder. Every promise it made
 * before is held against what it returns afterwards: nothing acknowledged is lost, nothing is there by half, no
 * revision names two states, watches that resume miss and repeat nothing, and no address or port is given twice.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Api } from "./durability/api.ts";
import { COLLECTIONS, serialOf, type Collection, type Observed } from "./durability/collections.ts";
import { Ledger, type Held } from "./durability/ledger.ts";
import { Clientele, forkServer, ServerProcess } from "./durability/server.ts";
import { Watcher } from "./durability/watcher.ts";
import { write, type Random } from "./durability/writer.ts";

const ROUNDS = Number(process.env["CAUSEWAY_FAULT_KILLS"] ?? 200);
const WRITERS = 24;
/** Writes acknowledged before a kill, at most. */
const LOAD = 150;
/** Every so many rounds the server is killed while it starts, too. */
const EARLY_KILL = 8;
const CATCH_UP = 60_000;

const dir = mkdtempSync(join(tmpdir(), "durability-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const state = join(dir, "state");
const spare = (): ServerProcess => new ServerProcess(forkServer(join(dir, "compiled")));

function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const sleep = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

interface Listed {
  readonly revision: number;
  readonly objects: readonly Observed[];
}

/** What there is of ours (the cluster's own "kubernetes" Service is not). */
async function list(api: Api | undefined, { path }: Collection): Promise<Listed> {
  const { code, body } = (await api?.send("GET", path)) ?? { code: 0, body: {} };
  expect(code).toBe(200);
  const { metadata, items } = body as unknown as { metadata: { resourceVersion: string }; items: Observed[] };
  const objects = items.filter((o) => o.metadata.name.startsWith("w"));
  return { revision: Number(metadata.resourceVersion), objects };
}

interface Scene {
  readonly ledger: Ledger;
  readonly watchers: readonly Watcher[];
  readonly random: Random;
  readonly clients: ReadonlyMap<string, Api>;
}

async function checkCollection({ ledger, watchers, clients }: Scene, collection: Collection): Promise<void> {
  const { revision, objects } = await list(clients.get(collection.cluster), collection);
  if (revision < ledger.newest) ledger.problems.push(`${collection.path} is at ${revision} after ${ledger.newest}`);
  const found = new Map<string, Held>();
  for (const object of objects) {
    const { name, resourceVersion } = object.metadata;
    const serial = serialOf(object);
    if (serial === undefined) ledger.problems.push(`${collection.path}/${name} is not whole`);
    found.set(name, { serial: serial ?? 0, revision: Number(resourceVersion) });
  }
  ledger.settle(collection, found);
  if (collection.kind === "Service") checkUnique(ledger, collection, objects);
  for (const watcher of watchers.filter((w) => w.collection === collection)) await caughtUp(ledger, watcher, found);
}

/** Addresses are unique among all Services of a cluster, and so are ports. */
function checkUnique(ledger: Ledger, { path }: Collection, services: readonly Observed[]): void {
  const addresses = services.map((s) => s.spec?.clusterIP);
  const ports = services.flatMap((s) => s.spec?.ports ?? []).map((p) => p.nodePort?.toString());
  for (const [what, values] of Object.entries({ addresses, ports })) {
    if (values.includes(undefined)) ledger.problems.push(`${path}: a Service without ${what}`);
    if (new Set(values).size !== values.length) ledger.problems.push(`${path}: ${what} given twice: ${values.join()}`);
  }
}

async function caughtUp(ledger: Ledger, watcher: Watcher, found: ReadonlyMap<string, Held>): Promise<void> {
  const chosen = [...found].filter(
    ([, held]) => !watcher.selector || watcher.selector.endsWith((held?.serial ?? 0) % 2 ? "odd" : "even"),
  );
  const text = (entries: Iterable<[string, Held]>): string =>
    JSON.stringify([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  const wanted = text(chosen);
  for (const end = Date.now() + CATCH_UP; text(watcher.state) !== wanted; await sleep(5)) {
    if (Date.now() < end) continue;
    ledger.problems.push(
      `watch of ${watcher.collection.path} ${watcher.selector}: ${text(watcher.state)}, not ${wanted}`,
    );
    return;
  }
}

/** Writes until the server is killed, some writes and a moment later. */
async function loadAndKill(scene: Scene, server: ServerProcess): Promise<void> {
  const { ledger, random, clients } = scene;
  const writers = Array.from({ length: WRITERS }, (_, number) => write({ number, random, ledger }, clients));
  const enough = ledger.acknowledged + random() * LOAD;
  while (ledger.acknowledged < enough && ledger.problems.length === 0) await sleep(1);
  await sleep(random() * 4);
  await server.kill();
  await Promise.all(writers);
}

async function begin(scene: Scene): Promise<void> {
  for (const watcher of scene.watchers) {
    const { collection } = watcher;
    watcher.from((await list(scene.clients.get(collection.cluster), collection)).revision);
  }
}

test(`killed ${ROUNDS} times under write load, it keeps every promise`, async () => {
  const ledger = new Ledger();
  const random = randomFrom(20_261_121);
  const clientele = new Clientele();
  const watchers = COLLECTIONS.flatMap((c) => [new Watcher(c, "", ledger), new Watcher(c, "parity=even", ledger)]);
  let next = spare();
  try {
    for (let round = 0; round <= ROUNDS && ledger.problems.length === 0; round += 1) {
      if (round % EARLY_KILL === EARLY_KILL - 1) {
        const early = next.serve(state).catch(() => {});
        await sleep(random() * 250);
        await next.kill();
        await early;
        next = spare();
      }
      const server = next;
      const ready = await server.serve(state);
      next = spare();
      const clients = await clientele.open(ready);
      const scene: Scene = { ledger, watchers, random, clients };
      if (round === 0) await begin(scene);
      for (const watcher of watchers) watcher.follow(clients.get(watcher.collection.cluster) as Api);
      for (const collection of COLLECTIONS) await checkCollection(scene, collection);
      if (round < ROUNDS && ledger.problems.length === 0) await loadAndKill(scene, server);
      else await server.kill();
      clients.forEach((c) => c.close());
    }
  } finally {
    await next.kill();
  }
  const events = watchers.reduce((sum, w) => sum + w.events, 0);
  console.log(
    `${ROUNDS} kills: ${ledger.acknowledged} writes acknowledged, ${ledger.unanswered} unanswered, ` +
      `${events} events on ${watchers.length} watches, revision ${ledger.newest}`,
  );
  expect(ledger.problems).toEqual([]);
  expect(ledger.acknowledged).toBeGreaterThan(ROUNDS * 10);
  expect(ledger.unanswered).toBeGreaterThan(ROUNDS);
}, 1_800_000);
