import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Deployment, isControlledBy, ReplicaSet } from "@causeway/kubernetes";
import { seeded } from "@causeway/foundation/testing";
import { template } from "../testing/objects.ts";
import { annotations } from "../testing/played-kubelet.ts";
import { key, namespace, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const web = (replicas: number, fields: object = {}) => ({
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template(), ...fields },
});
const read = (w: World) => w.client.get(Deployment, key("web"));
const sets = async (w: World) => (await w.client.list(ReplicaSet, { namespace })).items;
const active = async (w: World) => (await w.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
/** What `kubectl rollout status` waits for. */
const rolledOut = (w: World, replicas: number, image: string) =>
  w.until(`${replicas} pods of ${image}`, async () => {
    const { metadata, status = {}, spec } = await read(w);
    const isObserved = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0);
    const counts = [status.updatedReplicas ?? 0, status.replicas ?? 0, status.availableReplicas ?? 0];
    if (!isObserved || spec.replicas !== replicas || counts.some((count) => count !== replicas)) return undefined;
    const pods = await w.pods();
    return pods.length === replicas && pods.every((pod) => pod.spec.containers[0]?.image === image);
  });

describe("a Deployment on an API server", () => {
  test("rolls out, scales, goes back and keeps its history", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    await w.create(Deployment, "web", web(2, { revisionHistoryLimit: 1 }));
    await rolledOut(w, 2, "web:1");
    for (const image of ["web:2", "web:3"]) {
      await w.patch(Deployment, "web", { spec: { template: { spec: { containers: [{ name: "web", image }] } } } });
      await rolledOut(w, 2, image);
    }
    await w.until("one old ReplicaSet", async () => (await sets(w)).length === 2);
    await w.patch(Deployment, "web", { spec: { replicas: 4 } });
    await rolledOut(w, 4, "web:3");
    const old = (await sets(w)).find(({ spec }) => spec.replicas === 0);
    await w.patch(Deployment, "web", { spec: { template: { spec: old?.spec.template.spec } } });
    await rolledOut(w, 4, "web:2");
    const done = await w.until("revision 4", async () => {
      const found = await read(w);
      return found.metadata.annotations?.["deployment.kubernetes.io/revision"] === "4" && found;
    });
    expect(
      done.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`).toSorted(),
    ).toEqual(["Available=True MinimumReplicasAvailable", "Progressing=True NewReplicaSetAvailable"]);
    const events = await w.events();
    expect(events).toContainEqual(
      expect.stringMatching(/^ScalingReplicaSet: Scaled up replica set web-\w+ from 0 to 2$/),
    );
  });

  test("exceeds its progress deadline, and is repaired by the next template", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    const held = template("web:1", { annotations: { [annotations.pending]: "" } });
    await w.create(Deployment, "web", web(1, { template: held, progressDeadlineSeconds: 30 }));
    const isLate = async () => {
      const { status } = await read(w);
      return status?.conditions?.some(({ reason }) => reason === "ProgressDeadlineExceeded");
    };
    await w.until("the deadline", isLate, 1_000);
    await w.patch(Deployment, "web", {
      spec: { template: { metadata: { annotations: { [annotations.pending]: null } } } },
    });
    await rolledOut(w, 1, "web:1");
  });

  test("Recreate runs pods of one template at a time", async () => {
    const w = await start();
    await w.playKubelet();
    w.run();
    await w.create(Deployment, "web", web(2, { strategy: { type: "Recreate" } }));
    await rolledOut(w, 2, "web:1");
    await w.patch(Deployment, "web", {
      spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
    });
    let mixed = false;
    await w.until("the new pods", async () => {
      const images = new Set((await w.pods()).map((pod) => pod.spec.containers[0]?.image));
      mixed ||= images.size > 1;
      return images.size === 1 && images.has("web:2");
    });
    await rolledOut(w, 2, "web:2");
    expect(mixed).toBe(false);
  });

  // More seeds are schedules of `npm run test:faults`.
  test.each([11])(
    "never exceeds maxSurge and leaves no orphan when writes are lost and controllers are killed (seed %i)",
    async (seed) => {
      const w = await start();
      await w.playKubelet();
      const stop = w.runWithFaults(seeded(seed), 0.1);
      const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 };
      await w.create(Deployment, "web", web(4, { strategy: { type: "RollingUpdate", rollingUpdate } }));
      let most = 0;
      const watched = (what: string, image: string) =>
        w.until(what, async () => {
          const pods = await active(w);
          // As upstream, maxSurge limits the sizes of the ReplicaSets: one that shrinks while it creates a pod deletes
          // a pod afterwards.
          const sizes = (await sets(w)).map((set) => set.spec.replicas ?? 1);
          most = Math.max(
            most,
            sizes.reduce((sum, size) => sum + size, 0),
          );
          return pods.length === 4 && pods.every((pod) => pod.spec.containers[0]?.image === image);
        });
      await watched("the first pods", "web:1");
      await w.patch(Deployment, "web", {
        spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
      });
      await watched("the second pods", "web:2");
      await stop();
      w.run();
      await rolledOut(w, 4, "web:2");
      expect(most).toBeLessThanOrEqual(5);
      const owners = await sets(w);
      expect(owners).toHaveLength(2);
      const deployment = await read(w);
      expect(owners.every((set) => isControlledBy(set, deployment))).toBe(true);
      expect((await w.pods()).every((pod) => owners.some((set) => isControlledBy(pod, set)))).toBe(true);
    },
  );
});
