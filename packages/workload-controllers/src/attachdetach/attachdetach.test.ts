import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Node, Pod } from "@causeway/kubernetes";
import { PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from "../objects/storage.ts";
import { template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test("a volume follows its pod to another node once the first one has unmounted it", async () => {
  const w = (world = await World.start((clock) => startApiServer({ clock })));
  const { client } = w;
  w.run();
  const annotations = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
  const nodeKey = (name: string) => ({ namespace: "", name });
  for (const name of ["one", "two"]) await w.create(Node, name, { metadata: { name, annotations }, spec: {} });
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "fast" };
  await w.create(PersistentVolume, "v", {
    spec: { ...spec, capacity: { storage: "1Gi" }, csi: { driver: "csi.example.com", volumeHandle: "1" } },
  });
  await w.create(PersistentVolumeClaim, "data", { spec: { ...spec, resources: { requests: { storage: "1Gi" } } } });
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  const use = (nodeName: string) =>
    w.create(Pod, `on-${nodeName}`, { spec: { ...template().spec, nodeName, volumes } });
  const attachments = async () => (await client.list(VolumeAttachment)).items;
  const only = (node: string) =>
    w.until(`an attachment to ${node}`, async () => {
      const found = await attachments();
      return found.length === 1 && found[0]?.spec.nodeName === node && found[0];
    });
  const status = (name: string, body: object) =>
    client.patch(Node, nodeKey(name), { type: "merge", body: { status: body } }, { subresource: "status" });
  const listed = async (name: string) =>
    ((await client.get(Node, nodeKey(name))).status as { volumesAttached?: unknown[] } | undefined)?.volumesAttached ??
    [];
  await use("one");
  const made = await only("one");
  expect(made.metadata.name).toMatch(/^csi-[0-9a-f]{64}$/);
  const attached = { type: "merge", body: { status: { attached: true } } } as const;
  await client.patch(VolumeAttachment, nodeKey(made.metadata.name), attached, { subresource: "status" });
  const name = "kubernetes.io/csi/csi.example.com^1";
  await w.until("the node lists it", async () => (await listed("one")).length === 1);
  expect(await listed("one")).toEqual([{ name, devicePath: "" }]);
  await status("one", { volumesInUse: [name] });
  await use("two");
  await w.until("the event", async () => (await w.events()).some((event) => event.includes("Multi-Attach error")));
  await client.delete(Pod, key("on-one"), { gracePeriodSeconds: 0 });
  await w.pass(1_000);
  expect((await attachments()).map((each) => each.spec.nodeName)).toEqual(["one"]);
  await status("one", { volumesInUse: [] });
  await only("two");
  await w.until("the first node lists nothing", async () => (await listed("one")).length === 0);
  expect(await w.events()).toContain('SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "v" ');
});
