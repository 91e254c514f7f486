import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { CronJob, Job } from "@causeway/kubernetes";
import { seeded } from "@causeway/foundation/testing";
import { annotations } from "../testing/played-kubelet.ts";
import { key, namespace, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

test.each([41, 42])("a CronJob runs one Job for each moment, whatever is lost or killed (seed %i)", async (seed) => {
  const w = (world = await World.start((clock) => startApiServer({ clock })));
  await w.playKubelet();
  const stop = w.runWithFaults(seeded(seed), 0.1);
  const metadata = { annotations: { [annotations.finish]: "Succeeded" } };
  const template = { metadata, spec: { restartPolicy: "Never", containers: [{ name: "work", image: "work:1" }] } };
  const spec = { schedule: "* * * * *", successfulJobsHistoryLimit: 2, jobTemplate: { spec: { template } } };
  await w.create(CronJob, "tick", { spec });
  const names = new Set<string>();
  await w.until(
    "four Jobs",
    async () => {
      for (const { metadata: found } of (await w.client.list(Job, { namespace })).items) names.add(found.name);
      return names.size >= 4;
    },
    1_000,
  );
  await stop();
  w.run();
  await w.until("two Jobs in the history", async () => (await w.client.list(Job, { namespace })).items.length === 2);
  const minutes = [...names].map((name) => Number(name.split("-").at(-1))).toSorted((a, b) => a - b);
  expect(minutes.every((minute, i) => i === 0 || minute > (minutes[i - 1] ?? 0))).toBe(true);
  const { status } = await w.client.get(CronJob, key("tick"));
  expect(status?.lastScheduleTime).toBe(new Date((minutes.at(-1) ?? 0) * 60_000).toISOString().replace(".000", ""));
});
