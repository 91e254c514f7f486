import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { ControllerRevision, DaemonSet, isControlledBy, Node } from "@causeway/kubernetes";
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
const agent = (fields: object = {}) => ({
  spec: { selector: { matchLabels: { app: "web" } }, template: template(), ...fields },
});
const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: "web", image: name }] } } } });
const active = async (w: World) => (await w.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
/** What `kubectl rollout status` waits for, and that all pods are of the image. */
const rolledOut = (w: World, count: number, of: string) =>
  w.until(`${count} pods of ${of}`, async () => {
    const { metadata, status } = await w.client.get(DaemonSet, key("agent"));
    if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return undefined;
    const pods = await w.pods();
    if (pods.length !== count || pods.some((pod) => pod.spec.containers[0]?.image !== of)) return undefined;
    return status?.updatedNumberScheduled === count && (status.numberAvailable ?? 0) === count;
  });

describe("a DaemonSet on an API server", () => {
  test("runs on each node that is eligible, follows nodes, updates, goes back and keeps its history", async () => {
    const w = await start();
    await w.playKubelet(["one", "two", "three"]);
    w.run();
    const set = await w.create(DaemonSet, "agent", agent({ revisionHistoryLimit: 1 }));
    await rolledOut(w, 3, "web:1");
    const pods = await w.pods();
    expect(pods.map(({ spec }) => spec.nodeName).toSorted((a = "", b = "") => a.localeCompare(b))).toEqual([
      "one",
      "three",
      "two",
    ]);
    expect(pods.every((pod) => isControlledBy(pod, set))).toBe(true);
    for (const name of ["web:2", "web:3", "web:2"]) {
      await w.patch(DaemonSet, "agent", image(name));
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
    const taints = [{ key: "own", effect: "NoExecute" }];
    await w.client.patch(Node, { namespace: "", name: "two" }, { type: "merge", body: { spec: { taints } } });
    await rolledOut(w, 2, "web:2");
    expect(await w.events()).toContainEqual(expect.stringMatching(/^SuccessfulDelete: Deleted pod: agent-\w+$/));
  });

  test("replaces pods that fail, each time later", async () => {
    const w = await start();
    await w.playKubelet(["one"]);
    w.run();
    const failing = template("web:1", { annotations: { [annotations.finish]: "Failed" } });
    await w.create(DaemonSet, "agent", agent({ template: failing }));
    const began = w.clock.now();
    await w.until(
      "four failures",
      async () => {
        const events = await w.events();
        return (
          events.filter((event) => event.startsWith("FailedDaemonPod: Found failed daemon pod default/agent-"))
            .length >= 4
        );
      },
      100,
    );
    // At once, then after 1, 2 and 4 s.
    expect(w.clock.now() - began).toBeGreaterThanOrEqual(7_000);
  });

  test.each([51, 52, 53])(
    "has one pod on each node, and with maxSurge two at most, when writes are lost and controllers are killed (seed %i)",
    async (seed) => {
      const w = await start();
      await w.playKubelet(["one", "two", "three"]);
      const stop = w.runWithFaults(seeded(seed), 0.1);
      const updateStrategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      const set = await w.create(DaemonSet, "agent", agent({ updateStrategy }));
      let most = 0;
      const podsOf = (name: string) =>
        w.until(`pods of ${name}`, async () => {
          const pods = await active(w);
          most = Math.max(most, pods.length);
          return pods.length === 3 && pods.every((pod) => pod.spec.containers[0]?.image === name);
        });
      await podsOf("web:1");
      await w.patch(DaemonSet, "agent", image("web:2"));
      await podsOf("web:2");
      await stop();
      w.run();
      await rolledOut(w, 3, "web:2");
      expect(most).toBeLessThanOrEqual(4);
      expect((await w.pods()).every((pod) => isControlledBy(pod, set))).toBe(true);
    },
  );
});
