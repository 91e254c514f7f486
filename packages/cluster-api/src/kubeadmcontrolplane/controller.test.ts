import { expect, it } from "vitest";
import { VirtualClock, silentLog } from "@causeway/foundation";
import { runController, type ObjectKey } from "@causeway/kubernetes";
import type { Context } from "../objects/context.ts";
import { control, demo } from "../testing/control-plane-observed.ts";
import { controlPlaneController } from "./controller.ts";

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
