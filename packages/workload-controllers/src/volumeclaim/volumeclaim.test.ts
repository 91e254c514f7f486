import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Pod } from "@causeway/kubernetes";
import { annotation, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../objects/storage.ts";
import { seeded } from "@causeway/foundation/testing";
import { template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const wants = (fields: object = {}) => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...fields },
});
const offers = (fields: object = {}) => ({
  spec: {
    accessModes: ["ReadWriteOnce"],
    capacity: { storage: "2Gi" },
    storageClassName: "fast",
    csi: { driver: "csi.example.com", volumeHandle: "1" },
    ...fields,
  },
});
const volumeKey = (name: string) => ({ namespace: "", name });
const phases = async (w: World, claim: string, volume: string) => {
  const found = await w.client.find(PersistentVolumeClaim, key(claim));
  const backing = await w.client.find(PersistentVolume, volumeKey(volume));
  return `${found?.status?.phase ?? "gone"} ${backing?.status?.phase ?? "gone"}`;
};
const reach = (w: World, claim: string, volume: string, wanted: string) =>
  w.until(wanted, async () => (await phases(w, claim, volume)) === wanted);

describe("volume claims on an API server", () => {
  test("are bound, protected while a pod uses them, and release their volume", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    await w.create(PersistentVolume, "v", offers());
    await w.create(PersistentVolumeClaim, "data", wants({ storageClassName: "fast" }));
    await reach(w, "data", "v", "Bound Bound");
    const claim = await w.client.get(PersistentVolumeClaim, key("data"));
    expect(claim.status).toMatchObject({ accessModes: ["ReadWriteOnce"], capacity: { storage: "2Gi" } });
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    await w.create(Pod, "user", { spec: { ...template().spec, volumes } });
    await w.until("the pod runs", async () => (await w.client.get(Pod, key("user"))).status?.phase === "Running");
    await w.client.delete(PersistentVolumeClaim, key("data"));
    await w.client.delete(PersistentVolume, volumeKey("v"));
    await w.pass(2_000);
    expect(await phases(w, "data", "v")).toBe("Bound Bound");
    await w.client.delete(Pod, key("user"));
    await reach(w, "data", "v", "gone gone");
  });

  test("get the default class, and an external provisioner's volume", async () => {
    const w = await start();
    w.run();
    await w.create(PersistentVolumeClaim, "data", wants());
    await w.until("the event", async () =>
      (await w.events()).some((event) => event.startsWith("FailedBinding: no persist")),
    );
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    await w.create(StorageClass, "fast", { metadata: { name: "fast", annotations }, provisioner: "csi.example.com" });
    const claim = await w.until("the provisioner is called", async () => {
      const found = await w.client.get(PersistentVolumeClaim, key("data"));
      return found.metadata.annotations?.[annotation.provisioner] === "csi.example.com" && found;
    });
    expect(claim.spec.storageClassName).toBe("fast");
    const { namespace, name, uid } = claim.metadata;
    const claimRef = { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid };
    await w.create(PersistentVolume, "pvc-1", {
      ...offers({ claimRef, persistentVolumeReclaimPolicy: "Delete" }),
      metadata: { name: "pvc-1", annotations: { [annotation.provisionedBy]: "csi.example.com" } },
    });
    await reach(w, "data", "pvc-1", "Bound Bound");
    await w.client.delete(PersistentVolumeClaim, key("data"));
    await reach(w, "data", "pvc-1", "gone Released");
  });

  test.each([61, 62])("share no volume when writes are lost and controllers are killed (seed %i)", async (seed) => {
    const w = await start();
    const stop = w.runWithFaults(seeded(seed), 0.2);
    for (const name of ["a", "b", "c"])
      await w.create(PersistentVolumeClaim, name, wants({ storageClassName: "fast" }));
    for (const name of ["v", "w"]) await w.create(PersistentVolume, name, offers());
    const bound = async () => {
      const { items } = await w.client.list(PersistentVolumeClaim, { namespace: "default" });
      return items.filter(({ status }) => status?.phase === "Bound").map(({ spec }) => spec.volumeName);
    };
    await w.until("two claims are bound", async () => (await bound()).length === 2);
    await stop();
    expect(new Set(await bound())).toEqual(new Set(["v", "w"]));
  });
});
