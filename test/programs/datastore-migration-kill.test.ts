/**
 * A control plane that moves from the shared etcd to its own under writes, whose controller is killed in each stage;
 * and one whose move is withdrawn. No acknowledged write is lost.
 */
import { HostedControlPlane } from "@causeway/api";
import { ConfigMap, Secret, secretText, StatefulSet, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ControllerProcess } from "./controller-process.ts";
import { namespaceOfOne, settled } from "./pods-settled.ts";
import { available, create, key, missingFor, startCluster, until } from "./runtime-world.ts";
import { followVersions, nodePrograms } from "./versions.ts";
import { expectStored, loadOn, prepareLoad } from "./write-load.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 600_000 });

const why = missingFor("Pods");
/** Writes of each client that are acknowledged after the move. */
const AFTERWARDS = 10;
const STAGES = ["Starting", "Copying", "Freezing", "Switching"];
/** Milliseconds without a write, with a controller that is away for some seconds. */
const LIMIT = 60_000;

describe.skipIf(why !== undefined)(`a killed controller in a move${why === undefined ? "" : ` (${why})`}`, () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  let controller: ControllerProcess;
  let client: KubernetesClient;
  let tenant: KubernetesClient;
  let programs: ReturnType<typeof nodePrograms>;
  let namespace = "";
  beforeAll(async () => {
    programs = nodePrograms();
    cluster = await startCluster("Pods", { [programs.tag]: programs.dir });
    client = cluster.client;
    controller = new ControllerProcess(cluster.dir, cluster.kubeconfig, [
      "--causeway-image",
      programs.image,
      "--datastore-moves",
    ]);
    await create({ client, name: "Pods" }, "one", { pods: { datastore: { type: "Pooled" } } });
    await available({ client }, "one");
    namespace = await namespaceOfOne(client);
    tenant = await cluster.tenant("one");
    await prepareLoad(tenant);
    const secret = { apiVersion: "v1", kind: "Secret", metadata: key("kept"), data: { word: btoa("before") } };
    await tenant.create(Secret, secret as Secret);
  });
  afterAll(async () => {
    await controller?.stop();
    await cluster?.close();
    programs.remove();
  });

  const request = (type: "Pooled" | "Own") =>
    client.patch(HostedControlPlane, key("one"), {
      type: "merge",
      body: { spec: { pods: { datastore: { type } } } },
    });
  const stage = async (): Promise<string | undefined> => {
    const found = await client.find(ConfigMap, { namespace, name: "datastore-migration" });
    return (JSON.parse(found?.data?.["record"] ?? "{}") as { stage?: string }).stage;
  };
  /** Under writes: what was acknowledged is stored, and no version is older than one before. */
  const underWrites = async (round: string, change: () => Promise<void>): Promise<void> => {
    const [load, versions] = [loadOn(tenant, round), followVersions(tenant)];
    await until("writes", async () => (load.fewest() > 0 ? true : undefined));
    await change();
    const done = load.fewest();
    await until("writes afterwards", async () => (load.fewest() >= done + AFTERWARDS ? true : undefined));
    const [result, order] = [await load.end(), await versions.end()];
    const { created, counts, ...rest } = result;
    console.log({
      round,
      kills: controller.kills,
      created: created.length,
      counted: [...counts.values()],
      ...rest,
      order,
    });
    await expectStored(tenant, round, result);
    expect(order.backwards).toEqual([]);
    expect(rest.longest).toBeLessThanOrEqual(LIMIT);
    expect(secretText(await tenant.get(Secret, key("kept")), "word")).toBe("before");
  };

  test("a move that is withdrawn while data is copied leaves the shared etcd as before", { retry: 0 }, async () => {
    await underWrites("withdrawn", async () => {
      await request("Own");
      await until("the own etcd", async () => ((await stage()) === "Copying" ? true : undefined));
      await request("Pooled");
      await until("the shared etcd", async () => ((await stage()) === "Withdrawn" ? true : undefined));
    });
    await settled(client, namespace, { members: 0, replicas: 1 });
    expect(await client.find(StatefulSet, { namespace, name: "etcd" })).toBeUndefined();
  });

  test("another controller finishes what one began that was killed in each stage", { retry: 0 }, async () => {
    const reached: string[] = [];
    await underWrites("killed", async () => {
      await request("Own");
      for (const each of STAGES) {
        const before = await until(each, async () => {
          const now = await stage();
          return now === each || now === "Retained" ? now : undefined;
        });
        reached.push(before);
        if (before === each) await controller.kill();
      }
      await until("the move", async () => ((await stage()) === "Retained" ? true : undefined));
      await controller.kill();
      await settled(client, namespace, { members: 1, replicas: 1 });
    });
    console.log({ reached, kills: controller.kills });
    expect(reached).toEqual(STAGES);
    expect(controller.kills).toBe(STAGES.length + 1);
    const { status } = await client.get(HostedControlPlane, key("one"));
    expect(status?.migration).toMatchObject({ stage: "Retained", hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
});
