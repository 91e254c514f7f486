import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Job } from "@causeway/kubernetes";
import { at, now } from "../testing/objects.ts";
import { annotations } from "../testing/played-kubelet.ts";
import { key, World } from "../testing/world.ts";
import { plan } from "./plan.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const job = (ttl: number | undefined, type: string, metadata: object = {}): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "work", namespace: "default", uid: "job", ...metadata },
  spec: { template: { spec: { containers: [] } }, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
  status: { conditions: [{ type, status: "True", lastTransitionTime: at(60) }] },
});

describe("a Job that ended 60 s ago", () => {
  const rows: [string, Job, number | undefined, number][] = [
    ["is deleted after its TTL", job(60, "Complete"), undefined, 1],
    ["is deleted after its TTL when it failed", job(0, "Failed"), undefined, 1],
    ["waits for the rest of its TTL", job(90, "Complete"), now + 30_000, 0],
    ["remains without a TTL", job(undefined, "Complete"), undefined, 0],
    ["remains until it is Complete", job(0, "SuccessCriteriaMet"), undefined, 0],
    ["is not deleted twice", job(0, "Complete", { deletionTimestamp: at(1) }), undefined, 0],
  ];
  test.each(rows)("%s", (_title, found, until, steps) => {
    const planned = plan({ job: found }, now);
    expect(planned.wait?.until).toBe(until);
    expect(planned.steps).toHaveLength(steps);
  });
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
