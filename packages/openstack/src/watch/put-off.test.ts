import { silentLog, VirtualClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { PollingInformer, type WatchedType } from "./informer.ts";

interface Thing {
  id: string;
  status: string;
}

const thing = (status: string): Thing => ({ id: "a", status });
const things: WatchedType<Thing> = {
  name: "things",
  indexes: {},
  inTransition: ({ status }) => status.startsWith("PENDING"),
  transition: ({ status }) => ({ kind: status, size: 1 }),
  deleting: () => false,
  hardlyChanges: false,
};

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("a transition", () => {
  test("is not polled while a write is to show its end, and is polled when that write was refused or not sent", async () => {
    const clock = new VirtualClock();
    const world = { objects: [thing("ACTIVE")], polls: 0 };
    const list = (): Promise<Thing[]> => {
      world.polls += 1;
      return Promise.resolve(world.objects.map((object) => ({ ...object })));
    };
    const informer = new PollingInformer<Thing>({ type: things, list, clock, log: silentLog, intervals: {} });
    const pass = async (milliseconds: number): Promise<void> => {
      await settled();
      await clock.advance(milliseconds);
      await settled();
    };
    await informer.start();
    const begin = () => {
      world.objects = [thing("PENDING_UPDATE")];
      informer.observe(thing("PENDING_UPDATE"));
    };
    begin();
    informer.putOff("a");
    // Nothing is known of its length: it is polled.
    expect(informer.putOffUntil("a")).toBeUndefined();
    await pass(9_000);
    world.objects = [thing("ACTIVE")];
    await pass(5_000);
    expect(informer.get("a")?.status).toBe("ACTIVE");
    const polls = world.polls;
    begin();
    informer.putOff("a");
    const end = informer.putOffUntil("a") ?? 0;
    await pass(9_000);
    // The write that shows the end begins the next change.
    begin();
    expect(informer.putOffUntil("a")).toBeUndefined();
    informer.putOff("a");
    expect(informer.putOffUntil("a")).toBe(end + 9_000);
    await pass(9_000);
    expect(world.polls).toBe(polls);
    informer.checkAgain("a");
    await pass(1_000);
    expect(world.polls).toBeGreaterThan(polls);
    await informer.close();
  });
});
