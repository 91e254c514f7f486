import { describe, expect, test } from "vitest";
import type { Observed } from "./gather.ts";
import { at, group, NOW, settled, type Given } from "../testing/observed.ts";
import { pendingAnnotation } from "./names.ts";
import { plan } from "./plan.ts";
import { progressOf } from "./plan-progress.ts";

const MINUTE = 60_000;
const complete = { created: true, status: "CREATE_COMPLETE", observedGeneration: 2 };
const updating = { ...complete, status: "UPDATE_IN_PROGRESS", changingSince: at(-5) };
const noNodes = (given: Given = {}): Observed => ({ ...settled(given), machines: [] });
const uninitialized = (given: Given = {}): Observed => {
  const observed = settled(given);
  return { ...observed, cluster: { ...observed.cluster, status: {} } as Observed["cluster"] };
};
const broken = (reason: string, count = 1) =>
  Array.from({ length: count }, (_, i) => ({
    kind: "OpenStackMachine",
    metadata: { name: `m${i}`, labels: {} },
    status: { conditions: [{ type: "InstanceReady", status: "False", reason, message: `Quota ${i}` }] },
  })) as unknown as Observed["servers"];
const named = (...names: string[]) =>
  names.map((name) => ({ kind: "Machine", metadata: { name } })) as unknown as Observed["machines"];
const reasonOf = (observed: Observed) => plan(observed, NOW).status.reason;

describe("the state of a Magnum cluster that is created", () => {
  const credentials = { ...settled(), hasCredentials: false };
  test.each<[string, Observed, string, string]>([
    [
      "waits for its credentials",
      { ...credentials, object: settled({ metadata: { creationTimestamp: at(-1) } }).object },
      "CREATE_IN_PROGRESS",
      "waiting for the credentials of the cluster",
    ],
    ["waits for its network", uninitialized(), "CREATE_IN_PROGRESS", "waiting for the network of the cluster"],
    ["waits for its nodes", noNodes(), "CREATE_IN_PROGRESS", "default-worker: 0 of 1 nodes are ready"],
    [
      "says how long it had",
      noNodes({ metadata: { creationTimestamp: at(-60) } }),
      "CREATE_FAILED",
      "the cluster was not complete after 60 minutes",
    ],
    [
      "has all the time without a limit",
      noNodes({ metadata: { creationTimestamp: at(-9_999) }, spec: { createTimeout: 0 } }),
      "CREATE_IN_PROGRESS",
      "default-worker: 0 of 1 nodes are ready",
    ],
    ["is complete", settled(), "CREATE_COMPLETE", "CREATE completed successfully"],
  ])("%s", (_title, observed, status, reason) => {
    expect(plan(observed, NOW).status).toMatchObject({ status, reason });
  });

  test("fails without credentials after a minute, and says what can be done", () => {
    const { status } = plan(credentials, NOW);
    expect(status).toMatchObject({ status: "CREATE_FAILED", code: "MAGNUM_CREDENTIALS_MISSING" });
    expect(status.reason).toContain("rotate them (PATCH /v1/credentials/");
  });

  test("has a code of its own when its time is over", () => {
    expect(plan(noNodes({ metadata: { creationTimestamp: at(-61) } }), NOW).status.code).toBe("MAGNUM_CREATE_TIMEOUT");
  });

  test.each<[string, Observed, number | undefined]>([
    ["at its time limit", noNodes(), NOW + 50 * MINUTE],
    [
      "a second after its credentials are late",
      { ...credentials, object: settled({ metadata: { creationTimestamp: at(0) } }).object },
      NOW + 61_000,
    ],
    ["at no time when it has no limit", noNodes({ spec: { createTimeout: 0 } }), undefined],
    ["at no time once its limit has passed", noNodes({ metadata: { creationTimestamp: at(-60) } }), undefined],
  ])("is judged again %s", (_title, observed, until) => {
    const { wait } = plan(observed, NOW);
    expect(wait).toBeDefined();
    expect(wait?.until).toBe(until);
  });

  test("is judged again at no time when it is complete", () => {
    expect(plan(settled(), NOW)).not.toHaveProperty("wait");
  });
});

describe("the state of a Magnum cluster that is changed", () => {
  const changed = { ...complete, observedGeneration: 1 };
  const stalled = plan(noNodes({ status: updating }), NOW - 61 * MINUTE).status.progress;
  test.each<[string, Observed, string, string]>([
    ["is updated", noNodes({ status: changed }), "UPDATE_IN_PROGRESS", "default-worker: 0 of 1 nodes are ready"],
    ["has been updated", settled({ status: changed }), "UPDATE_COMPLETE", "UPDATE completed successfully"],
    [
      "has been updated after it failed",
      settled({ status: { ...updating, status: "UPDATE_FAILED" } }),
      "UPDATE_COMPLETE",
      "UPDATE completed successfully",
    ],
    [
      "remains complete without a change",
      settled({ status: { ...complete, reason: "as before" } }),
      "CREATE_COMPLETE",
      "as before",
    ],
    [
      "failed without progress for an hour",
      noNodes({ status: { ...updating, progress: stalled } }),
      "UPDATE_FAILED",
      "the change made no progress for 60 minutes; default-worker: 0 of 1 nodes are ready",
    ],
  ])("%s", (_title, observed, status, reason) => {
    expect(plan(observed, NOW).status).toMatchObject({ status, reason });
  });

  test("begins when it is first seen, and keeps its begin", () => {
    expect(plan(noNodes({ status: changed }), NOW).status.changingSince).toBe(at(0).replace(".000", ""));
    expect(plan(noNodes({ status: updating }), NOW).status.changingSince).toBe(at(-5).replace(".000", ""));
    expect(plan(settled({ status: updating }), NOW).status).not.toHaveProperty("changingSince");
  });
});

describe("an attribute without effect in a Magnum cluster", () => {
  test.each<[string, Given, object, string | undefined]>([
    [
      "more masters",
      { spec: { masterCount: 3 } },
      {},
      "master_count=3 has no effect: a control plane with runtime Embedded has one API server",
    ],
    ["one master", { spec: { masterCount: 1 } }, {}, undefined],
    [
      "more masters in pods",
      { spec: { masterCount: 3 } },
      { runtime: "Pods", readyReplicas: 3, upToDateReplicas: 3 },
      undefined,
    ],
    [
      "a port",
      { spec: { template: { coe: "kubernetes", imageID: "cirros", apiserverPort: 1 } } },
      {},
      "apiserver_port=1 has no effect: a control plane with runtime Embedded gets a free port",
    ],
    [
      "a port of pods",
      { spec: { masterCount: 1, template: { coe: "kubernetes", imageID: "cirros", apiserverPort: 1 } } },
      { runtime: "Pods", readyReplicas: 1, upToDateReplicas: 1 },
      undefined,
    ],
    [
      "labels",
      { spec: { labels: { unknown_label: "1", another_one: "2" } } },
      {},
      "Labels without effect: another_one, unknown_label",
    ],
  ])("is named in its reason: %s", (_title, given, masters, note) => {
    const reason = reasonOf(settled(given, masters));
    expect(reason).toBe(["CREATE completed successfully", ...(note ? [note] : [])].join(". "));
  });
});

describe("the facts of a Magnum cluster's control plane", () => {
  test.each([
    ["192.0.2.5", "https://192.0.2.5:6443"],
    ["2001:db8::5", "https://[2001:db8::5]:6443"],
  ])("at %s have the address %s", (host, apiAddress) => {
    const { status } = plan(settled({}, { endpoint: { host, port: 6443 } }), NOW);
    expect(status).toMatchObject({ apiAddress, masterAddresses: [host], coeVersion: "v1.34.0", masterReady: true });
  });

  test("are only those that are known", () => {
    const { status } = plan(settled({}, { version: undefined, conditions: [] }), NOW);
    expect(status).toMatchObject({ masterReady: false });
    for (const field of ["apiAddress", "masterAddresses", "coeVersion", "created", "code"])
      expect(status).not.toHaveProperty(field);
  });

  test("keep the conditions that it has", () => {
    const conditions = [{ type: "Ready", status: "True" }];
    expect(plan(settled({ status: { ...complete, conditions } }), NOW).status.conditions).toEqual(conditions);
    expect(plan(settled(), NOW).status).not.toHaveProperty("conditions");
  });
});

test.each<[string, Observed, readonly string[]]>([
  ["is created", noNodes(), ["Normal CREATE_IN_PROGRESS default-worker: 0 of 1 nodes are ready"]],
  [
    "is complete",
    settled({ status: { status: "CREATE_IN_PROGRESS" } }),
    ["Normal CREATE_COMPLETE CREATE completed successfully"],
  ],
  [
    "failed",
    noNodes({ metadata: { creationTimestamp: at(-61) }, status: { status: "CREATE_IN_PROGRESS" } }),
    ["Warning CREATE_FAILED the cluster was not complete after 60 minutes"],
  ],
  ["is as it was", settled({ status: complete }), []],
])("one event says that a Magnum cluster %s", (_title, observed, events) => {
  const found = plan(observed, NOW).events ?? [];
  expect(found.map(({ type, reason, message }) => `${type} ${reason} ${message}`)).toEqual(events);
});

test("a Magnum cluster whose request is under way is waited for two minutes", () => {
  const of = (minutes: number) =>
    plan(
      settled({
        metadata: { finalizers: [], creationTimestamp: at(-minutes), annotations: { [pendingAnnotation]: "" } },
      }),
      NOW,
    );
  expect(of(1)).toMatchObject({
    steps: [],
    status: { reason: "the request is being processed" },
    wait: { for: "the end of the request that creates the cluster" },
  });
  const [until] = [of(1).wait?.until ?? 0];
  const limit = (until - Date.parse(at(-1))) / MINUTE;
  expect(of(limit).steps).toEqual([{ type: "discard-row" }]);
});

describe("a Magnum cluster that is deleted", () => {
  const deleting: Given = { metadata: { deletionTimestamp: at(-1) } };
  const late: Given = { metadata: { deletionTimestamp: at(-9_999) } };
  const nothing = {
    cluster: undefined,
    infrastructure: undefined,
    controlPlane: undefined,
    deployments: [],
    standing: [],
  };
  const left = (more: Partial<Observed>): Observed => ({ ...settled(deleting), ...nothing, machines: [], ...more });
  const { cluster, infrastructure, controlPlane } = settled();
  test.each<[string, Partial<Observed>]>([
    ["still to be deleted: server m0", { machines: named("m0") }],
    [
      "still to be deleted: 2 servers s0, m0",
      { machines: named("m0"), servers: named("s0") as unknown as Observed["servers"] },
    ],
    ["still to be deleted: the network, the control plane", { infrastructure, controlPlane }],
    ["the last parts are being deleted", { cluster }],
    ["the credentials are being revoked", {}],
  ])("says: %s", (reason, more) => {
    expect(plan(left(more), NOW).status).toMatchObject({ status: "DELETE_IN_PROGRESS", reason });
  });

  test("names some of many servers", () => {
    const reason = reasonOf(left({ machines: named(...Array.from({ length: 30 }, (_, i) => `m${i}`)) })) ?? "";
    const [, shown = "", more] = /^still to be deleted: 30 servers (.*) and (\d+) more$/.exec(reason) ?? [];
    expect(shown.split(", ").length + Number(more)).toBe(30);
    const few = shown.split(", ");
    expect(reasonOf(left({ machines: named(...few) }))).toBe(`still to be deleted: ${few.length} servers ${shown}`);
  });

  test("deletes its Cluster once, waits for what it leaves, and then loses its credentials", () => {
    const gone = { ...cluster, metadata: { ...cluster?.metadata, deletionTimestamp: at(-1) } } as Observed["cluster"];
    expect(plan(left({ cluster }), NOW).steps).toEqual([{ type: "delete-cluster" }]);
    expect(plan(left({ cluster: gone }), NOW).steps).toEqual([]);
    for (const more of [{ machines: named("m0") }, { servers: named("s0") as unknown as Observed["servers"] }])
      expect(plan(left(more), NOW)).toMatchObject({ steps: [], wait: { for: expect.stringContaining("still to be") } });
    expect(plan(left({}), NOW).steps).toEqual([{ type: "revoke-credential" }, { type: "remove-finalizer" }]);
  });

  test("without its finalizer is left alone", () => {
    const metadata = { ...deleting.metadata, finalizers: [] };
    expect(plan({ ...left({}), object: settled({ metadata }).object }, NOW).steps).toEqual([]);
  });

  test("fails when it takes too long, and continues", () => {
    const first = plan(left({ cluster }), NOW);
    const until = first.wait?.until ?? 0;
    const limit = until - Date.parse(at(-1));
    expect(limit).toBeGreaterThan(MINUTE);
    const planned = (now: number) => plan(left({ cluster }), now);
    expect([planned(until - 1).status.status, planned(until).status.status]).toEqual([
      "DELETE_IN_PROGRESS",
      "DELETE_FAILED",
    ]);
    expect(planned(until).wait).not.toHaveProperty("until");
    expect(plan({ ...left({ cluster }), object: settled(late).object }, NOW).steps).toEqual([
      { type: "delete-cluster" },
    ]);
  });

  test("names what prevents it, the first three causes in words", () => {
    const one = plan(left({ cluster, servers: broken("InstanceDeleteFailed") }), NOW).status;
    expect(one.reason).toContain("Quota 0");
    expect(one.code).toBeDefined();
    expect(one.reason).not.toContain("and ");
    const many = reasonOf(left({ cluster, servers: broken("InstanceDeleteFailed", 9) }));
    expect(many).toMatch(/; and \d more; /);
  });

  test("keeps its conditions, and not the reason of before", () => {
    const conditions = [{ type: "Ready", status: "True" }];
    const before = { ...complete, reason: "before", code: "BEFORE", conditions };
    const { status } = plan({ ...left({}), object: settled({ ...deleting, status: before }).object }, NOW);
    expect(status).toMatchObject({ conditions, reason: "the credentials are being revoked" });
    expect(status).not.toHaveProperty("code");
    expect(plan(left({}), NOW).status).not.toHaveProperty("conditions");
  });
});

test("a group of nodes says how many are ready, and how many are to go", () => {
  const two = { ...group, nodeCount: 2 };
  const observed = settled({ spec: { nodeGroups: [two] } });
  const [machine] = observed.machines;
  if (!machine) throw new Error("no machine");
  const machines = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ ...machine, metadata: { ...machine.metadata, name: `m${i}` } }));
  const reason = (count: number) => reasonOf({ ...observed, machines: machines(count) });
  expect(reason(1)).toBe("default-worker: 1 of 2 nodes are ready");
  expect(reason(3)).toBe("default-worker: 2 of 2 nodes are ready, 1 more is to go");
  expect(reason(4)).toBe("default-worker: 2 of 2 nodes are ready, 2 more are to go");
});

describe("the remainder of a change of a cluster", () => {
  const since = NOW - 60_000;
  const POOL = "web-default";
  type Counts = Readonly<Record<"replicas" | "upToDate" | "ready", number>>;
  const deployment = ({ replicas, upToDate, ready }: Counts, name = POOL) => ({
    metadata: { name, generation: 1 },
    spec: { replicas },
    status: { observedGeneration: 1, upToDateReplicas: upToDate, readyReplicas: ready },
  });
  const progress = (
    deployments: readonly object[],
    machines: number,
    more: { isWriting?: boolean; isControlPlaneReady?: boolean } = {},
  ) => {
    const { isWriting = false, isControlPlaneReady = true } = more;
    const observed = { ...settled(), deployments, machines: Array.from({ length: machines }) };
    const { object, controlPlane } = observed;
    const rotation = { object, controlPlane, machines: [], isSettled: true };
    const facts = { rotation, isControlPlaneReady, isWriting, since, now: NOW };
    return progressOf(observed as unknown as Observed, facts);
  };
  const whole = { replicas: 5, upToDate: 5, ready: 5 };

  test.each<[string, Counts, number, number]>([
    ["nothing where all nodes are new and ready", whole, 5, 0],
    ["nodes that are outdated", { ...whole, upToDate: 3 }, 5, 2],
    ["nodes that are not ready", { ...whole, ready: 4 }, 5, 1],
    ["machines that are to go", whole, 8, 3],
    ["the sum of them", { replicas: 5, upToDate: 3, ready: 4 }, 8, 6],
    ["no less where more are ready than wanted", { replicas: 5, upToDate: 7, ready: 6 }, 3, 0],
  ])("is %s", (_, counts, machines, remaining) => {
    expect(progress([deployment(counts)], machines)).toEqual({ stage: 4, remaining, at: at(0).replace(".000", "") });
  });

  test("is one more for each node group that is to go", () => {
    expect(progress([deployment(whole), deployment(whole, "old")], 5).remaining).toBe(1);
  });

  test("is not known while objects are written, or while a node group is missing or was not reconciled", () => {
    const unknown = { at: at(-1).replace(".000", "") };
    const stale = { ...deployment(whole), metadata: { name: POOL, generation: 2 } };
    expect(progress([deployment(whole)], 5, { isWriting: true })).toEqual(unknown);
    expect(progress([], 5)).toEqual(unknown);
    expect(progress([stale], 5)).toEqual(unknown);
  });

  test("is of the first stage until the control plane is ready", () => {
    expect(progress([deployment(whole)], 5, { isControlPlaneReady: false }).stage).toBe(0);
  });
});
