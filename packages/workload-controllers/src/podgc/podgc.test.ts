import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { silentLog } from "@causeway/foundation";
import { createEventRecorder, createInformers, Node, Pod, runController } from "@causeway/kubernetes";
import { template } from "../testing/objects.ts";
import { key, World } from "../testing/world.ts";
import { podGcController } from "./controller.ts";

let world: World | undefined;
const stop = new AbortController();
let running: Promise<unknown> | undefined;
afterEach(async () => {
  stop.abort();
  await running;
  await world?.close();
});

test("pods of a node that is gone, out of service, or never was, are removed", async () => {
  const w = (world = await World.start((clock) => startApiServer({ clock })));
  const { client, clock } = w;
  const informers = createInformers(client, { clock });
  const events = createEventRecorder(client, { component: "test", clock, signal: stop.signal });
  const controller = podGcController({ informers, clock, log: silentLog, events });
  running = Promise.all([informers.run(stop.signal), runController(controller, stop.signal)]);
  for (const name of ["gone", "out", "fine"]) await w.create(Node, name, { metadata: { name }, spec: {} });
  for (const nodeName of ["gone", "out", "fine"]) {
    await w.create(Pod, `on-${nodeName}`, { spec: { ...template().spec, nodeName } });
    await w.client.patch(
      Pod,
      key(`on-${nodeName}`),
      { type: "merge", body: { status: { phase: "Running" } } },
      { subresource: "status" },
    );
  }
  const exists = async (name: string) => (await client.find(Pod, key(name))) !== undefined;
  await client.delete(Node, { namespace: "", name: "gone" });
  await client.delete(Pod, key("on-out"));
  await w.pass(1_000);
  expect([await exists("on-gone"), await exists("on-out")]).toEqual([true, true]);
  const taints = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];
  await client.patch(Node, { namespace: "", name: "out" }, { type: "merge", body: { spec: { taints } } });
  await w.until("the pod out of service is removed", async () => !(await exists("on-out")));
  await w.until("the pod of the node that is gone is removed", async () => !(await exists("on-gone")), 1_000);
  expect(await exists("on-fine")).toBe(true);
});
