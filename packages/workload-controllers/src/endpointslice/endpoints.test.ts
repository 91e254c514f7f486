import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Endpoints, EndpointSlice, Pod, ReplicaSet, Service } from "@causeway/kubernetes";
import { seeded } from "@causeway/foundation/testing";
import { template } from "../testing/objects.ts";
import { key, namespace, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const spec = { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] };
const set = (replicas: number) => ({
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template() },
});
const slicesOf = async (w: World) =>
  (await w.client.list(EndpointSlice, { namespace, labelSelector: "kubernetes.io/service-name=web" })).items;
const compare = (a: string, b: string) => (a < b ? -1 : 1);
/** Both kinds show exactly the pods that are ready. */
const shown = (w: World, count: number) =>
  w.until(`${count} endpoints`, async () => {
    const wanted = (await w.pods()).map(({ status }) => status?.podIP ?? "").toSorted(compare);
    const slices = await slicesOf(w);
    const inSlices = slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready);
    const found =
      (await w.client.find(Endpoints, key("web")))?.subsets?.flatMap(({ addresses = [] }) => addresses) ?? [];
    const same = (ips: string[]) => JSON.stringify(ips.toSorted(compare)) === JSON.stringify(wanted);
    const all = same(inSlices.flatMap(({ addresses }) => addresses)) && same(found.map(({ ip }) => ip));
    return wanted.length === count && all && slices;
  });

test("EndpointSlices and Endpoints follow the ready pods of a Service, and go with it", async () => {
  const w = await start();
  await w.playKubelet();
  w.run();
  await w.create(Service, "web", { spec });
  await w.create(ReplicaSet, "web", set(3));
  const [slice, ...more] = await shown(w, 3);
  expect(more).toEqual([]);
  expect(slice?.endpoints.map(({ zone }) => zone)).toContain("zone-one");
  await w.patch(ReplicaSet, "web", { spec: { replicas: 1 } });
  await shown(w, 1);
  await w.client.delete(Service, key("web"));
  await w.until(
    "nothing left",
    async () => (await slicesOf(w)).length === 0 && !(await w.client.find(Endpoints, key("web"))),
  );
});

test.each([21, 22, 23])(
  "one slice holds the ready pods when writes are lost and controllers are killed (seed %i)",
  async (seed) => {
    const w = await start();
    await w.playKubelet();
    const stop = w.runWithFaults(seeded(seed));
    await w.create(Service, "web", { spec });
    await w.create(ReplicaSet, "web", set(4));
    await w.until("pods", async () => (await w.pods()).length >= 4);
    const [first] = await w.pods();
    await w.client.delete(Pod, key(first?.metadata.name ?? ""));
    await stop();
    w.run();
    expect(await shown(w, 4)).toHaveLength(1);
  },
);
