/**
 * Hosted control planes as pods move between two management clusters whose managers work on one service cluster: their
 * pods run on. The service cluster is played; the API of each tenant is one of our API server's, with the tenant's
 * keys. CAUSEWAY_MOVE_TENANTS is how many tenants move in waves (50 in full), and CAUSEWAY_FAULT_MOVE how many changes
 * there are between two that end a move (1 in full, some eight minutes).
 */
import { Cluster, HostedControlPlane } from "@causeway/api";
import { moveClusters, type MoveOptions } from "@causeway/cluster-api";
import { systemClock } from "@causeway/foundation";
import { createPodsTransfer } from "@causeway/hosted-control-plane";
import { Deployment, Namespace, Pod, Secret, StatefulSet, type KubeObject } from "@causeway/kubernetes";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  createTenant,
  eventually,
  managed,
  startWorld,
  type Manager,
  type World,
} from "./move-control-planes/world.ts";
import { requestAll } from "./move-control-planes/requests.ts";
import { dying } from "./move-control-planes/dying.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 60_000 });

const TENANTS = Number(process.env["CAUSEWAY_MOVE_TENANTS"] ?? 5);
const STRIDE = Number(process.env["CAUSEWAY_FAULT_MOVE"] ?? 6);
const WAVE = 2;
const signal = new AbortController().signal;
let world: World;
beforeAll(async () => {
  world = await startWorld(["source", "target"]);
});
afterAll(() => world.close());

const sides = (): [Manager, Manager] => world.managers as [Manager, Manager];

const move = (from: Manager, to: Manager, namespace: string): MoveOptions => ({
  from: from.client,
  to: to.client,
  namespace,
  wave: WAVE,
  clock: systemClock,
  controlPlanes: createPodsTransfer({
    client: world.service,
    from: from.owner,
    to: to.owner,
    management: { from: from.management, to: to.management },
    clock: systemClock,
    timeout: 20_000,
  }),
  report: () => {},
});

/** Everything that the runtime has in the service cluster, but its Namespaces: what no move changes. */
async function running(): Promise<string[]> {
  const found: string[] = [];
  for (const type of [Secret, Deployment, StatefulSet, Pod]) {
    const { items } = await world.service.list<KubeObject>(type, { labelSelector: managed });
    found.push(
      ...items.map(
        ({ metadata: { namespace, name, uid, resourceVersion } }) =>
          `${type.kind} ${namespace}/${name} ${uid} ${resourceVersion}`,
      ),
    );
  }
  return found.toSorted();
}

const isAvailable = async ({ client }: Manager, namespace: string, name: string): Promise<boolean | undefined> => {
  const found = await client.find(HostedControlPlane, { namespace, name });
  const isTrue = (type: string): boolean =>
    found?.status?.conditions?.some((each) => each.type === type && each.status === "True") === true;
  return (isTrue("Available") && isTrue("UpToDate") && !isTrue("Paused")) || undefined;
};

const endpoints = async ({ client }: Manager, namespace: string): Promise<unknown[]> =>
  (await client.list(HostedControlPlane, { namespace })).items.map(({ metadata, status }) => [
    metadata.name,
    status?.endpoint,
    status?.initialization,
  ]);

test("tenants move in waves: their APIs respond throughout, no pod and no key changes, and the source can change them no more", async () => {
  const [source, target] = sides();
  const namespace = "tenants";
  const names = Array.from({ length: TENANTS }, (_, index) => `tenant-${String(index).padStart(2, "0")}`);
  const began = performance.now();
  const print = (what: string): void => {
    process.stderr.write(`${TENANTS} tenants ${what} after ${Math.round((performance.now() - began) / 1000)} s\n`);
  };
  for (const each of [source, target]) await each.createNamespace(namespace);
  for (const [index, name] of names.entries())
    await createTenant(world, source, { namespace, name, pooled: index % 2 === 0 });
  for (const name of names) await eventually(name, () => isAvailable(source, namespace, name));
  const [before, at] = [await running(), await endpoints(source, namespace)];
  const old = {
    clusters: (await source.client.list(Cluster, { namespace })).items,
    planes: (await source.client.list(HostedControlPlane, { namespace })).items,
    secrets: (await source.client.list(Secret, { namespace })).items,
  };
  const requests = await requestAll(old.secrets);
  print("are available");

  const lines: string[] = [];
  const moved = await moveClusters({ ...move(source, target, namespace), report: (line) => lines.push(line) }, signal);
  expect(moved.clusters.toSorted()).toEqual(names);
  const pauses = lines.filter((line) => line.startsWith("pausing"));
  expect(pauses).toHaveLength(Math.ceil(TENANTS / WAVE));
  expect(pauses[0]).toBe(`pausing 2 clusters of the source: ${names.slice(0, WAVE).join(", ")}`);
  for (const name of names) await eventually(name, () => isAvailable(target, namespace, name));
  print("moved");
  const measured = await requests.end();
  process.stderr.write(`longest interruption of ${names.length} tenants that move: ${measured.longest} ms\n`);
  expect(measured.requests).toBeGreaterThan(names.length * 5);
  expect(measured.longest).toBeLessThan(30_000);
  expect(await endpoints(target, namespace)).toEqual(at);
  expect(await running()).toEqual(before);

  // The source starts again, with what it had: its objects come back from a backup.
  await source.kill();
  source.start();
  const writes = source.writes();
  for (const { metadata, spec } of old.clusters)
    await source.client.create(Cluster, {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { namespace, name: metadata.name },
      spec,
    });
  for (const { metadata, ...secret } of old.secrets) {
    const { name, labels = {}, annotations = {} } = metadata;
    await source.client.create(Secret, { ...secret, metadata: { namespace, name, labels, annotations } });
  }
  for (const { metadata, status, ...plane } of old.planes) {
    const { uid = "" } = (await source.client.get(Cluster, { namespace, name: metadata.name })).metadata;
    const owners = (metadata.ownerReferences ?? []).map((each) => ({ ...each, uid }));
    const { labels = {} } = metadata;
    const key = { namespace, name: metadata.name };
    await source.client.create(HostedControlPlane, {
      ...plane,
      metadata: { ...key, labels, ownerReferences: owners },
    });
    const body = { status: { ...status, conditions: null } };
    await source.client.patch(HostedControlPlane, key, { type: "merge", body }, { subresource: "status" });
  }
  for (const name of names)
    await eventually(`refusal of ${name}`, async () => {
      const { status } = await source.client.get(HostedControlPlane, { namespace, name });
      return status?.conditions?.some(({ message }) => message?.includes("PODS_NAMESPACE_FOREIGN")) || undefined;
    });
  expect(source.writes()).toBe(writes);
  expect(await running()).toEqual(before);

  // Deleted in the source, nothing of it goes; deleted in the target, all of it does.
  const served = (await world.service.list(Namespace, { labelSelector: managed })).items.length;
  for (const name of names) {
    await source.client.delete(HostedControlPlane, { namespace, name });
    await source.client.delete(Cluster, { namespace, name });
  }
  await eventually(
    "the source's objects to be gone",
    async () => (await source.client.list(HostedControlPlane, { namespace })).items.length === 0 || undefined,
  );
  expect(await running()).toEqual(before);
  for (const name of names) {
    await target.client.delete(HostedControlPlane, { namespace, name });
    await target.client.delete(Cluster, { namespace, name });
  }
  await eventually("the namespaces to be gone", async () => {
    const left = (await world.service.list(Namespace, { labelSelector: managed })).items.length;
    return left === served - names.length || undefined;
  });
  expect([...world.users]).toEqual([]);
  print("are deleted");
});

test.for([false, true])(
  "a move that is killed at any change is resumed, there and back, also with a manager killed; response lost: %s",
  async (after) => {
    const namespace = `killed-${after}`;
    for (const each of sides()) await each.createNamespace(namespace);
    for (const name of ["own", "pooled"])
      await createTenant(world, sides()[0], { namespace, name, pooled: name === "pooled" });
    for (const name of ["own", "pooled"]) await eventually(name, () => isAvailable(sides()[0], namespace, name));
    const [before, at] = [await running(), await endpoints(sides()[0], namespace)];
    const requests = await requestAll((await sides()[0].client.list(Secret, { namespace })).items);
    let ends = 0;
    for (let change = 1, dead = true; dead; change += STRIDE) {
      const [from, to] = ends % 2 === 0 ? sides() : sides().toReversed();
      if (from === undefined || to === undefined) throw new Error("there are two sides");
      const { controlPlanes: _, ...options } = move(from, to, namespace);
      const life = { left: change, after };
      const controlPlanes = createPodsTransfer({
        client: dying(world.service, life),
        from: from.owner,
        to: to.owner,
        management: { from: from.management, to: to.management },
        clock: systemClock,
      });
      const killed = { ...options, from: dying(from.client, life), to: dying(to.client, life), controlPlanes };
      dead = await moveClusters(killed, signal).then(
        () => false,
        () => true,
      );
      if (dead) {
        ends += 1;
        for (const each of sides().filter((_each, index) => ends % 3 === index)) {
          await each.kill();
          each.start();
        }
        await moveClusters(move(from, to, namespace), signal).catch((error: unknown) => {
          // Only when the end came after the last change is nothing left to be done.
          expect(error).toMatchObject({ code: "MOVE_NOTHING" });
        });
      }
      expect((await from.client.list(Cluster, { namespace })).items).toEqual([]);
      for (const name of ["own", "pooled"])
        await eventually(`${name} after an end at change ${change}`, () => isAvailable(to, namespace, name));
      expect(await endpoints(to, namespace)).toEqual(at);
      expect(await running()).toEqual(before);
    }
    expect(ends * STRIDE).toBeGreaterThan(40);
    const measured = await requests.end();
    process.stderr.write(`longest interruption in ${ends} killed moves: ${measured.longest} ms\n`);
    expect(measured.longest).toBeLessThan(30_000);
  },
);
