import { afterAll, afterEach, beforeAll } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { Event, Node, Service } from "@causeway/kubernetes";
import { loadCloudsYaml } from "@causeway/openstack";
import type { LoadBalancerConfig } from "../config/config.ts";
import { workIn } from "../testing/calls.ts";
import { World, type RunOptions, type Running } from "../testing/world.ts";

/** What the scenarios of one file share: an API server, a simulated cloud, and nodes that have joined. */
export interface Stage {
  readonly w: World;
  readonly cloud: Simulator;
  /** Starts a manager. */
  readonly run: (loadBalancer?: Partial<LoadBalancerConfig>, how?: RunOptions) => Running;
  /** Writes in the cloud since the last time it was asked, as "PUT /pools/ID/members". */
  readonly writes: () => string[];
  /** Writes, and reads of single objects or their parts, since the last time it or `writes` was asked. */
  readonly work: () => string[];
  /** Messages of the Service's events of that reason. */
  readonly told: (service: string, reason: string) => Promise<string[]>;
  /** Waits for such an event; its message. */
  readonly hears: (service: string, reason: string, text?: RegExp) => Promise<string>;
}

/** Sets the stage before a file's tests and clears it after each: whatever a Service made must be gone. */
export function setStage(servers = 3): () => Stage {
  let held: { w: World; cloud: Simulator; work: () => string[] } | undefined;
  let running: Running[] = [];
  const set = () => {
    if (!held) throw new Error("the stage is not set");
    return held;
  };
  beforeAll(async () => {
    const cloud = await startSimulator({ profile: "instant" });
    const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
    const server = await startApiServer();
    const intervals = { fast: 15, fastest: 15, slow: 300 };
    const w = await World.start({ server, config, prefix: "c", servers, intervals });
    held = { w, cloud, work: workIn(cloud.calls) };
    const first = w.run();
    await w.joinAll();
    await first.stop();
  });
  afterEach(async () => {
    const { w, cloud } = set();
    cloud.setFaults(undefined);
    cloud.setOutcomes([]);
    if (running.length === 0) running.push(w.run());
    await clear(w);
    for (const each of running) await each.stop();
    running = [];
  });
  afterAll(async () => {
    await held?.w.close();
    await held?.cloud.close();
  });
  return () => {
    const { w, cloud, work } = set();
    return {
      w,
      cloud,
      run(loadBalancer, how) {
        const started = w.run(loadBalancer, how);
        running.push(started);
        return started;
      },
      work,
      writes: () => work().filter((call) => !call.startsWith("GET")),
      told: (service, reason) => messages(w, service, reason),
      hears: (service, reason, text = /./) =>
        w.until(`event ${reason} of ${service}`, async () =>
          (await messages(w, service, reason)).find((message) => text.test(message)),
        ),
    };
  };
}

async function messages(w: World, service: string, reason: string): Promise<string[]> {
  const events = await w.client.list(Event, { namespace: "default" });
  return events.items
    .filter((e) => e.involvedObject.name === service && e.reason === reason)
    .map((e) => e.message ?? "");
}

/** Deletes the Services, and the labels and taints that a scenario gave to nodes. */
async function clear(w: World): Promise<void> {
  const services = await w.client.list(Service, { namespace: "default" });
  for (const { metadata, spec } of services.items)
    if (spec.type === "LoadBalancer" || metadata.finalizers !== undefined) await w.remove(metadata.name ?? "");
  for (const { metadata } of (await w.client.list(Node)).items) {
    const name = metadata.name ?? "";
    const labels = Object.fromEntries(
      Object.keys(metadata.labels ?? {})
        .filter((key) => !key.includes("topology") && !key.includes("instance-type") && !key.includes("failure-domain"))
        .map((key) => [key, null]),
    );
    await w.client.patch(Node, { namespace: "", name }, { type: "merge", body: { metadata: { labels } } });
    await w.client.patch(Node, { namespace: "", name }, { type: "merge", body: { spec: { taints: null } } });
  }
  const left = await w.loadBalancers();
  const ips = (await w.cloud.network.floatingIps.all()).filter((ip) => ip.description.startsWith("Floating IP for"));
  if (left.length + ips.length > 0)
    throw new Error(`a Service left ${[...left.map((lb) => lb.name), ...ips.map((ip) => ip.description)].join(", ")}`);
}
