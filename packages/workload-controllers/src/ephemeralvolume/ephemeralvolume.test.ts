import { afterEach, describe, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { isControlledBy, Pod } from "@causeway/kubernetes";
import { PersistentVolumeClaim } from "../objects/storage.ts";
import { at, pod as podWith, template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";
import { plan } from "./plan.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const volumes = [
  { name: "scratch", ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: "b" } }, spec: claimSpec } } },
  { name: "other", emptyDir: {} },
];
const withVolume = (metadata: object = {}): Pod => {
  const made = podWith("web");
  return { ...made, metadata: { ...made.metadata, ...metadata }, spec: { ...made.spec, volumes } };
};
const claims = (...found: PersistentVolumeClaim[]) => new Map(found.map((each) => [each.metadata.name, each] as const));

describe("the claim of an ephemeral volume", () => {
  test("is created with the labels of its template, controlled by the pod", () => {
    expect(plan({ pod: withVolume(), claims: claims() }).steps).toMatchObject([
      {
        claim: {
          metadata: {
            name: "web-scratch",
            labels: { a: "b" },
            ownerReferences: [{ kind: "Pod", name: "web", uid: "uid-web", controller: true }],
          },
          spec: claimSpec,
        },
      },
    ]);
  });

  test("is not created again, nor for a pod that is being deleted", () => {
    const [step] = plan({ pod: withVolume(), claims: claims() }).steps;
    if (!step) throw new Error("no step");
    expect(plan({ pod: withVolume(), claims: claims(step.claim) })).toMatchObject({ steps: [], events: [] });
    expect(plan({ pod: withVolume({ deletionTimestamp: at(1) }), claims: claims() }).steps).toEqual([]);
  });

  test("of another owner is reported", () => {
    const foreign = {
      ...plan({ pod: withVolume({ uid: "other" }), claims: claims() }).steps[0]?.claim,
    } as PersistentVolumeClaim;
    expect(plan({ pod: withVolume(), claims: claims(foreign) }).events?.[0]?.message).toBe(
      "PVC default/web-scratch was not created for pod default/web (pod is not owner)",
    );
  });

  test("is deleted with its pod on an API server", async () => {
    const w = (world = await World.start((clock) => startApiServer({ clock })));
    w.run();
    const owner = await w.create(Pod, "web", { spec: { ...template().spec, volumes } });
    const claim = () => w.client.find(PersistentVolumeClaim, key("web-scratch"));
    const made = await w.until("the claim", claim);
    expect(isControlledBy(made, owner)).toBe(true);
    await w.client.delete(Pod, key("web"));
    await w.until("the claim is gone", async () => !(await claim()));
  });
});
