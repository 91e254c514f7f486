/**
 * What a hundred claims, attachments, snapshots and detachments cost, ten at a time as a sidecar requests them, in a
 * project with many volumes: calls, and seconds of a clock that moves when all are idle. Upstream's driver makes 3 to 5
 * calls for each and waits a second at least (docs/benchmarks/volumes.json).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csiClient, type CsiClient } from "@causeway/csi";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startDriver, type RunningDriver } from "./driver.ts";
import { fileSystem, gib, openWorld, type World } from "./testing/world.ts";

vi.setConfig({ testTimeout: 120_000 });

const COUNT = 100;
const WORKERS = 10;
/** Milliseconds: what was recorded of a real cloud is 168 for a snapshot and 354 for a detachment. */
const DELAY = 350;

let world: World;
let driver: RunningDriver;
let client: CsiClient;
let dir: string;
let volumes: readonly string[];

beforeEach(async () => {
  world = await openWorld({ delay: DELAY });
  for (const resource of ["volumes", "gigabytes", "snapshots"]) world.simulator.setQuota("demo", resource, -1);
  dir = mkdtempSync(join(tmpdir(), "bursts-"));
  const password = /password: (\S+)/.exec(world.simulator.cloudsYaml)?.[1] ?? "";
  const conf = `[Global]
auth-url=${world.simulator.authUrl}
username=demo
password=${password}
tenant-name=demo
domain-name=Default
region=RegionOne
`;
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const { clock } = world;
  driver = await startDriver({ endpoint, version: "1", services: ["controller"], cloudConf: () => conf, clock });
  client = csiClient(endpoint);
  volumes = await inTurn(
    Array.from({ length: COUNT }, (_, at) => `v-${at}`),
    async (name) => {
      const request = { name, capacityRange: gib(1), volumeCapabilities: [fileSystem] };
      return (await client.controller.createVolume(request)).volume?.volumeId ?? "";
    },
  );
  await client.controller.listVolumes({});
});
afterEach(async () => {
  client.close();
  await driver.close();
  await world.close();
  rmSync(dir, { recursive: true, force: true });
});

/** As many at once as a sidecar has workers. */
async function inTurn<T, R>(items: readonly T[], work: (item: T, at: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = [...items.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await work(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return results;
}

async function cost(work: () => Promise<unknown>): Promise<{ readonly calls: number; readonly seconds: number }> {
  const own = () => world.simulator.calls.filter(({ userAgent }) => userAgent.startsWith("cinder-csi")).length;
  const [before, begun] = [own(), world.clock.now()];
  await work();
  return { calls: own() - before, seconds: (world.clock.now() - begun) / 1000 };
}

test("attachments and detachments share lists: a call each and a fifth of a list, in less time than upstream's first pause", async () => {
  const nodes = await Promise.all(["n1", "n2"].map((name) => world.server(name)));
  const nodeOf = (at: number) => nodes[at % nodes.length] ?? "";
  const { controllerPublishVolume, controllerUnpublishVolume } = client.controller;
  const attached = await cost(() =>
    inTurn(volumes, (volumeId, at) =>
      controllerPublishVolume({ volumeId, nodeId: nodeOf(at), volumeCapability: fileSystem }),
    ),
  );
  const detached = await cost(() =>
    inTurn(volumes, (volumeId, at) => controllerUnpublishVolume({ volumeId, nodeId: nodeOf(at) })),
  );
  for (const each of [attached, detached]) {
    expect(each.calls).toBeLessThan(COUNT * 1.3);
    expect(each.seconds).toBeLessThan(COUNT / WORKERS);
  }
});

test("claims that come at once share the search for their names, and are attached as they become available", async () => {
  const nodes = await Promise.all(["n1", "n2"].map((name) => world.server(name)));
  const { createVolume, controllerPublishVolume } = client.controller;
  // The provisioner has a hundred workers, the attacher ten.
  const { calls, seconds } = await cost(async () => {
    const made = volumes.map(async (_, at) => {
      const request = { name: `claim-${at}`, capacityRange: gib(1), volumeCapabilities: [fileSystem] };
      return (await createVolume(request)).volume?.volumeId ?? "";
    });
    await inTurn(made, async (volume, at) => {
      const nodeId = nodes[at % nodes.length] ?? "";
      await controllerPublishVolume({ volumeId: await volume, nodeId, volumeCapability: fileSystem });
    });
  });
  expect(calls).toBeLessThan(COUNT * 2.5);
  expect(seconds).toBeLessThan(COUNT / WORKERS);
});

test("snapshots share lists: a call each and less than half of a list, in less time than upstream's first pause", async () => {
  const { calls, seconds } = await cost(() =>
    inTurn(volumes, (sourceVolumeId, at) => client.controller.createSnapshot({ name: `s-${at}`, sourceVolumeId })),
  );
  expect(calls).toBeLessThan(COUNT * 1.5);
  expect(seconds).toBeLessThan(COUNT / WORKERS);
});
