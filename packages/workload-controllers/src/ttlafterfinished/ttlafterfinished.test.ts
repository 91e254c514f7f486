import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Job } from "@causeway/kubernetes";
import { annotations } from "../testing/played-kubelet.ts";
import { key, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test("a Job on an API server is deleted with its pods after its TTL, not before", async () => {
  const w = (world = await World.start((clock) => startApiServer({ clock })));
  await w.playKubelet();
  w.run();
  const metadata = { annotations: { [annotations.finish]: "Succeeded" } };
  const template = { metadata, spec: { restartPolicy: "Never", containers: [{ name: "work", image: "work:1" }] } };
  await w.create(Job, "work", { spec: { ttlSecondsAfterFinished: 100, template } });
  await w.until("the end", async () => (await w.client.get(Job, key("work"))).status?.completionTime);
  const ended = w.clock.now();
  await w.until("the deletion", async () => !(await w.client.find(Job, key("work"))), 1_000);
  expect(w.clock.now() - ended).toBeGreaterThanOrEqual(98_000);
  await w.until("no pods", async () => (await w.pods()).length === 0);
});
