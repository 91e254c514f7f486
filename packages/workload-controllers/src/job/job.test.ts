import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Job, Namespace, Pod, ServiceAccount } from "@causeway/kubernetes";
import { seeded } from "@causeway/foundation/testing";
import { isReady } from "../objects/pods.ts";
import { annotations } from "../testing/played-kubelet.ts";
import { key, World } from "../testing/world.ts";
import { isTracked } from "./pod-facts.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const work = (phase: "Succeeded" | "Failed" | undefined, fields: object = {}) => ({
  spec: {
    template: {
      metadata: phase ? { annotations: { [annotations.finish]: phase } } : {},
      spec: { restartPolicy: "Never", containers: [{ name: "work", image: "work:1" }] },
    },
    ...fields,
  },
});
const read = (w: World) => w.client.get(Job, key("work"));
const ended = (w: World, type: "Complete" | "Failed", step = 20) =>
  w.until(
    `the condition ${type}`,
    async () => {
      const job = await read(w);
      return job.status?.conditions?.some((condition) => condition.type === type) && job;
    },
    step,
  );

describe("a Job on an API server", () => {
  test("counts its completions, completes, and leaves pods without the finalizer", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    await w.create(Job, "work", work("Succeeded", { completions: 5, parallelism: 2 }));
    const { status } = await ended(w, "Complete");
    expect(status).toMatchObject({ succeeded: 5 });
    expect(status?.failed ?? 0).toBe(0);
    expect(status?.completionTime).toBeDefined();
    await w.until("no finalizer", async () => !(await w.pods()).some(isTracked));
    expect(await w.pods()).toHaveLength(5);
    await w.until("an event", async () => (await w.events()).includes("Completed: Job completed"));
  });

  test("gives each index of an Indexed Job its pod", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    await w.create(Job, "work", work("Succeeded", { completions: 3, parallelism: 3, completionMode: "Indexed" }));
    const { status } = await ended(w, "Complete");
    expect(status).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
    const names = (await w.pods()).map(({ spec }) => spec["hostname"]);
    expect(new Set(names)).toEqual(new Set(["work-0", "work-1", "work-2"]));
  });

  test("fails beyond its back-off limit, after waiting between pods", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    const before = w.clock.now();
    await w.create(Job, "work", work("Failed", { backoffLimit: 2 }));
    const { status } = await ended(w, "Failed", 500);
    expect(status?.failed).toBe(3);
    expect(status?.conditions?.find(({ type }) => type === "Failed")?.reason).toBe("BackoffLimitExceeded");
    // 10 s before the second pod and 20 s before the third; moments of pods are whole seconds.
    expect(w.clock.now() - before).toBeGreaterThanOrEqual(28_000);
  });

  test("suspends, resumes, and ends at its deadline", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    await w.create(Job, "work", work(undefined, { parallelism: 2, completions: 2, activeDeadlineSeconds: 60 }));
    await w.until("two pods", async () => (await read(w)).status?.ready === 2);
    await w.patch(Job, "work", { spec: { suspend: true } });
    await w.until("no pods", async () => (await w.pods()).length === 0);
    expect((await read(w)).status?.failed ?? 0).toBe(0);
    await w.patch(Job, "work", { spec: { suspend: false } });
    const { status } = await ended(w, "Failed", 500);
    expect(status?.conditions?.find(({ type }) => type === "Failed")?.reason).toBe("DeadlineExceeded");
    await w.until("no pods", async () => (await w.pods()).length === 0);
  });

  test("counts ended pods while none can be created, so that its namespace can be deleted", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    const team = { namespace: "", name: "team" };
    await w.client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } });
    await w.until("an account", async () => w.client.find(ServiceAccount, { namespace: "team", name: "default" }));
    const metadata = { name: "work", namespace: "team" };
    const { spec } = work(undefined, { completions: 4, parallelism: 2 });
    await w.client.create(Job, { apiVersion: "batch/v1", kind: "Job", metadata, spec } as unknown as Job);
    const pods = async () => (await w.client.list(Pod, { namespace: "team" })).items;
    await w.until("two pods", async () => (await pods()).filter(isReady).length === 2);
    await w.client.delete(Namespace, team);
    await w.until("no namespace", async () => !(await w.client.find(Namespace, team)));
  });

  test("takes the finalizer off pods whose Job is deleted", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    await w.create(Job, "work", work(undefined, { parallelism: 2, completions: 2 }));
    await w.until("two pods", async () => (await read(w)).status?.ready === 2);
    await w.client.delete(Job, key("work"), { propagationPolicy: "Background" });
    await w.until("nothing left", async () => (await w.pods()).length === 0);
  });

  test.each([31, 32, 33, 34])(
    "counts each pod once when writes are lost and controllers are killed (seed %i)",
    async (seed) => {
      const w = await start();
      await w.playKubelet();
      const stop = w.runWithFaults(seeded(seed), 0.15);
      await w.create(Job, "work", work("Succeeded", { completions: 6, parallelism: 3 }));
      const { status } = await ended(w, "Complete", 100);
      await stop();
      w.run();
      await w.until("no finalizer", async () => !(await w.pods()).some(isTracked));
      const pods = await w.pods();
      expect(status?.succeeded).toBe(pods.filter((pod) => pod.status?.phase === "Succeeded").length);
      expect(status?.succeeded).toBeGreaterThanOrEqual(6);
      expect(pods.length).toBe(6);
    },
  );
});
