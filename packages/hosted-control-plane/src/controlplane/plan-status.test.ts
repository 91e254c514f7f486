/** What a hosted control plane is run with again, when its roots are rotated, and what its status says. */
import { describe, expect, test } from "vitest";
import type { Cluster, HostedControlPlane } from "@causeway/api";
import { getCondition, type Condition, type Secret } from "@causeway/kubernetes";
import { rootsDigest, type ControlPlaneProblem, type ControlPlaneState } from "../runtime.ts";
import { desired } from "./desired.ts";
import type { Observed } from "./gather.ts";
import { plan, secretFinalizer } from "./plan.ts";
import type { AuthorityFacts, Root } from "./roots.ts";
import { observedWith } from "./testing/observed.ts";

const now = Date.UTC(2026, 0, 1);
const pair = { certificate: "certificate", key: "key" };
const endpoint = { host: "10.0.0.1", port: 6443 };
const limits = { objects: 50_000, bytes: 2 ** 30 };
const running: ControlPlaneState = { ready: true, endpoint, version: "v1.34.0", names: [], limits, authentication: {} };
const kubeconfig = { server: "https://10.0.0.1:6443", renewAt: now + 1000, serials: "1" };
const cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "web", namespace: "team" },
  spec: {},
} as Cluster;
const kubeconfigSecret = { metadata: { name: "web-kubeconfig", finalizers: [secretFinalizer] } } as Secret;

/** A control plane that runs and is published, but for what a test changes. */
function world(changes: Partial<Observed> = {}): Observed {
  const state = running;
  const served = { kubeconfig, trustedSerials: "1", kubeconfigSecret, state, exists: true, initialized: true };
  return observedWith(cluster, { ...served, ...changes });
}
function objectWith({ metadata, spec, status }: { metadata?: object; spec?: object; status?: object }) {
  const { object } = world();
  return {
    ...object,
    metadata: { ...object.metadata, ...metadata },
    spec: { ...object.spec, ...spec },
    ...(status ? { status } : {}),
  } as HostedControlPlane;
}
const types = (observed: Observed) => plan(observed, now).steps.map(({ type }) => type);
const condition = (observed: Observed, type: string) => {
  const { status, reason, message } =
    getCondition((plan(observed, now).status.conditions ?? []) as Condition[], type) ?? {};
  return [status, reason, ...(message === undefined || message === "" ? [] : [message])];
};
const problem = (actor: ControlPlaneProblem["actor"]): ControlPlaneProblem => ({
  code: "PODS_BUSY",
  message: "it is busy",
  actor,
});

describe("a control plane is run again", () => {
  const spec = desired(world());
  if (spec === undefined) throw new Error("it has roots");
  const backup = { folder: "team/web/u", fullEvery: 24 * 3600_000, changesEvery: 300_000, keep: 7 * 24 * 3600_000 };
  const backedUp = objectWith({ metadata: { uid: "u" }, spec: { backup: {} } });
  const flags = { apiServer: { eventTTLSeconds: 600 } };
  test.for<[title: string, isRun: boolean, Partial<ControlPlaneState> | undefined, HostedControlPlane?]>([
    ["where it does not run", true, undefined],
    ["where it is not ready", true, { ready: false }],
    ["not while it starts", false, { ready: false, starting: true }],
    ["with the request that the runtime remembers, not", false, { requested: spec, ready: false, version: "v1.1.1" }],
    ["with another request than the one that the runtime remembers", true, { requested: { ...spec, worker: "own" } }],
    ["with another version", true, { version: "v1.33.9" }],
    ["with its roots, not", false, { roots: rootsDigest(spec) }],
    ["with other roots", true, { roots: rootsDigest({ ...spec, serviceAccountKey: "before" }) }],
    ["with its flags, not", false, { flags }, objectWith({ spec: { flags } })],
    ["with flags that were added", true, {}, objectWith({ spec: { flags } })],
    ["without flags that were removed", true, { flags }],
    ["with its schedule of backups, not", false, { schedule: backup }, backedUp],
    ["with a schedule of backups that was added", true, {}, backedUp],
    ["without backups that were removed", true, { schedule: backup }],
    ["with fewer objects", true, { limits: { ...limits, objects: 1 } }],
    ["with fewer bytes", true, { limits: { ...limits, bytes: 1 } }],
    ["with names in another order, not", false, { names: ["b", "a"] }, objectWith({ spec: { names: ["a", "b"] } })],
    ["with another name in the place of one", true, { names: ["a", "c"] }, objectWith({ spec: { names: ["a", "b"] } })],
    ["without a name of two", true, { names: ["a", "b"] }, objectWith({ spec: { names: ["a"] } })],
    ["with a name that came twice", true, { names: ["a", "a"] }, objectWith({ spec: { names: ["a", "b"] } })],
    ["without a join", true, { join: { stage: "Serve" } as NonNullable<ControlPlaneState["join"]> }],
  ])("%s", ([, isRun, changes, object = world().object]) => {
    const state = changes && { ...running, ...changes };
    expect(types(world({ object, state }))).toEqual(isRun ? ["run"] : []);
  });
});

describe("the kubeconfig of a control plane", () => {
  const inTwo = { trustedSerials: "1,2" };
  test.for<[title: string, Partial<Observed>, object | undefined]>([
    ["is kept before half its life", {}, undefined],
    ["is written where there is none", { kubeconfig: undefined }, { server: "https://10.0.0.1:6443" }],
    [
      "points to the address for people, with the endpoint's name",
      { state: { ...running, address: "203.0.113.9" } },
      { server: "https://203.0.113.9:6443", serverName: "10.0.0.1" },
    ],
    ["is written with the new roots", inTwo, { server: "https://10.0.0.1:6443" }],
    [
      "keeps the old roots until every API server has the new ones",
      { ...inTwo, state: { ...running, starting: true } },
      undefined,
    ],
    ["is not written without an authority", { kubeconfig: undefined, roots: { proxy: pair, sa: pair } }, undefined],
  ])("%s", ([, changes, written]) => {
    const { steps } = plan(world(changes), now);
    expect(steps).toEqual(written === undefined ? [] : [{ type: "write-kubeconfig", ...written }]);
  });
});

describe("the roots of a control plane", () => {
  const root = (changes: Partial<Root> = {}): Root => ({ secret: kubeconfigSecret, stage: "single", pair, ...changes });
  const facts = (changes: Partial<AuthorityFacts["roots"]> = {}): AuthorityFacts => ({
    roots: { ca: root(), sa: root(), ...changes },
    createdAt: 0,
    expiresAt: now + 1e12,
    machines: [],
  });
  const due = objectWith({ spec: { authorities: { rotateAfter: "2025-12-31T00:00:00Z" } } });
  const rotating = (changes: Partial<Observed>) => types(world({ object: due, authorities: facts(), ...changes }));
  const trusting = root({ stage: "trust", other: pair, rotation: "2025-12-31T00:00:00Z" });
  test.for<[title: string, Partial<Observed>, string[]]>([
    ["are rotated once it is as requested", {}, ["rotate-root", "rotate-root"]],
    ["are not rotated while it starts", { state: { ...running, starting: true } }, []],
    ["are not rotated while it has a problem", { state: { ...running, problem: problem("operator") } }, []],
    ["are not rotated while it is parked", { state: { ...running, parked: { until: now + 1, reason: "x" } } }, []],
    ["are not rotated before it serves", { state: { ...running, ready: false, starting: true } }, []],
    ["are not rotated before its kubeconfig is there", { kubeconfig: undefined }, ["write-kubeconfig"]],
    ["are not rotated before it is run as requested", { state: { ...running, version: "v1.33.9" } }, ["run"]],
    [
      "catch up before anything else runs with half of a rotation",
      { authorities: facts({ ca: trusting }), state: { ...running, version: "v1.33.9" } },
      ["rotate-root"],
    ],
    ["are not rotated where one of them is missing", { authorities: undefined }, []],
  ])("%s", ([, changes, expected]) => {
    expect(rotating(changes)).toEqual(expected);
  });

  test("are not called prepared before the kubeconfig has them, and it serves", () => {
    const [ca, sa] = [root({ ...trusting, stage: "sign" }), root({ ...trusting, stage: "sign" })];
    const phase = (changes: Partial<Observed>) =>
      plan(world({ object: due, authorities: facts({ ca, sa }), ...changes }), now).status.authorities?.phase;
    const { authorities: _facts, ...first } = world({ object: due });
    const requested = desired({ ...first, authorities: facts({ ca, sa }) });
    const state = requested === undefined ? expect.fail() : { ...running, requested };
    expect(phase({ state })).toBe("Prepared");
    expect(phase({ state, trustedSerials: "1,2" })).toBe("Preparing");
    expect(phase({ state: { ...state, ready: false } })).toBe("Preparing");
  });

  test("have a condition and a status of their own, and a time at which they are checked again", () => {
    const later = objectWith({ spec: { authorities: { rotateAfter: "2026-01-01T00:00:00.500Z" } } });
    const { status, wait } = plan(world({ object: later, authorities: facts() }), now);
    expect(status.authorities?.phase).toBe("Current");
    expect(condition(world({ object: later, authorities: facts() }), "AuthoritiesCurrent")).toEqual([
      "True",
      "Current",
    ]);
    expect(wait).toEqual({ for: expect.stringContaining("spec.authorities") as string, until: now + 500 });
    expect(plan(world(), now).status.authorities).toBeUndefined();
  });

  test.for<[title: string, Partial<Observed>, (string | undefined)[]]>([
    ["are there", {}, ["True", "Available"]],
    ["are to be made", { roots: { sa: pair }, initialized: false }, ["False", "Creating", "to be created: ca, proxy"]],
    [
      "are lost",
      { roots: {} },
      [
        "False",
        "SecretsMissing",
        "Secrets are missing and are not recreated: ca, proxy, sa; restore them from a backup",
      ],
    ],
  ])("say that they %s", ([, changes, expected]) => {
    expect(condition(world(changes), "CertificatesAvailable")).toEqual(expected);
  });
});

describe("the conditions of a control plane", () => {
  const asleep = objectWith({ spec: { replicas: 0 } });
  const stopped: ControlPlaneState = { ...running, ready: false, runtime: "Pods" };
  const chosen = objectWith({ spec: { runtime: "Pods" }, status: { runtime: "Embedded" } });
  test.for<[title: string, Partial<Observed>, (string | undefined)[]]>([
    ["it serves", {}, ["True", "Available"]],
    ["it is started", { state: undefined }, ["False", "Starting", "the control plane is being started"]],
    [
      "it has no kubeconfig that works",
      { kubeconfig: undefined },
      ["False", "Starting", "the control plane is being started"],
    ],
    [
      "its host is not known",
      { state: undefined, defaults: { host: undefined } },
      ["False", "Starting", "waiting for the address at which machines reach this host"],
    ],
    ["it says why", { state: { ...stopped, message: "no room" } }, ["False", "Starting", "no room"]],
    [
      "it continues by itself",
      { state: { ...stopped, problem: problem("none"), message: "wait" } },
      ["False", "Starting", "wait"],
    ],
    [
      "its user must act",
      { state: { ...stopped, problem: problem("user") } },
      ["False", "SpecRefused", "it is busy; change the object (PODS_BUSY)"],
    ],
    [
      "its operator must act",
      { state: { ...stopped, problem: problem("operator") } },
      ["False", "OperatorNeeded", "it is busy; the operator of the service cluster must act (PODS_BUSY)"],
    ],
    ["it serves with a problem", { state: { ...running, problem: problem("operator") } }, ["True", "Available"]],
    [
      "it hibernates",
      { object: asleep, state: stopped },
      ["False", "Hibernated", "spec.replicas is 0: no programs run, and the data is kept"],
    ],
    [
      "it goes to sleep",
      { object: asleep, state: { ...stopped, starting: true, message: "ends" } },
      ["False", "Starting", "ends"],
    ],
    ["it serves still", { object: asleep, state: { ...stopped, ready: true } }, ["True", "Available"]],
    [
      "it serves still, and its kubeconfig is not written yet",
      { object: asleep, kubeconfig: undefined, state: { ...stopped, ready: true } },
      ["False", "Starting", "the control plane is being started"],
    ],
    [
      "its runtime does not hibernate",
      { object: asleep, state: { ...stopped, runtime: "Embedded" } },
      ["False", "Starting", "the control plane is being started"],
    ],
    [
      "it is awake, and not ready",
      { object: objectWith({ spec: { replicas: 1 } }), state: stopped },
      ["False", "Starting", "the control plane is being started"],
    ],
    [
      "another runtime is requested than the one with its data",
      { object: chosen },
      [
        "False",
        "RuntimeImmutable",
        "runtime Embedded was chosen when the control plane was created and holds its data; spec.runtime cannot change it to Pods",
      ],
    ],
    [
      "its runtime is requested",
      { object: objectWith({ spec: { runtime: "Pods" }, status: { runtime: "Pods" } }) },
      ["True", "Available"],
    ],
    ["no runtime is requested", { object: objectWith({ status: { runtime: "Pods" } }) }, ["True", "Available"]],
    ["its runtime is not known yet", { object: objectWith({ spec: { runtime: "Pods" } }) }, ["True", "Available"]],
  ])("say whether it is available: %s", ([, changes, expected]) => {
    expect(condition(world(changes), "Available")).toEqual(expected);
  });

  const elsewhere = (host: string, names: string[] = []) => ({
    cluster: { ...cluster, spec: { controlPlaneEndpoint: { host, port: 443 } } } as Cluster,
    object: objectWith({ spec: { names } }),
    state: { ...running, names },
  });
  test.for<[title: string, Partial<Observed>, boolean]>([
    ["where the Cluster has no endpoint yet", elsewhere(""), false],
    ["at its own endpoint", elsewhere("10.0.0.1"), false],
    ["at a name of its certificate", elsewhere("lb.test", ["lb.test"]), false],
    ["elsewhere", elsewhere("lb.test", ["other.test"]), true],
    [
      "elsewhere, before it serves",
      { ...elsewhere("lb.test"), state: { ...running, ready: false, starting: true } },
      false,
    ],
  ])("say that machines do not find it where they join %s", ([, changes, isReported]) => {
    const [, reason, message = ""] = condition(world(changes), "Available");
    expect(reason === "EndpointMismatch").toBe(isReported);
    if (!isReported) return;
    expect(message).toContain("the Cluster's endpoint lb.test:443, but this control plane serves at 10.0.0.1:6443");
    expect(message).toContain("add lb.test to spec.names");
  });

  const requested = desired(world());
  const pods = (more: Partial<ControlPlaneState>) =>
    requested === undefined ? expect.fail() : { state: { ...running, requested, ...more } };
  test.for<[title: string, Partial<Observed>, (string | undefined)[]]>([
    ["it is", pods({}), ["True", "UpToDate"]],
    [
      "it rolls out",
      pods({ problem: problem("none"), version: "v1.33.2" }),
      ["False", "RollingOut", "it is busy (PODS_BUSY); version v1.33.2 serves, v1.34.0 is wanted"],
    ],
    [
      "nothing serves",
      pods({ problem: problem("none"), ready: false }),
      ["False", "RollingOut", "it is busy (PODS_BUSY)"],
    ],
    [
      "its user must act",
      pods({ problem: problem("user") }),
      ["False", "SpecRefused", "it is busy; change the object (PODS_BUSY)"],
    ],
    [
      "its operator must act",
      pods({ problem: problem("operator") }),
      ["False", "OperatorNeeded", "it is busy; the operator of the service cluster must act (PODS_BUSY)"],
    ],
    ["its runtime does not know", { state: { ...running, problem: problem("user") } }, [undefined, undefined]],
  ])("say whether everything is as the object has it: %s", ([, changes, expected]) => {
    expect(condition(world(changes), "UpToDate")).toEqual(expected);
  });

  test.for<[title: string, Partial<Observed>, type: string, (string | undefined)[]]>([
    ["it is initialized for ever", { state: undefined }, "Initialized", ["True", "Initialized"]],
    ["it is initialized once it serves", { initialized: false }, "Initialized", ["True", "Initialized"]],
    ["it starts", { initialized: false, state: undefined }, "Initialized", ["False", "Starting"]],
    ["it is reconciled", {}, "Paused", ["False", "NotPaused"]],
    [
      "it is paused",
      { cluster: { ...cluster, spec: { paused: true } } },
      "Paused",
      ["True", "Paused", "reconciliation is paused"],
    ],
    [
      "it has no Cluster",
      { cluster: undefined },
      "Available",
      ["False", "WaitingForCluster", "waiting for its Cluster"],
    ],
  ])("say that %s", ([, changes, type, expected]) => {
    expect(condition(world(changes), type)).toEqual(expected);
  });

  test("refuse networks that a new control plane cannot have, and not those of one that serves", () => {
    const clusterNetwork = { services: { cidrBlocks: ["10.0.0.0/16"] }, pods: { cidrBlocks: ["10.0.0.0/8"] } };
    const overlapping = { cluster: { ...cluster, spec: { clusterNetwork } } as Cluster };
    const fresh = world({ ...overlapping, initialized: false, state: undefined, exists: false });
    expect(plan(fresh, now)).toMatchObject({ steps: [], wait: { for: "other networks of the Cluster" } });
    const [status, reason, message] = condition(fresh, "Available");
    expect([status, reason]).toEqual(["False", "SpecRefused"]);
    expect(message).toMatch(/overlap; change the object \(CONTROL_PLANE_NETWORK_INVALID\)$/);
    expect(condition(fresh, "Paused")).toEqual(["False", "NotPaused"]);
    expect(condition(world(overlapping), "Available")).toEqual(["True", "Available"]);
  });
});

describe("the status of a control plane", () => {
  const storage = { bytes: 1, budget: 2, stage: "Within" } as const;
  const migration = { stage: "Copying", attempt: 1 } as const;
  const backup = { folder: "f", points: 0 };
  const join = { stage: "Serve", peerURL: "https://a:1", clientURL: "https://b:2", apiAddress: "c:3" } as const;
  const before = { version: "v1.33.0", endpoint, limits: { objects: 1, bytes: 2 }, runtime: "Pods" };

  test("has one replica of a runtime that counts none, and otherwise those that there are", () => {
    const counts = (changes: Partial<Observed>) => {
      const { replicas, readyReplicas, availableReplicas, upToDateReplicas } = plan(world(changes), now).status;
      return [replicas, readyReplicas, availableReplicas, upToDateReplicas];
    };
    expect(counts({})).toEqual([1, 1, 1, 1]);
    expect(counts({ kubeconfig: undefined })).toEqual([1, 0, 0, 0]);
    const replicas = { total: 3, ready: 2, updated: 1 };
    expect(counts({ state: { ...running, replicas } })).toEqual([3, 2, 2, 1]);
  });

  test("has what the runtime says of its data, and nothing where it says nothing", () => {
    const says = { ...running, storage: { ...storage, lacksSpace: true as const }, migration, backup, join };
    const { status } = plan(world({ state: says }), now);
    expect(status).toMatchObject({ migration, backup, datastore: join });
    expect(status.storage).toEqual({ bytes: 1, budget: 2 });
    const none = plan(world(), now).status;
    for (const field of ["storage", "migration", "backup", "datastore", "runtime", "authorities"])
      expect(none).not.toHaveProperty(field);
  });

  test("keeps version, endpoint and limits of one that does not serve, and its runtime for ever", () => {
    const object = objectWith({ status: before });
    const stopped = plan(world({ object, state: { ...running, ready: false, runtime: "Process" } }), now).status;
    expect(stopped).toMatchObject(before);
    const serving = plan(world({ object, state: { ...running, runtime: "Process" } }), now).status;
    expect(serving).toMatchObject({ version: "v1.34.0", endpoint, limits, runtime: "Pods" });
    const fresh = plan(world({ state: { ...running, ready: false, runtime: "Process" } }), now).status;
    for (const field of Object.keys(before).filter((name) => name !== "runtime"))
      expect(fresh).not.toHaveProperty(field);
    expect(fresh.runtime).toBe("Process");
  });

  test("has the generation that it is of, and is initialized once and for ever", () => {
    const of = (changes: Partial<Observed>) => plan(world(changes), now).status;
    expect(of({}).observedGeneration).toBe(1);
    const { generation: _generation, ...metadata } = world().object.metadata;
    expect(of({ object: { ...world().object, metadata } })).not.toHaveProperty("observedGeneration");
    expect(of({ state: undefined }).initialization).toEqual({ controlPlaneInitialized: true });
    expect(of({ initialized: false }).initialization).toEqual({ controlPlaneInitialized: true });
    expect(of({ initialized: false, state: undefined }).initialization).toEqual({ controlPlaneInitialized: false });
  });

  test.for<[title: string, Partial<Observed>, { for: string; until?: number } | undefined]>([
    ["a Cluster", { cluster: undefined }, { for: "a Cluster whose controlPlaneRef names this object" }],
    [
      "its host, which is read again soon",
      { state: undefined, defaults: { host: undefined } },
      { for: "the address at which machines reach this host", until: now + 500 },
    ],
    [
      "half the life of its kubeconfig",
      {},
      { for: "the kubeconfig's certificate to reach half its life", until: kubeconfig.renewAt },
    ],
    ["nothing without a kubeconfig", { kubeconfig: undefined, state: undefined }, undefined],
  ])("waits for %s", ([, changes, wait]) => {
    expect(plan(world(changes), now).wait).toEqual(wait);
  });
});
