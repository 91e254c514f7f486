import { expect, test } from "vitest";
import { CausewayError, silentLog, VirtualClock } from "@causeway/foundation";
import type { ConfigMap, KubernetesClient } from "@causeway/kubernetes";
import { asWritten } from "@causeway/octavia-tree";
import { StoredPoolRecord } from "./pool-record.ts";

const key = { namespace: "kube-system", name: "pools" };
const members = (address: string) => asWritten([], [{ address, protocol_port: 80, name: "a" }]);

/** A cluster with one ConfigMap, if any, that refuses calls with an error. */
function setUp(text?: string, refusal?: string) {
  const state = { text, writes: 0, refused: 0, warnings: 0 };
  const refuse = (): void => {
    if (refusal === undefined) return;
    state.refused += 1;
    throw new CausewayError(refusal, "refused");
  };
  const put = async (map: Pick<ConfigMap, "data">): Promise<void> => {
    refuse();
    state.text = map.data?.["pools"];
    state.writes += 1;
  };
  const client = {
    find: async () => {
      refuse();
      return state.text === undefined ? undefined : { data: { pools: state.text } };
    },
    patch: async (_type: unknown, _key: unknown, patch: { body: ConfigMap }) => {
      if (state.text === undefined && refusal === undefined)
        throw new CausewayError("KUBERNETES_NOT_FOUND", "not found");
      return put(patch.body);
    },
    create: async (_type: unknown, map: ConfigMap) => put(map),
  } as unknown as KubernetesClient;
  const clock = new VirtualClock();
  const log = { ...silentLog, warn: () => void (state.warnings += 1) };
  const moment = () => new Promise((done) => setImmediate(done));
  /** What was begun continues to its next wait, and then time passes. */
  const pass = async (milliseconds: number): Promise<void> => {
    await moment();
    await clock.advance(milliseconds);
    await moment();
  };
  const gone = new Set<string>();
  const start = () => new StoredPoolRecord({ client, key, cluster: "c", exists: (id) => !gone.has(id), clock, log });
  const stopping = new AbortController();
  return { state, pass, gone, start, stopping, signal: stopping.signal };
}

test("the record of a process is recalled by the next one, for the same entry alone", async () => {
  const { pass, start, stopping, signal } = setUp();
  const first = start();
  await first.ready(signal);
  const running = first.run(signal).catch(() => {});
  first.keep("p", "entry", members("10.0.0.1"));
  await pass(6_000);
  const next = start();
  await next.ready(signal);
  expect(next.recall("p", "entry")).toMatchObject([{ address: "10.0.0.1", protocol_port: 80, name: "a", weight: 1 }]);
  expect(next.recall("p", "other")).toBeUndefined();
  expect(next.recall("q", "entry")).toBeUndefined();
  stopping.abort();
  await running;
});

test("changes of one moment are one write, two writes are apart, and what did not change is not written", async () => {
  const { state, pass, start, stopping, signal } = setUp("");
  const record = start();
  const running = record.run(signal).catch(() => {});
  for (let i = 0; i < 100; i += 1) record.keep(`p${i}`, "entry", members("10.0.0.1"));
  await pass(6_000);
  expect(state.writes).toBe(1);
  for (let i = 0; i < 100; i += 1) {
    record.keep("p0", `entry ${i}`, members("10.0.0.1"));
    await pass(1_000);
  }
  expect(state.writes).toBeLessThanOrEqual(12);
  await pass(60_000);
  const before = state.writes;
  record.keep("p0", "entry 99", members("10.0.0.1"));
  await pass(60_000);
  expect(state.writes).toBe(before);
  stopping.abort();
  await running;
});

test("a process that is stopped writes what it has not written yet", async () => {
  const { start, stopping, signal } = setUp("");
  const record = start();
  const running = record.run(signal).catch(() => {});
  record.keep("p", "entry", members("10.0.0.1"));
  await new Promise((done) => setImmediate(done));
  stopping.abort();
  await running;
  const next = start();
  await next.ready(new AbortController().signal);
  expect(next.recall("p", "entry")).toHaveLength(1);
});

test("pools that are gone, or that are being changed, are not in it", async () => {
  const { pass, gone, start, stopping, signal } = setUp("");
  const record = start();
  const running = record.run(signal).catch(() => {});
  for (const id of ["kept", "gone", "changed"]) record.keep(id, "entry", members("10.0.0.1"));
  gone.add("gone");
  record.drop("changed");
  await pass(6_000);
  const next = start();
  await next.ready(signal);
  expect(["kept", "gone", "changed"].filter((id) => next.recall(id, "entry"))).toEqual(["kept"]);
  stopping.abort();
  await running;
});

test("a process that may neither read nor write the ConfigMap warns once and knows nothing", async () => {
  const { state, pass, start, stopping, signal } = setUp(undefined, "KUBERNETES_FORBIDDEN");
  const record = start();
  await record.ready(signal);
  const running = record.run(signal).catch(() => {});
  record.keep("p", "entry", members("10.0.0.1"));
  await pass(600_000);
  expect(state).toMatchObject({ writes: 0, refused: 2, warnings: 1 });
  stopping.abort();
  await running;
});
