import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { isControlledBy, Pod, ReplicaSet, ReplicationController } from "@causeway/kubernetes";
import { seeded } from "@causeway/foundation/testing";
import { template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const web = (replicas: number) => ({
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template() },
});
const statusOf = async (w: World) => (await w.client.get(ReplicaSet, key("web"))).status;
const settled = (w: World, replicas: number) =>
  w.until(`${replicas} ready pods`, async () => {
    const status = await statusOf(w);
    const ready = status?.readyReplicas ?? 0;
    return status?.replicas === replicas && ready === replicas && (await w.pods()).length === replicas;
  });

describe("a ReplicaSet on an API server", () => {
  test("creates, replaces, adopts, releases and deletes pods, and emits an event for each", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    const set = await w.create(ReplicaSet, "web", web(3));
    await settled(w, 3);
    const metadata = { name: "extra", namespace: "default", labels: { app: "web" } };
    await w.create(Pod, "extra", { metadata, spec: template().spec });
    await w.until("a pod less", async () => (await w.events()).some((event) => event.startsWith("SuccessfulDelete")));
    await settled(w, 3);
    const pods = await w.pods();
    expect(pods.every((pod) => isControlledBy(pod, set))).toBe(true);
    expect((await statusOf(w))?.fullyLabeledReplicas).toBe(3);
    const name = pods[0]?.metadata.name ?? "";
    await w.patch(Pod, name, { metadata: { labels: { app: "debug" } } });
    await w.until("a replacement of the released pod", async () => (await w.pods()).length === 4);
    await w.until("the release", async () => !(await w.client.get(Pod, key(name))).metadata.ownerReferences?.length);
    await w.client.delete(Pod, key(name));
    await w.patch(ReplicaSet, "web", { spec: { replicas: 1 } });
    await settled(w, 1);
    const events = await w.until("events", async () => {
      const all = await w.events();
      return all.filter((event) => event.startsWith("SuccessfulDelete: Deleted pod: ")).length === 3 && all;
    });
    expect(events.filter((event) => event.startsWith("SuccessfulCreate: Created pod: web-"))).toHaveLength(4);
  });

  test("reports a refused create with an event and the condition ReplicaFailure", async () => {
    const w = await start();
    w.run();
    await w.create(ReplicaSet, "web", {
      spec: {
        ...web(1).spec,
        template: { ...template(), spec: { ...template().spec, serviceAccountName: "missing" } },
      },
    });
    const failure = await w.until("ReplicaFailure", async () =>
      (await statusOf(w))?.conditions?.find(({ type }) => type === "ReplicaFailure"),
    );
    expect(failure).toMatchObject({ status: "True", reason: "FailedCreate" });
    expect(failure.message).toContain('serviceaccount "missing" not found');
    await w.until("an event", async () =>
      (await w.events()).some((event) => event.startsWith("FailedCreate: Error creating: ")),
    );
  });

  test("writes nothing once it is settled", async () => {
    const w = await start();
    await w.playKubelet();
    const stop = w.run();
    await w.create(ReplicaSet, "web", web(2));
    await w.create(ReplicationController, "old", {
      spec: { replicas: 1, selector: { app: "old" }, template: template("old:1", { labels: { app: "old" } }) },
    });
    await w.until("both ready", async () => {
      const { status } = await w.client.get(ReplicationController, key("old"));
      return status?.readyReplicas === 1 && (await statusOf(w))?.readyReplicas === 2;
    });
    await stop();
    const versions = async () => (await w.client.list(Pod)).resourceVersion;
    const before = await versions();
    const again = w.run();
    await w.pass(120_000);
    await w.pass(1);
    await again();
    expect(await versions()).toBe(before);
  });

  test.each([1, 2, 3, 4])(
    "ends with exactly its replicas when writes are lost and controllers are killed (seed %i)",
    async (seed) => {
      const w = await start();
      await w.playKubelet();
      const stop = w.runWithFaults(seeded(seed));
      await w.create(ReplicaSet, "web", web(5));
      await w.until("five pods", async () => (await w.pods()).length >= 5);
      await w.patch(ReplicaSet, "web", { spec: { replicas: 8 } });
      await w.until("eight pods", async () => (await w.pods()).length >= 8);
      await w.patch(ReplicaSet, "web", { spec: { replicas: 2 } });
      await w.until("two pods", async () => (await w.pods()).length <= 2);
      await stop();
      w.run();
      await settled(w, 2);
      const created = (await w.events()).filter((event) => event.startsWith("SuccessfulDelete"));
      expect(created.length).toBeLessThanOrEqual(6);
    },
  );
});
