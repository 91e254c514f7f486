/**
 * Another number of members of an own etcd, with real programs: one becomes three, three become one, and that one three
 * again, while a client writes; the program that does it is ended in between.
 */
import { HostedControlPlane } from "@causeway/api";
import { systemClock } from "@causeway/foundation";
import { ConfigMap, Pod, StatefulSet, type KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { available, create, key, managed, missingFor, startWorld, until, type World } from "./runtime-world.ts";

// Members start one by one, and all pods are restarted at the end. Each test begins with what the one before has left.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

const why = missingFor("Pods");

/** Writes all the time; what was acknowledged, and the longest time between two of these (ms). */
function writer(client: KubernetesClient) {
  const state = { written: 0, failures: 0, longest: 0, run: true };
  const work = (async () => {
    let last = Date.now();
    while (state.run) {
      try {
        const data = { n: String(state.written + 1) };
        await client.patch(ConfigMap, key("beat"), { type: "merge", body: { data } });
        state.written++;
        state.longest = Math.max(state.longest, Date.now() - last);
        last = Date.now();
      } catch {
        state.failures++;
      }
      await systemClock.sleep(25);
    }
  })();
  return {
    async stop() {
      state.run = false;
      await work;
      return { written: state.written, failures: state.failures, longest: state.longest };
    },
  };
}

describe.skipIf(why !== undefined)(`members of an own etcd${why === undefined ? "" : ` (${why})`}`, () => {
  let world: World;
  let tenant: KubernetesClient;
  beforeAll(async () => {
    world = await startWorld("Pods");
    await create(world, "one");
    await available(world, "one");
    tenant = await world.tenant("one");
    const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: key(name), data: {} });
    await until("a write", () => tenant.create(ConfigMap, configMap("beat")));
    for (let i = 0; i < 50; i++) await tenant.create(ConfigMap, configMap(`kept-${i}`));
  });
  afterAll(() => world.close());

  const etcd = async (): Promise<StatefulSet> => {
    const { items } = await world.client.list(StatefulSet, { labelSelector: managed });
    const found = items.find(({ metadata }) => metadata.namespace?.startsWith("hcp-one-"));
    if (found === undefined) throw new Error("no etcd");
    return found;
  };
  const request = (members: number) => {
    const body = { spec: { pods: { datastore: { type: "Own", members } } } };
    return world.client.patch(HostedControlPlane, key("one"), { type: "merge", body });
  };
  /** Everything is as requested, and no pod is left of another number. */
  const settled = (members: number) =>
    until(
      `${members} members`,
      async () => {
        const { metadata, spec, status } = await etcd();
        const { annotations = {}, namespace = "" } = metadata;
        const { items } = await world.client.list(Pod, { namespace });
        const pods = items.filter((pod) => pod.metadata.name.startsWith("etcd-")).length;
        const isSettled =
          annotations["controlplane.causeway.dev/members"] === String(members) &&
          annotations["controlplane.causeway.dev/registered-members"] === undefined;
        const isReady = spec.replicas === members && status?.readyReplicas === members && pods === members;
        const { status: plane } = await world.client.get(HostedControlPlane, key("one"));
        const upToDate = plane?.conditions?.find(({ type }) => type === "UpToDate")?.status === "True";
        return isSettled && isReady && upToDate ? true : undefined;
      },
      3_000,
    );
  const firstMember = async (): Promise<string | undefined> => {
    const { namespace = "" } = (await etcd()).metadata;
    return (await world.client.get(Pod, { namespace, name: "etcd-0" })).metadata.uid;
  };
  const intact = async (written: number): Promise<void> => {
    // The only API server is restarted by its kubelet where the only member was away for longer than its probe permits.
    const { items } = await until("a list", () => tenant.list(ConfigMap, { namespace: "default" }));
    expect(items.filter(({ metadata }) => metadata.name.startsWith("kept-"))).toHaveLength(50);
    // A write whose answer was lost may have been done, too.
    const { data } = await until("a read", () => tenant.get(ConfigMap, key("beat")));
    expect(Number(data?.["n"])).toBeGreaterThanOrEqual(written);
  };

  test.for([
    [1, 3],
    [3, 1],
    [1, 3],
  ])(
    "go from %i to %i while a client writes, and no acknowledged write is lost",
    { retry: 0 },
    async ([before, after]) => {
      await settled(before ?? 0);
      const first = await firstMember();
      const writing = writer(tenant);
      await request(after ?? 0);
      await until("begun", async () =>
        (await etcd()).metadata.annotations?.["controlplane.causeway.dev/registered-members"] === "2"
          ? true
          : undefined,
      );
      // The program ends in the midst, and another one continues.
      await world.restart();
      await settled(after ?? 0);
      const result = await writing.stop();
      console.log({ from: before, to: after, ...result });
      await intact(result.written);
      // Where one remains, its restart would stop all writes.
      if (after === 1) expect(await firstMember()).toBe(first);
      expect(result.written).toBeGreaterThan(10);
    },
  );
});
