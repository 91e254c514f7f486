import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { Endpoints, EndpointSlice, Service } from "@causeway/kubernetes";
import { seeded } from "@causeway/foundation/testing";
import { key, namespace, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const spec = { ports: [{ name: "sql", port: 5432 }] };
const subsets = (...ips: string[]) => [
  { addresses: ips.map((ip) => ({ ip })), ports: [{ name: "sql", port: 5432, protocol: "TCP" }] },
];
const slicesOf = async (w: World) =>
  (await w.client.list(EndpointSlice, { namespace, labelSelector: "kubernetes.io/service-name=db" })).items;
const shown = (w: World, ...ips: string[]) =>
  w.until(ips.join(), async () => {
    const slices = await slicesOf(w);
    const found = slices.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses));
    return JSON.stringify(found.toSorted((a, b) => (a < b ? -1 : 1))) === JSON.stringify(ips) && slices;
  });
const none = (w: World) => w.until("no slice", async () => (await slicesOf(w)).length === 0);

test("Endpoints that a user writes are mirrored, as long as their Service has no selector", async () => {
  const w = await start();
  w.run();
  await w.create(Service, "db", { spec });
  await w.create(Endpoints, "db", { subsets: subsets("10.0.0.1") });
  const [slice] = await shown(w, "10.0.0.1");
  expect(slice?.metadata.labels?.["endpointslice.kubernetes.io/managed-by"]).toBe(
    "endpointslicemirroring-controller.k8s.io",
  );
  await w.patch(Endpoints, "db", { subsets: subsets("10.0.0.1", "10.0.0.2") });
  const [updated] = await shown(w, "10.0.0.1", "10.0.0.2");
  expect(updated?.metadata.uid).toBe(slice?.metadata.uid);
  await w.patch(Endpoints, "db", { metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } });
  await none(w);
  await w.patch(Endpoints, "db", { metadata: { labels: null } });
  await shown(w, "10.0.0.1", "10.0.0.2");
  await w.client.delete(Endpoints, key("db"));
  await none(w);
});

test.each([31, 32, 33])(
  "one slice mirrors the Endpoints when writes are lost and controllers are killed (seed %i)",
  async (seed) => {
    const w = await start();
    const stop = w.runWithFaults(seeded(seed));
    await w.create(Service, "db", { spec });
    await w.create(Endpoints, "db", { subsets: subsets("10.0.0.1") });
    await shown(w, "10.0.0.1");
    await w.patch(Endpoints, "db", { subsets: subsets("10.0.0.2", "10.0.0.3") });
    await stop();
    w.run();
    expect(await shown(w, "10.0.0.2", "10.0.0.3")).toHaveLength(1);
  },
);
