import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { isControlledBy, Pod } from "@causeway/kubernetes";
import { PersistentVolumeClaim } from "../objects/storage.ts";
import { template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const volumes = [
  { name: "scratch", ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "b" } }, spec: claimSpec } } },
  { name: "other", emptyDir: {} },
];

test("the claim of an ephemeral volume is deleted with its pod on an API server", async () => {
  const w = (world = await World.start((clock) => startApiServer({ clock })));
  w.run();
  const owner = await w.create(Pod, "web", { spec: { ...template().spec, volumes } });
  const claim = () => w.client.find(PersistentVolumeClaim, key("web-scratch"));
  const made = await w.until("the claim", claim);
  expect(isControlledBy(made, owner)).toBe(true);
  await w.client.delete(Pod, key("web"));
  await w.until("the claim is gone", async () => !(await claim()));
});
