import { OpenStackCluster } from "@causeway/api";
import { Event } from "@causeway/kubernetes";
import { expect, it } from "vitest";
import { demoSpec } from "../testing/objects.ts";
import { openInfrastructure } from "./world.ts";

const world = openInfrastructure();

it("the OpenStack provider keeps a cluster's router connected while deletions are held, and tries once a minute", async () => {
  const before = world.inventory();
  let isHeld = true;
  const running = world.start(undefined, undefined, () => isHeld);
  await world.createCluster("kept", demoSpec);
  await world.clusterReady("kept");
  await world.rested();
  const made = world.inventory();
  const from = world.simulator.calls.length;
  const key = { namespace: "default", name: "kept" };
  await world.client.delete(OpenStackCluster, key);
  const ready = await world.until("its condition", async () => {
    const { status } = await world.client.get(OpenStackCluster, key);
    return status?.conditions?.find(({ type, reason }) => type === "Ready" && reason === "DeletionsHeld");
  });
  expect(ready.message).toBe("Deletions are held by the operator (CLOUD_DELETIONS_HELD).");
  await world.rested();
  expect(world.inventory()).toEqual(made);
  expect(world.simulator.calls.slice(from).filter(({ method }) => method !== "GET")).toEqual([]);
  await running.kill();
  const { items } = await world.client.list(Event, { namespace: key.namespace });
  expect(items.filter(({ reason }) => reason === "DeletionsHeld").map(({ count }) => count ?? 1)).toEqual([1]);
  isHeld = false;
  const later = world.start();
  await world.until("it to go", async () => (await world.client.find(OpenStackCluster, key)) === undefined);
  await later.kill();
  expect(world.inventory()).toEqual(before);
});
