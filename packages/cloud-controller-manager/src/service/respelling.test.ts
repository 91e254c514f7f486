import { VirtualClock } from "@causeway/foundation";
import { Brake, runPipeline, type PlannedEvent, type Pipeline, type ServiceStatus } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { LoadBalancerConfig } from "../config/config.ts";
import { nothingHeld } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService, tcp80, udp53 } from "../testing/objects.ts";
import { aimOf, isIndependent, isRefusal, wishesOf } from "./brake.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

const os = (name: string) => `loadbalancer.openstack.org/${name}`;
const nodes = [1, 2].map((i) => aNode(`n${i}`, { address: `10.0.0.${i}` }));
const never = new AbortController().signal;
const key = { namespace: "default", name: "web" };

type Part = "load balancer" | "listener" | "pool" | "member" | "monitor" | "floating IP";
interface Field {
  readonly part: Part;
  readonly field: string;
}

/** Services that between them send every field. */
const services: Record<string, () => { world: ModelWorld }> = {
  "a Service with monitors, source ranges, timeouts and affinity": () => ({
    world: worldOf(
      { sessionAffinity: "ClientIP", loadBalancerSourceRanges: ["10.0.0.0/8"], ports: [tcp80, udp53] },
      { [os("connection-limit")]: "7", [os("tags")]: "mine" },
      { createMonitor: true },
    ),
  }),
  "a Service with TLS, headers and a health check port": () => ({
    world: worldOf(
      { externalTrafficPolicy: "Local", healthCheckNodePort: 32_000, ports: [tcp80] },
      { [os("default-tls-container-ref")]: "https://keys/containers/1", [os("x-forwarded-for")]: "true" },
      { createMonitor: true },
    ),
  }),
  "a Service with the PROXY protocol, whose parts are sent one by one": () => ({
    world: worldOf({ ports: [tcp80] }, { [os("proxy-protocol")]: "v2" }, { createMonitor: true, serialApiCalls: true }),
  }),
};

function worldOf(
  spec: Parameters<typeof aService>[0],
  annotations: Record<string, string>,
  config: Partial<LoadBalancerConfig>,
): ModelWorld {
  return new ModelWorld(aService(spec, annotations), nodes, { provider: "amphora", ...config });
}

/** The fields of all bodies that are sent for the Service. */
function fieldsOf(world: ModelWorld): Field[] {
  const sent = new Map<string, Field>();
  const note = (part: Part, body: object): void => {
    for (const field of Object.keys(body)) sent.set(`${part} ${field}`, { part, field });
  };
  const noteTree = (listeners: readonly object[]): void => {
    for (const listener of listeners as readonly Record<string, Record<string, unknown>>[]) {
      const { default_pool: pool = {}, ...own } = listener;
      const { members = [], healthmonitor = {}, ...ofPool } = pool;
      note("listener", own);
      note("pool", ofPool);
      note("monitor", healthmonitor as object);
      for (const member of members as readonly object[]) note("member", member);
    }
  };
  const apply = world.apply.bind(world);
  world.apply = (step) => {
    if (step.type === "create-load-balancer") {
      const { listeners = [], ...own } = step.body;
      note("load balancer", own);
      noteTree(listeners);
    } else if (step.type === "create-floating-ip") note("floating IP", { description: 1, port_id: 1 });
    else if (step.type === "replace-members") for (const member of step.members) note("member", member);
    else if ("body" in step) note(step.type.replace("create-", "") as Part, step.body);
    apply(step);
  };
  world.converge();
  const references = ["loadbalancer_id", "listener_id", "pool_id"];
  return [...sent.values()].filter(({ field }) => !references.includes(field));
}

/** Another spelling, always the same one. */
function respelled(value: unknown): unknown {
  if (typeof value === "number") return 12_345;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return ["OTHER"];
  if (typeof value === "object" && value !== null) return { type: "OTHER" };
  return value === null || value === undefined ? value : "OTHER";
}

/** The cloud returns this field otherwise than it was sent, whatever is sent. */
function respell(world: ModelWorld, { part, field }: Field): void {
  const other = <T extends object>(all: readonly T[]): T[] =>
    all.map((one) => ({ ...one, ...(field in one ? { [field]: respelled(one[field as keyof T]) } : {}) }));
  const ofPools = (change: (pool: Observed["pools"][number]) => Partial<Observed["pools"][number]>) =>
    (world.pools = world.pools.map((pool) => ({ ...pool, ...change(pool) })));
  if (part === "load balancer") world.balancers = other(world.balancers);
  if (part === "floating IP") world.floatingIps = other(world.floatingIps);
  if (part === "listener") world.listeners = other(world.listeners);
  if (part === "pool") ofPools(({ pool }) => ({ pool: other([pool])[0] ?? pool }));
  if (part === "member") ofPools(({ members }) => ({ members: other(members) }));
  if (part === "monitor") ofPools(({ monitor }) => (monitor ? { monitor: other([monitor])[0] ?? monitor } : {}));
}

interface Life {
  /** Calls of the cloud that write. */
  readonly calls: readonly string[];
  readonly events: readonly PlannedEvent[];
  readonly settled: boolean;
  readonly status: ServiceStatus;
}

/** Ten minutes of a controller on such a cloud; a change of the cloud wakes it half a second later. */
async function tenMinutes(world: ModelWorld, field: Field): Promise<Life> {
  const clock = new VirtualClock(1_000_000);
  const brake = new Brake({ clock });
  const calls: string[] = [];
  const events: PlannedEvent[] = [];
  let status: ServiceStatus = {};
  const pipeline: Pipeline<Observed, Step, ServiceStatus> = {
    gather: async () => {
      const braked = (step: Step) => brake.holdOf(key, step)?.until;
      return { ...world.observe(), held: { ...nothingHeld, braked } };
    },
    plan,
    async perform(step) {
      if (!["annotate", "add-finalizer"].includes(step.type)) calls.push(step.type);
      world.apply(step);
      respell(world, field);
    },
    async publish(_, now, published) {
      status = now;
      world.service = { ...world.service, status: now };
      events.push(...published);
    },
    failed: (_, planned) => ({ status: planned.status, events: [] }),
    aimOf,
    isRefusal,
    isIndependent,
    epochOf: ({ service }) => wishesOf(service),
  };
  const reconcile = runPipeline(pipeline, { clock, brake });
  for (const end = clock.now() + 600_000; clock.now() < end;) {
    const result = await reconcile(key, never).catch(() => ({ after: 1_000 }));
    const after = world.settle() ? 500 : Math.min(60_000, result?.after ?? 60_000);
    await clock.advance(Math.max(1, after));
  }
  const last = plan(world.observe(), clock.now());
  return { calls, events, settled: last.steps.length === 0, status };
}

describe.each(Object.entries(services))("%s, on a cloud that returns a field otherwise than it was sent", (_, make) => {
  const all = fieldsOf(make().world);

  test.each(all.map((field) => [`${field.part} ${field.field}`, field] as const))("%s", async (_name, field) => {
    const life = await tenMinutes(make().world, field);
    expect(life.calls.length, life.calls.join(" ")).toBeLessThanOrEqual(60);
    const warnings = life.events.filter(({ reason }) => reason === "ReconcileNotConverging");
    expect(warnings.length > 0).toBe(!life.settled);
    expect(new Set(warnings.map(({ message }) => message)).size).toBe(warnings.length);
  });

  test("every field of every body is tried", () => {
    expect(new Set(all.map(({ part }) => part)).size).toBeGreaterThanOrEqual(5);
    expect(all.length).toBeGreaterThan(15);
  });
});

test.each<[Field, RegExp]>([
  [{ part: "listener", field: "connection_limit" }, /update-listener .*connection_limit is 12345 again instead of 7/],
  [{ part: "listener", field: "allowed_cidrs" }, /allowed_cidrs is \["OTHER"\] again instead of \["10.0.0.0\/8"\]/],
  [{ part: "pool", field: "lb_algorithm" }, /update-pool .*lb_algorithm is "OTHER" again instead of "ROUND_ROBIN"/],
  [{ part: "monitor", field: "delay" }, /update-monitor .*delay is 12345 again instead of 5/],
  [{ part: "member", field: "name" }, /replace-members .*member 10.0.0.1:30080 name is "OTHER" again instead of "n1"/],
  [{ part: "load balancer", field: "tags" }, /update-load-balancer .*tags is \["OTHER"\] again instead of/],
])("the event names the field and both values: $0.part $0.field", async (field, message) => {
  const make = services["a Service with monitors, source ranges, timeouts and affinity"];
  if (!make) throw new Error("no such Service");
  const { events, status } = await tenMinutes(make().world, field);
  const warnings = events.filter(({ reason }) => reason === "ReconcileNotConverging").map((event) => event.message);
  expect(warnings).toContainEqual(expect.stringMatching(message));
  // What is not in doubt is served.
  expect(status.loadBalancer?.ingress ?? []).toHaveLength(1);
});
