import { VirtualClock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { CalmStatus } from "./calm-status.ts";

const statusOf = (replicas: number, message: string, ready = "False") => ({
  replicas,
  conditions: [{ type: "MachinesReady", status: ready, reason: "NotReady", message }],
});
const objectWith = (status: object, uid = "a"): KubeObject =>
  ({ apiVersion: "v1", kind: "Set", metadata: { name: "set", uid }, status }) as KubeObject;

test.each<[string, object, number | undefined]>([
  ["other messages only is held until a second has passed since the last", statusOf(1, "two"), 600],
  ["another number is written at once", statusOf(2, "two"), undefined],
  ["another status of a condition is written at once", statusOf(1, "two", "True"), undefined],
  ["one condition more is written at once", { ...statusOf(1, "one"), conditions: [] }, undefined],
  ["no difference is not held", statusOf(1, "one"), undefined],
])("a status with %s", async (_, status, held) => {
  const clock = new VirtualClock();
  const calm = new CalmStatus(clock);
  expect(calm.hold(objectWith({}), statusOf(1, "one"))).toBe(undefined);
  await clock.advance(400);
  expect(calm.hold(objectWith(statusOf(1, "one")), status)).toBe(held);
  expect(calm.hold(objectWith(statusOf(1, "one"), "another"), status)).toBe(undefined);
});

test("a status is not held longer because the clock was set back", () => {
  let now = 3_600_000;
  const calm = new CalmStatus({ now: () => now, sleep: () => Promise.resolve() });
  calm.hold(objectWith({}), statusOf(1, "one"));
  now = 0;
  expect(calm.hold(objectWith(statusOf(1, "one")), statusOf(1, "two"))).toBe(undefined);
  expect(calm.hold(objectWith(statusOf(1, "two")), statusOf(1, "three"))).toBe(1_000);
});

test("a status that changes its messages all the time is written once a second", async () => {
  const clock = new VirtualClock();
  const calm = new CalmStatus(clock);
  let standing: object = {};
  const writes: number[] = [];
  for (let i = 0; i < 30; i++) {
    const status = statusOf(1, `${i} to go`);
    if (calm.hold(objectWith(standing), status) === undefined) {
      standing = status;
      writes.push(i * 100);
    }
    await clock.advance(100);
  }
  expect(writes).toEqual([0, 1_000, 2_000]);
});
