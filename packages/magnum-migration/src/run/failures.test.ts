/** What a phase does about errors that pass by themselves, and about those that do not. */
import { MagnumCluster } from "@causeway/api";
import { CausewayError, VirtualClock } from "@causeway/foundation";
import { migratingAnnotation } from "@causeway/magnum-api";
import { beforeEach, expect, test } from "vitest";
import type { Inventory } from "../inventory/model.ts";
import { writeRecord, type MigrationRecord } from "../record/record.ts";
import { MemoryCluster } from "../testing/memory.ts";
import { definePhase, type Tools } from "../phase.ts";
import { runPhase } from "./run.ts";

const signal = new AbortController().signal;
const inventory = { uuid: "u", name: "web", stacks: [], masters: [], groups: [] } as unknown as Inventory;
const done = { at: "", proof: [] };
const phases = { discover: done, freeze: done, import: done, switch: done, adopt: done, roll: done };
const record: MigrationRecord = { namespace: "n", name: "web-1", inventory, phases, begun: "roll" };

let clock: VirtualClock;
let tools: Tools;
let lines: string[];
beforeEach(async () => {
  clock = new VirtualClock();
  lines = [];
  const management = new MemoryCluster().client(() => false);
  await writeRecord(management, record, signal);
  const report = (line: string): void => void lines.push(line);
  tools = { management, clock, report, checked: new Set(), identity: "run", isGone: () => false } as unknown as Tools;
});

const unavailable = new CausewayError("MIGRATE_ETCD_UNAVAILABLE", "etcd is not available: etcdserver: leader changed");

/** A phase of two steps; `failing` says with what a read or step ends, by its number. */
function phaseOf(failing: (what: string, attempt: number) => Error | undefined) {
  const left = ["one", "two"];
  const attempts = new Map<string, number>();
  const meet = (what: string): void => {
    const attempt = (attempts.get(what) ?? 0) + 1;
    attempts.set(what, attempt);
    const error = failing(what, attempt);
    if (error) throw error;
  };
  return definePhase({
    name: "retire",
    async gather() {
      meet("read");
      return left[0];
    },
    plan: (next) => ({
      steps: next === undefined ? [] : [{ type: next, what: next }],
      proof: next === undefined ? ["all"] : [],
    }),
    async perform(_tools, _record, { type }) {
      meet(type);
      left.shift();
    },
  });
}

/** Runs the phase to its end, while the clock advances. */
async function play(phase: ReturnType<typeof phaseOf>): Promise<unknown> {
  let ended: unknown;
  const running = runPhase(phase, tools, record, signal).then(
    ({ proof }) => (ended = proof),
    (error: unknown) => (ended = error),
  );
  for (let i = 0; ended === undefined && i < 5_000; i += 1) {
    for (let j = 0; j < 6; j += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    await clock.advance(500);
  }
  await running;
  return ended;
}

test("an election of etcd in the middle of a step is waited out, and every step is done once", async () => {
  const ended = await play(phaseOf((what, attempt) => (what === "two" && attempt < 20 ? unavailable : undefined)));
  expect(ended).toEqual(["all"]);
  expect(lines.filter((line) => line.startsWith("waiting"))).toEqual([
    "waiting, and retrying: etcd is not available: etcdserver: leader changed",
  ]);
});

test.each([
  new CausewayError("KUBERNETES_INTERNAL_ERROR", "etcdserver: leader changed"),
  new CausewayError("KUBERNETES_UNREACHABLE", "it hung up"),
  new CausewayError("OPENSTACK_IMMUTABLE", "Load Balancer is immutable and cannot be updated"),
])("a read or step that ends with $code is repeated", async (error) => {
  const failing = (what: string, attempt: number) =>
    (what === "read" && attempt === 2) || (what === "one" && attempt === 1) ? error : undefined;
  expect(await play(phaseOf(failing))).toEqual(["all"]);
});

test("a failure that does not pass ends the phase at once", async () => {
  const refused = new CausewayError("MIGRATE_ABANDON_REFUSED", "Heat did not abandon stack web");
  expect(await play(phaseOf((what) => (what === "two" ? refused : undefined)))).toBe(refused);
  expect(lines).toEqual(["one", "two"]);
});

test("a failure that does not pass in five minutes ends the phase, with its own error", async () => {
  const begun = clock.now();
  expect(await play(phaseOf((what) => (what === "two" ? unavailable : undefined)))).toBe(unavailable);
  expect(clock.now() - begun).toBeGreaterThan(5 * 60_000);
  expect(clock.now() - begun).toBeLessThan(7 * 60_000);
});

test.each(["MIGRATE_ETCD_UNREACHABLE", "KUBERNETES_UNREACHABLE", "OPENSTACK_UNREACHABLE"])(
  "a first read that ends with %s is an error of the command line, and ends the phase at once",
  async (code) => {
    const unreached = new CausewayError(code, "nothing listens there");
    const begun = clock.now();
    expect(await play(phaseOf(() => unreached))).toBe(unreached);
    expect(clock.now() - begun).toBeLessThan(30_000);
  },
);

test("a first read that meets an election of etcd is repeated, and no longer than five minutes", async () => {
  const election = new CausewayError("KUBERNETES_INTERNAL_ERROR", "etcdserver: leader changed");
  const meets = (most: number) => (what: string, attempt: number) =>
    what === "read" && attempt <= most ? election : undefined;
  expect(await play(phaseOf(meets(3)))).toEqual(["all"]);
  await writeRecord(tools.management, record, signal);
  const begun = clock.now();
  expect(await play(phaseOf(meets(Infinity)))).toBe(election);
  expect(clock.now() - begun).toBeLessThan(7 * 60_000);
});

test("an election of etcd that stops what a phase prepares from is waited out", async () => {
  const election = new CausewayError("KUBERNETES_INTERNAL_ERROR", "etcdserver: leader changed");
  let reads = 0;
  const prepare = async (_tools: Tools, before: MigrationRecord): Promise<MigrationRecord> => {
    reads += 1;
    if (reads < 3) throw election;
    return before;
  };
  const phase = phaseOf(() => undefined);
  expect(await play({ ...phase, prepare })).toEqual(["all"]);
  expect(reads).toBe(3);
});

test("a phase whose words change while nothing progresses ends after half an hour", async () => {
  let round = 0;
  const phase = definePhase({
    name: "retire",
    gather: async () => (round += 1),
    plan: (facts: number) => ({ steps: [], progress: "1 of 2", wait: `1 of 2; pod ${facts} is not ready`, proof: [] }),
    async perform() {},
  });
  const begun = clock.now();
  expect(await play(phase as unknown as ReturnType<typeof phaseOf>)).toMatchObject({ code: "MIGRATE_TIMEOUT" });
  expect(clock.now() - begun).toBeLessThan(40 * 60_000);
});

test.each<[string, object, string]>([
  ["in place of what its operator reads", { publicWait: "the hosted control plane" }, "the hosted control plane"],
  ["where there is nothing else", {}, "HostedControlPlane n/web-1: 10.0.0.7 is away"],
])("users of the project read what a phase waits for, %s", async (_, more, shown) => {
  const { management } = tools;
  const metadata = { namespace: "n", name: "web-1", annotations: { [migratingAnnotation]: "retire Running" } };
  const row = { kind: "MagnumCluster", metadata } as unknown as MagnumCluster;
  await management.apply(MagnumCluster, row, { fieldManager: "test" });
  const seen = new Set<string>();
  let round = 0;
  const phase = definePhase({
    name: "retire",
    gather: async () => {
      const found = await management.find(MagnumCluster, metadata, { signal });
      seen.add(found?.metadata.annotations?.[migratingAnnotation]?.split(" ").slice(3).join(" ") ?? "");
      return (round += 1);
    },
    plan: (facts: number) =>
      facts < 4
        ? { steps: [], wait: "HostedControlPlane n/web-1: 10.0.0.7 is away", ...more, proof: [] }
        : { steps: [], proof: ["all"] },
    async perform() {},
  });
  expect(await play(phase as unknown as ReturnType<typeof phaseOf>)).toEqual(["all"]);
  expect([...seen]).toEqual(["", shown]);
  expect(lines).toContain("waiting for HostedControlPlane n/web-1: 10.0.0.7 is away");
});
