import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { ControllerRevision, isControlledBy, StatefulSet } from "@causeway/kubernetes";
import { PersistentVolumeClaim } from "../objects/storage.ts";
import { seeded } from "@causeway/foundation/testing";
import { template } from "../testing/objects.ts";
import { key, namespace, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const db = (replicas: number, fields: object = {}) => ({
  spec: { replicas, serviceName: "db", selector: { matchLabels: { app: "web" } }, template: template(), ...fields },
});
const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: "web", image: name }] } } } });
/** What `kubectl rollout status` waits for, and that all pods are of the image. */
const rolledOut = (w: World, replicas: number, of: string) =>
  w.until(`${replicas} pods of ${of}`, async () => {
    const { metadata, status } = await w.client.get(StatefulSet, key("db"));
    const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    const pods = await w.pods();
    const areNew = pods.length === replicas && pods.every((pod) => pod.spec.containers[0]?.image === of);
    const isDone = status?.updateRevision === status?.currentRevision && (status?.readyReplicas ?? 0) === replicas;
    return isObserved && areNew && isDone && (status?.updatedReplicas ?? 0) === replicas;
  });

describe("a StatefulSet on an API server", () => {
  test("creates pods in order with their claims, updates, goes back, scales down and keeps its history", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    const volumeClaimTemplates = [
      {
        metadata: { name: "www" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ];
    const policy = { whenDeleted: "Retain", whenScaled: "Delete" };
    const containers = [{ name: "web", image: "web:1", volumeMounts: [{ name: "www", mountPath: "/data" }] }];
    const mounting = { template: { ...template(), spec: { containers } } };
    const fields = {
      ...mounting,
      volumeClaimTemplates,
      persistentVolumeClaimRetentionPolicy: policy,
      revisionHistoryLimit: 1,
    };
    const set = await w.create(StatefulSet, "db", db(3, fields));
    await rolledOut(w, 3, "web:1");
    const born = (await w.pods()).toSorted(
      (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
    );
    expect(born.map(({ metadata }) => metadata.name)).toEqual(["db-0", "db-1", "db-2"]);
    expect(born.every((pod) => isControlledBy(pod, set))).toBe(true);
    for (const name of ["web:2", "web:3", "web:2"]) {
      await w.patch(StatefulSet, "db", image(name));
      await rolledOut(w, 3, name);
    }
    await w.until("two revisions", async () => {
      const { items } = await w.client.list(ControllerRevision, { namespace });
      return (
        items
          .map(({ revision }) => revision)
          .toSorted((a, b) => a - b)
          .join() === "3,4"
      );
    });
    await w.patch(StatefulSet, "db", { spec: { replicas: 1 } });
    await rolledOut(w, 1, "web:2");
    await w.until("claims of pods that were scaled away are deleted", async () => {
      const { items } = await w.client.list(PersistentVolumeClaim, { namespace });
      return items.map(({ metadata }) => metadata.name).join() === "www-db-0";
    });
    const events = await w.events();
    expect(events).toContain("SuccessfulCreate: create Claim www-db-0 Pod db-0 in StatefulSet db success");
    expect(events).toContain("SuccessfulCreate: create Pod db-2 in StatefulSet db successful");
    expect(events).toContain("SuccessfulDelete: delete Pod db-1 in StatefulSet db successful");
  });

  test("reports a pod that the server refuses", async () => {
    const w = await start();
    w.run();
    const refused = { ...template(), spec: { ...template().spec, serviceAccountName: "missing" } };
    await w.create(StatefulSet, "db", db(1, { template: refused }));
    await w.until("the event", async () =>
      (await w.events()).some((event) =>
        event.startsWith('FailedCreate: create Pod db-0 in StatefulSet db failed error: pods "db-0" is forbidden'),
      ),
    );
  });

  test.each([41, 42, 43])(
    "replaces no pod before it is gone when writes are lost and controllers are killed (seed %i)",
    async (seed) => {
      const w = await start();
      await w.playKubelet();
      const stop = w.runWithFaults(seeded(seed), 0.1);
      await w.create(StatefulSet, "db", db(3));
      const podsOf = (name: string) =>
        w.until(`pods of ${name}`, async () => {
          const pods = await w.pods();
          return pods.length === 3 && pods.every((pod) => pod.spec.containers[0]?.image === name);
        });
      await podsOf("web:1");
      await w.patch(StatefulSet, "db", image("web:2"));
      await podsOf("web:2");
      await stop();
      w.run();
      await rolledOut(w, 3, "web:2");
      const { items } = await w.client.list(ControllerRevision, { namespace });
      expect(items.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual([1, 2]);
    },
  );
});
