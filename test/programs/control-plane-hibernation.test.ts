/**
 * A control plane as pods with Kubernetes' own programs that hibernates and wakes: no program runs in between, and the
 * API has all objects again, with their UIDs.
 */
import { HostedControlPlane } from "@causeway/api";
import {
  ConfigMap,
  getCondition,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  type Condition,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { available, create, key, managed, missingFor, startWorld, until, type World } from "./runtime-world.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const why = missingFor("Pods");
const OBJECTS = 20;

describe.skipIf(why !== undefined)(`a control plane as pods${why === undefined ? "" : ` (${why})`}`, () => {
  let world: World;
  let tenant: KubernetesClient;
  let namespace = "";
  beforeAll(async () => {
    world = await startWorld("Pods");
    await create(world, "one");
    await available(world, "one");
    tenant = await world.tenant("one");
    const { items } = await world.client.list(StatefulSet, { labelSelector: managed });
    namespace = items.find(({ metadata }) => metadata.namespace?.startsWith("hcp-one-"))?.metadata.namespace ?? "";
  });
  afterAll(() => world?.close());

  const request = (replicas: number) =>
    world.client.patch(HostedControlPlane, key("one"), { type: "merge", body: { spec: { replicas } } });
  const conditionOf = async (type: string) => {
    const { status } = await world.client.get(HostedControlPlane, key("one"));
    return getCondition((status?.conditions ?? []) as Condition[], type);
  };
  const uids = async (): Promise<string[]> =>
    (await tenant.list(ConfigMap, { namespace: "default" })).items
      .map(({ metadata: { name, uid } }) => `${name} ${uid}`)
      .toSorted();
  const claims = async () =>
    (await world.client.list(PersistentVolumeClaim, { namespace })).items.map(({ metadata }) => metadata.uid);

  test("hibernates without a program, keeps its volume, and has every object when it wakes", async () => {
    for (let i = 0; i < OBJECTS; i++) {
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata: key(`kept-${i}`), data: { i: String(i) } };
      await until("an object", () => tenant.create(ConfigMap, object));
    }
    const before = await until("a list", uids);
    const volumes = await claims();
    expect(volumes).toHaveLength(1);
    await request(0);
    await until("hibernated", async () => {
      const { items } = await world.client.list(Pod, { namespace });
      const { status, reason } = (await conditionOf("Available")) ?? {};
      return items.length === 0 && status === "False" && reason === "Hibernated" ? true : undefined;
    });
    await expect(uids()).rejects.toThrow();
    expect(await claims()).toEqual(volumes);

    const begun = performance.now();
    await request(1);
    const after = await until("the API", uids);
    const served = Math.round(performance.now() - begun);
    await available(world, "one");
    console.log({ served, available: Math.round(performance.now() - begun) });
    expect(after).toEqual(before);
    expect(await claims()).toEqual(volumes);
  });
});
