import { createMetrics, VirtualClock } from "@causeway/foundation";
import type { ReconcileResult } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { NodeSyncs } from "./node-syncs.ts";

const key = { namespace: "default", name: "web" };
const { signal } = new AbortController();

test("the time from a change of the nodes until a Service waits for nothing more is measured once", async () => {
  const clock = new VirtualClock();
  const metrics = createMetrics();
  const syncs = new NodeSyncs(metrics, clock);
  let result: ReconcileResult | undefined;
  let meanwhile = (): void => {};
  const reconcile = syncs.measured(async () => {
    meanwhile();
    return result;
  });
  const sumAndCount = async (): Promise<string[]> => {
    const lines = (await metrics.render()).split("\n");
    return lines.filter((line) => /latency_seconds_(sum|count)/.test(line)).map((line) => line.split(" ")[1] ?? "");
  };
  await reconcile(key, signal);
  expect(await sumAndCount()).toEqual(["0", "0"]);
  // It comes while a reconcile is under way, which has read the nodes before.
  meanwhile = () => syncs.changed([key, { ...key, name: "other" }]);
  await reconcile(key, signal);
  meanwhile = () => {};
  await clock.advance(3_000);
  result = { after: 60_000 };
  await reconcile(key, signal);
  syncs.changed([key]);
  expect(await sumAndCount()).toEqual(["0", "0"]);
  await clock.advance(4_000);
  result = undefined;
  await reconcile(key, signal);
  await reconcile(key, signal);
  expect(await sumAndCount()).toEqual(["7", "1"]);
});
