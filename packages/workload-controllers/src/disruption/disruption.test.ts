import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { CausewayError } from "@causeway/foundation";
import { CustomResourceDefinition, Deployment, Pod } from "@causeway/kubernetes";
import { PodDisruptionBudget } from "../objects/budget.ts";
import { template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async () => (world = await World.start((clock) => startApiServer({ clock })));
const web = (replicas: number) => ({
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template() },
});
const selector = { matchLabels: { app: "web" } };
const allowed = async (w: World, name = "web") => (await w.client.get(PodDisruptionBudget, key(name))).status;
const evict = async (w: World, name: string): Promise<unknown> => {
  const path = `/api/v1/namespaces/default/pods/${name}/eviction`;
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: "default" } };
  try {
    await w.client.request("POST", path, { body });
    return "evicted";
  } catch (error) {
    return error instanceof CausewayError ? error.details?.["status"] : error;
  }
};

test("a budget lets as many pods be evicted as it allows, and again once they are replaced", async () => {
  const w = await start();
  await w.playKubelet();
  w.run();
  await w.create(Deployment, "web", web(3));
  await w.create(PodDisruptionBudget, "web", { spec: { maxUnavailable: 1, selector } });
  const oneAllowed = () => w.until("one disruption", async () => (await allowed(w))?.disruptionsAllowed === 1);
  await oneAllowed();
  const [first, second] = await w.pods();
  expect(await evict(w, first?.metadata.name ?? "")).toBe("evicted");
  expect(await evict(w, second?.metadata.name ?? "")).toMatchObject({
    code: 429,
    reason: "TooManyRequests",
    details: { causes: [{ reason: "DisruptionBudget" }] },
  });
  await oneAllowed();
  expect((await allowed(w))?.disruptedPods ?? {}).toEqual({});
  expect(await evict(w, second?.metadata.name ?? "")).toBe("evicted");
});

test("a budget reads the scale of custom resources, and fails where they have none", async () => {
  const w = await start();
  w.run();
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  for (const [kind, plural, scale] of [
    ["Gadget", "gadgets", { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" }],
    ["Widget", "widgets", undefined],
  ] as const) {
    await w.create(CustomResourceDefinition, `${plural}.example.com`, {
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { kind, plural },
        versions: [{ name: "v1", served: true, storage: true, schema, ...(scale ? { subresources: { scale } } : {}) }],
      },
    });
    const type = { group: "example.com", version: "v1", kind, plural, namespaced: true };
    const owner = await w.until(`${plural} are served`, () =>
      w.create(type, "some", { spec: { replicas: 3 } }).catch(() => undefined),
    );
    const labels = { app: plural };
    const reference = { apiVersion: "example.com/v1", kind, name: "some", uid: owner.metadata.uid, controller: true };
    await w.create(Pod, plural, {
      metadata: { name: plural, namespace: "default", labels, ownerReferences: [reference] },
      spec: template().spec,
    });
    await w.create(PodDisruptionBudget, plural, { spec: { maxUnavailable: 1, selector: { matchLabels: labels } } });
  }
  await w.until("the scale counts", async () => (await allowed(w, "gadgets"))?.expectedPods === 3);
  const failed = await w.until("the failure", async () => {
    const { conditions } = (await allowed(w, "widgets")) ?? {};
    return conditions?.find(({ reason }) => reason === "SyncFailed");
  });
  expect(failed.message).toBe("widgets.example.com does not implement the scale subresource");
});
