import { expect, it } from "vitest";
import { VirtualClock, silentLog } from "@causeway/foundation";
import { runController, type ObjectKey } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { control, demo, owned } from "../testing/control-plane-observed.ts";
import { controlPlaneController } from "./controller.ts";
import { gather } from "./gather.ts";

it("the deletion of a control plane reads nothing of its workload cluster, which does not respond without its machines", async () => {
  const metadata = { deletionTimestamp: "2026-11-29T00:00:00Z" };
  let calls = 0;
  const list = () => {
    calls += 1;
    return Promise.resolve({ items: [] });
  };
  const machine = owned("a").machine;
  const contextOf = (deleting: boolean) =>
    ({
      clock: new VirtualClock(),
      log: silentLog,
      kinds: { kinds: [], find: () => undefined },
      clusters: { get: () => demo },
      controlPlanes: { get: () => control(deleting ? { metadata } : {}) },
      machines: { byIndex: () => [machine], list: () => [machine] },
      sets: { byIndex: () => [] },
      deployments: { byIndex: () => [] },
      pools: { byIndex: () => [] },
      pendingDeletions: { view: (object: unknown) => object },
      secrets: { get: () => undefined },
      remoteClusters: { get: () => ({ client: { list, find: () => Promise.resolve(undefined) } }) },
      informers: {
        for: () => ({ list: () => [], get: () => undefined }),
        client: { find: () => Promise.resolve(undefined) },
      },
    }) as unknown as Context;
  const read = (deleting: boolean) =>
    gather(contextOf(deleting), { namespace: "default", name: "control" }, new AbortController().signal);
  expect([(await read(true))?.workload.reach, calls]).toEqual(["unreachable", 0]);
  expect([(await read(false))?.workload.reach, calls]).toEqual(["connected", 1]);
});

it("a control plane is reconciled although the workload clusters of twenty others do not respond", async () => {
  const stop = new AbortController();
  const clock = new VirtualClock();
  const reached: string[] = [];
  const context = {
    clock,
    log: silentLog,
    kinds: { kinds: [], find: () => undefined },
    clusters: { get: () => demo },
    controlPlanes: {
      get({ name }: ObjectKey) {
        reached.push(name);
        return name === "healthy" ? undefined : control();
      },
    },
    machines: { byIndex: () => [], list: () => [] },
    secrets: { get: () => undefined },
    // What a reconcile awaits of a cluster that hangs.
    informers: { for: () => ({ list: () => [] }), client: { find: () => clock.sleep(60_000, stop.signal) } },
  } as unknown as Context;
  const sources = [
    (enqueue: (key: ObjectKey) => void) => {
      for (let at = 0; at < 20; at++) enqueue({ namespace: "default", name: `hung-${at}` });
      enqueue({ namespace: "default", name: "healthy" });
      return () => {};
    },
  ];
  const running = runController({ ...controlPlaneController(context), sources }, stop.signal);
  for (let at = 0; at < 30; at++) {
    await clock.advance(1_000);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
  expect(reached).toContain("healthy");
  stop.abort();
  await running;
});
