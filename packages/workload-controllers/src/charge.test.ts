import { afterEach, expect, test } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { silentLog } from "@causeway/foundation";
import {
  createEventRecorder,
  createInformers,
  DaemonSet,
  Deployment,
  Node,
  type Pod,
  StatefulSet,
} from "@causeway/kubernetes";
import { template } from "./testing/objects.ts";
import { World } from "./testing/world.ts";
import { createWorkloadControllers } from "./workload-controllers.ts";

let world: World | undefined;
const stop = new AbortController();
let running: Promise<unknown> | undefined;
afterEach(async () => {
  stop.abort();
  await running;
  await world?.close();
});

test("the work of controllers and the scheduler is charged, each stretch by itself", async () => {
  const w = (world = await World.start((clock) => startApiServer({ clock })));
  const { clock, client } = w;
  let depth = 0;
  let deepest = 0;
  let stretches = 0;
  const charge = <T>(work: () => T): T => {
    stretches++;
    deepest = Math.max(deepest, ++depth);
    try {
      return work();
    } finally {
      depth--;
    }
  };
  const informers = createInformers(client, { clock });
  const events = createEventRecorder(client, { component: "test", clock, signal: stop.signal });
  const controllers = createWorkloadControllers({ informers, clock, log: silentLog, events, charge });
  running = Promise.all([informers.run(stop.signal), controllers.run(stop.signal)]);
  const status = {
    capacity: { pods: "9" },
    allocatable: { pods: "9" },
    conditions: [{ type: "Ready", status: "True" }],
  };
  await w.create(Node, "one", { metadata: { name: "one" }, spec: {} });
  const body = { status };
  await client.patch(Node, { namespace: "", name: "one" }, { type: "merge", body }, { subresource: "status" });
  for (const type of [Deployment, StatefulSet, DaemonSet]) {
    const selector = { matchLabels: { app: type.plural } };
    await w.create<Pod>(type as unknown as typeof Pod, "web", {
      spec: { selector, template: template("web:1", { labels: { app: type.plural } }) },
    });
  }
  await w.until("three pods have their node", async () => {
    const pods = await w.pods();
    return pods.filter(({ spec }) => spec.nodeName === "one").length === 3;
  });
  // Two for each round of a controller, and one for each pod that is scheduled.
  expect(stretches).toBeGreaterThan(20);
  expect(deepest).toBe(1);
});
