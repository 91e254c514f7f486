import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { Event, Node, Service } from "@causeway/kubernetes";
import { loadCloudsYaml } from "@causeway/openstack";
import type { LoadBalancerConfig } from "../config/config.ts";
import { routeOf, workIn } from "../testing/calls.ts";
import { SkippingClock } from "../testing/skipping-clock.ts";
import { fastClock, World, type RunOptions, type RunningCloud, type WorldServer } from "../testing/world.ts";

/**
 * Milliseconds that a scenario may take on a busy machine: `until` waits for two minutes at most, several times in some
 * of them.
 */
export const SLOW = { testTimeout: 600_000, hookTimeout: 300_000 };
/** The annotation of a Service with the prefix of cloud-provider-openstack. */
export const os = (name: string): string => `loadbalancer.openstack.org/${name}`;
/** Annotations of a Service without a floating IP. */
export const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };
/** The tag by which a load balancer names its Service as its owner. */
export async function ownerOf(w: World, service: string, cluster = "c"): Promise<string> {
  return `k8s-owner=${cluster}/${(await w.service(service)).metadata.uid}`;
}
/** Real time, for what has no event to wait for. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** A TCP port of a Service. */
export const tcp = (port: number) => ({ name: `t${port}`, port, protocol: "TCP" as const });
/** A UDP port of a Service. */
export const udp = (port: number) => ({ name: `u${port}`, port, protocol: "UDP" as const });

/** What the scenarios of one file share: an API server, a simulated cloud, and nodes that have joined. */
export interface Stage {
  readonly w: World;
  readonly cloud: Simulator;
  /** Moves the cloud's clock forward: what it has under way is done by then. The manager's clock does not move. */
  readonly skip: (milliseconds: number) => void;
  /** Starts a manager. */
  readonly run: (loadBalancer?: Partial<LoadBalancerConfig>, how?: RunOptions) => RunningCloud;
  /** Writes in the cloud since the last time it was read, as "PUT /pools/ID/members". */
  readonly writes: () => string[];
  /** Writes, and reads of single objects or their parts, since the last time it or `writes` was read. */
  readonly work: () => string[];
  /** Messages of the Service's events of that reason. */
  readonly messagesOf: (service: string, reason: string) => Promise<string[]>;
  /** Waits for such an event; its message. */
  readonly hears: (service: string, reason: string, text?: RegExp) => Promise<string>;
}

/** Sets the stage before a file's tests and clears it after each: whatever a Service made must be gone. */
export function setStage(servers = 3, dualStack = false): () => Stage {
  vi.setConfig(SLOW);
  let held: { w: World; cloud: Simulator; clock: SkippingClock; work: () => string[] } | undefined;
  let running: RunningCloud[] = [];
  const set = () => {
    if (!held) throw new Error("the stage is not set");
    return held;
  };
  beforeAll(async () => {
    const clock = new SkippingClock();
    const cloud = await startSimulator({ profile: "instant", clock });
    const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
    const server = await startOne(dualStack);
    const intervals = { fast: 15, fastest: 15, slow: 300 };
    const w = await World.start({ server, config, prefix: "c", servers, intervals, dualStack });
    held = { w, cloud, clock, work: workIn(cloud.calls) };
    const first = w.run();
    await w.joinAll();
    await first.stop();
  });
  afterEach(async () => {
    const { w, cloud } = set();
    cloud.setFaults(undefined);
    cloud.setOutcomes([]);
    for (const driver of ["ovn", "amphora"])
      for (const verb of ["create", "update", "delete"]) cloud.setDelay(`loadbalancer.${driver}.${verb}`, 0);
    if (running.length === 0) running.push(w.run());
    await clear(w);
    for (const each of running) await each.stop();
    running = [];
    for (const { metadata } of (await w.client.list(Event, { namespace: "default" })).items)
      await w.client.delete(Event, { namespace: "default", name: metadata.name });
  });
  afterAll(async () => {
    await held?.w.close();
    await held?.cloud.close();
  });
  return () => {
    const { w, cloud, clock, work } = set();
    return {
      w,
      cloud,
      skip: (milliseconds) => clock.skip(milliseconds),
      run(loadBalancer, how) {
        const started = w.run(loadBalancer, { clock: fastClock(10), ...how });
        running.push(started);
        return started;
      },
      work,
      writes: () => work().filter((call) => !call.startsWith("GET")),
      messagesOf: (service, reason) => messages(w, service, reason),
      hears: (service, reason, text = /./) =>
        w.until(`event ${reason} of ${service}`, async () =>
          (await messages(w, service, reason)).find((message) => text.test(message)),
        ),
    };
  };
}

/** The API server; with both families where they are wanted, which is the affair of a logical cluster. */
async function startOne(dualStack: boolean): Promise<WorldServer> {
  const server = await startApiServer();
  if (!dualStack) return server;
  const management = await server.ensureCluster("dual", { serviceCidr: "10.96.0.0/16,fd96::/112" });
  return { management, close: () => server.close() };
}

async function messages(w: World, service: string, reason: string): Promise<string[]> {
  const events = await w.client.list(Event, { namespace: "default" });
  return events.items
    .filter((e) => e.involvedObject.name === service && e.reason === reason)
    .map((e) => e.message ?? "");
}

function isOfCloud(label: string): boolean {
  return ["topology", "instance-type", "failure-domain"].some((part) => label.includes(part));
}

/** Deletes the Services, and the labels and taints that a scenario gave to nodes. */
async function clear(w: World): Promise<void> {
  const services = await w.client.list(Service, { namespace: "default" });
  for (const { metadata, spec } of services.items)
    if (spec.type === "LoadBalancer" || metadata.finalizers !== undefined) await w.remove(metadata.name ?? "");
  for (const { metadata, spec } of (await w.client.list(Node)).items) {
    const given = Object.keys(metadata.labels ?? {}).filter((key) => !isOfCloud(key));
    const key = { namespace: "", name: metadata.name };
    const labels = Object.fromEntries(given.map((label) => [label, null]));
    const body = { metadata: { labels }, spec: { taints: null } };
    if (given.length + (spec?.taints?.length ?? 0) > 0) await w.client.patch(Node, key, { type: "merge", body });
  }
  const left = await w.loadBalancers();
  const ips = (await w.cloud.network.floatingIps.all()).filter((ip) => ip.description.startsWith("Floating IP for"));
  if (left.length + ips.length > 0)
    throw new Error(`a Service left ${[...left.map((lb) => lb.name), ...ips.map((ip) => ip.description)].join(", ")}`);
}

/** Answers calls of that route with a fault, so many times. */
export function refuse(
  cloud: Simulator,
  route: string,
  fault: { status: number; message?: string; times?: number; headers?: Record<string, string> },
): void {
  let left = fault.times ?? 1;
  cloud.setFaults((call) => {
    if (routeOf(call) !== route || left-- <= 0) return undefined;
    const faultstring = fault.message ?? "no";
    return {
      when: "before",
      status: fault.status,
      body: { faultcode: "Client", faultstring, debuginfo: null },
      ...(fault.headers ? { headers: fault.headers } : {}),
    };
  });
}

/** A cloud whose Octavia is as old as that, or has those providers alone. */
export function withOctavia(cloud: Simulator, version: string, providers?: readonly string[]): void {
  const newest = Number(version.split(".")[1]);
  const versions = Array.from({ length: newest + 1 }, (_, minor) => ({ id: `v2.${minor}`, status: "SUPPORTED" }));
  cloud.setFaults((call) => {
    if (call.service !== "load-balancer" || call.method !== "GET") return undefined;
    if (call.path === "" || call.path === "/") return { when: "before", status: 200, body: { versions } };
    if (providers === undefined || !call.path.endsWith("/providers")) return undefined;
    return { when: "before", status: 200, body: { providers: providers.map((name) => ({ name, description: "" })) } };
  });
}
