import { VirtualClock } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { Cluster } from "../contract/cluster.ts";
import { Changes } from "../contract/changes.ts";
import { ClusterMetrics } from "../contract/cluster-metrics.ts";
import { requestInfo } from "../contract/request-info.ts";
import { openStore } from "../store/index.ts";
import { mandatoryFlowObjects, suggestedFlowObjects } from "./bootstrap.ts";
import type { Digest } from "./classify.ts";
import { FlowControl, type Placed } from "./flow-control.ts";

const CLUSTER = "c";

/** Priority and fairness over the objects that a cluster has from the start. */
async function opened() {
  const clock = new VirtualClock();
  const store = openStore();
  const objects = [...mandatoryFlowObjects(), ...suggestedFlowObjects()];
  const plural = { FlowSchema: "flowschemas", PriorityLevelConfiguration: "prioritylevelconfigurations" };
  const create = async (o: (typeof objects)[number]): Promise<void> => {
    const resource = `flowcontrol.apiserver.k8s.io/${plural[o.kind]}`;
    const key = { cluster: CLUSTER, resource, namespace: "", name: o.metadata.name };
    await store.create(key, o as unknown as KubeObject);
  };
  await Promise.all(objects.map(create));
  const parts = { name: CLUSTER, store, clock, changes: new Changes(), metrics: new ClusterMetrics() };
  return { clock, flow: new FlowControl(parts as unknown as Cluster), metrics: parts.metrics };
}

function from(name: string, groups: readonly string[] = [], path = "/api/v1/pods"): Digest {
  const user = { name, groups: [...groups, "system:authenticated"] };
  return { user, info: requestInfo("GET", path, new URLSearchParams()) };
}

const LIST = { objects: 5000 };
const GET = { objects: 1 };
const never = (): void => {};
/** Lets promises that are resolved be heard. */
const heard = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("priority and fairness", () => {
  test("seats what finds room at once", async () => {
    const { flow } = await opened();
    const { ticket, seated } = flow.place(from("a"), GET, never);
    expect(seated).toBeUndefined();
    expect([ticket.schema.name, ticket.level.config.name, ticket.level.seats]).toEqual([
      "global-default",
      "global-default",
      1,
    ]);
    ticket.release();
    ticket.release();
    expect(ticket.level.seats).toBe(0);
  });

  test("lets one request of a quiet client pass 400 lists of a noisy one", async () => {
    const { flow } = await opened();
    const ended: string[] = [];
    const running: Placed[] = [];
    const start = (name: string, work: typeof LIST): void => {
      const placed = flow.place(from(name), work, never);
      const begin = (): void => void (ended.push(name), running.push(placed));
      if (placed.seated) placed.seated.then(begin, () => ended.push("refused"));
      else begin();
    };
    for (let i = 0; i < 400; i += 1) start("noisy", LIST);
    await heard();
    const before = ended.length;
    expect(running.length).toBeLessThan(120);
    start("quiet", GET);
    // Lists end one after the other, as on one thread they must.
    for (let i = 0; i < 20; i += 1) {
      running.shift()?.ticket.release();
      await heard();
    }
    expect(ended.slice(before).indexOf("quiet")).toBeGreaterThanOrEqual(0);
    expect(ended.slice(before).indexOf("quiet")).toBeLessThan(8);
  });

  test("keeps for each level what it does not lend, however much another borrows", async () => {
    const { flow } = await opened();
    const service = from("system:serviceaccount:a:b", ["system:serviceaccounts"]);
    for (let i = 0; i < 200; i += 1) void flow.place(service, LIST, never).seated?.catch(never);
    const low = flow.levels.find((l) => l.config.name === "workload-low");
    expect(low?.seats).toBeGreaterThan(low?.limits.nominal ?? 0);
    const node = flow.place(from("system:node:n", ["system:nodes"]), GET, never);
    expect([node.ticket.level.config.name, node.seated]).toEqual(["system", undefined]);
  });

  test("refuses after fifteen seconds of waiting", async () => {
    const { flow, clock } = await opened();
    const placed = Array.from({ length: 200 }, () => flow.place(from("noisy"), LIST, never));
    const results = placed.map((p) =>
      p.seated?.then(
        () => "seated",
        (e: Error) => e.message,
      ),
    );
    await clock.advance(15_000);
    const said = await Promise.all(results.filter((r) => r !== undefined));
    expect(new Set(said)).toEqual(new Set(["Too many requests, please try again later."]));
  });

  test("forgets who has gone", async () => {
    const { flow, metrics } = await opened();
    let cancel = never;
    let waiting: Placed | undefined;
    for (let i = 0; i < 200 && !waiting; i += 1) {
      const placed = flow.place(from("noisy"), LIST, (c) => (cancel = c));
      if (placed.seated) waiting = placed;
    }
    cancel();
    await expect(waiting?.seated).rejects.toThrow("Too many requests");
    expect(waiting?.ticket.level.queues.waiting).toBe(0);
    expect(await metrics.registry.render()).toMatch(/rejected_requests_total\{.*reason="cancelled"\} 1/);
  });

  test("never makes administrators wait", async () => {
    const { flow } = await opened();
    const admin = from("root", ["system:masters"]);
    for (let i = 0; i < 2000; i += 1) expect(flow.place(admin, LIST, never).seated).toBeUndefined();
  });
});
