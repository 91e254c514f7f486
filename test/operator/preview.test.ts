/** What `causeway plan openstack` compares, on a simulated cluster. */
import { createInformers } from "@causeway/kubernetes";
import { previewOpenStack } from "@causeway/openstack-operator";
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

describe("a comparison", () => {
  test("is with the upgrade that comes first, and has the images of that", async () => {
    const w = (world = await OperatorWorld.start(1));
    w.runOperator();
    await w.createDeployment({ release: "2022.2" });
    await w.whenReady();
    await w.settle();
    const current = await w.deployment();
    const packages = [{ name: "cinder-driver", version: "1.0", hashes: [`sha256:${"0".repeat(64)}`] }];
    const compare = (more: Partial<typeof current.spec>) => {
      const wanted = { ...current, spec: { ...current.spec, ...more } };
      return previewOpenStack(createInformers(w.client), current, wanted, AbortSignal.timeout(60_000));
    };
    const next = await compare({ release: "2023.1", services: [{ name: "cinder", packages }] });
    expect(next.first).toBeUndefined();
    expect(next.reruns).toContain("nova-upgrade-check");
    const later = await compare({ release: "2023.2", services: [{ name: "cinder", packages }] });
    expect(later).toEqual({ ...next, first: "2023.1" });
    expect(later.images.map(({ base }) => base)).toEqual([expect.stringMatching(/:2023\.1$/)]);
    const same = await compare({});
    expect(same).toEqual({ restarts: [], reruns: [], creates: [], touches: [], deletes: [], images: [] });
  });
});
