import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Cluster, HostedControlPlane } from "@causeway/api";
import { getCondition, type Condition, type Secret } from "@causeway/kubernetes";
import type { Observed } from "./gather.ts";
import type { ControlPlaneState } from "../runtime.ts";
import { desired } from "./desired.ts";
import { finalizer, plan, secretFinalizer } from "./plan.ts";

const now = Date.UTC(2026, 0, 1);
const pair = { certificate: "certificate", key: "key" };
const roots = { ca: pair, proxy: pair, sa: pair };
const endpoint = { host: "10.0.0.1", port: 6443 };
const keystone = { authURL: "https://identity.example.org/v3", projects: ["p1"] };
const authentication = { keystone };
const limits = { objects: 50_000, bytes: 2 ** 30 };
const running = { ready: true, endpoint, version: "v1.34.0", names: [], limits, authentication: {} };
const parked = { until: now + 30_000, reason: "its requests ended its worker process" };
const kubeconfig = { server: "https://10.0.0.1:6443", renewAt: now + 1000, serials: "1" };

const cluster = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "demo", namespace: "default" },
  spec: { clusterNetwork: { pods: { cidrBlocks: ["10.244.0.0/16"] }, services: { cidrBlocks: ["10.97.0.0/16"] } } },
} as Cluster;

function object(changes: { metadata?: object; spec?: object; status?: object } = {}): HostedControlPlane {
  return {
    apiVersion: "controlplane.cluster.x-k8s.io/v1alpha1",
    kind: "HostedControlPlane",
    metadata: { name: "demo", namespace: "default", generation: 3, finalizers: [finalizer], ...changes.metadata },
    spec: { version: "v1.34.0", ...changes.spec },
    ...(changes.status ? { status: changes.status } : {}),
  } as HostedControlPlane;
}

const secretOf = (metadata: object): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "demo-kubeconfig", namespace: "default", ...metadata },
});
const kubeconfigSecret = secretOf({ finalizers: [secretFinalizer] });

/** A control plane that runs and is published, but for what a test changes. */
function world(changes: Partial<Observed> = {}): Observed {
  return {
    object: object(),
    cluster,
    roots,
    authorities: undefined,
    kubeconfig,
    trustedSerials: "1",
    kubeconfigSecret,
    etcd: undefined,
    namespaceTerminates: false,
    state: running,
    exists: true,
    initialized: true,
    defaults: { host: "10.0.0.9" },
    ...changes,
  };
}

const nothing = {
  roots: {},
  kubeconfig: undefined,
  kubeconfigSecret: undefined,
  state: undefined,
  exists: false,
  initialized: false,
};
const steps = (observed: Observed) =>
  plan(observed, now).steps.map((s) => ("purpose" in s ? `${s.type} ${s.purpose}` : s.type));
const condition = (observed: Observed, type: string) =>
  getCondition((plan(observed, now).status.conditions ?? []) as Condition[], type);
const created = ["create-root ca", "create-root proxy", "create-root sa"];
const going = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [secretFinalizer] };
const deleting = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("the plan of a hosted control plane", () => {
  test.each<[string, Partial<Observed>, string[]]>([
    [
      "adds a finalizer and roots to a new one, and reconciles again",
      { ...nothing, object: object({ metadata: { finalizers: [] } }) },
      ["add-finalizer", ...created],
    ],
    ["holds a kubeconfig that nothing holds", { kubeconfigSecret: secretOf({}) }, ["hold-kubeconfig"]],
    ["releases a kubeconfig that a user deletes", { kubeconfigSecret: secretOf({ ...going }) }, ["release-kubeconfig"]],
    [
      "does not hold a kubeconfig that is being deleted",
      { kubeconfigSecret: secretOf({ ...going, finalizers: ["others/theirs"] }) },
      [],
    ],
    [
      "keeps a kubeconfig that goes with its namespace",
      { kubeconfigSecret: secretOf({ ...going }), namespaceTerminates: true },
      [],
    ],
    ["keeps roots that are there", { ...nothing, roots: { ca: pair } }, ["create-root proxy", "create-root sa"]],
    ["never recreates roots after the control plane was initialised", { roots: { proxy: pair } }, []],
    ["runs it once it has roots", { ...nothing, roots }, ["run"]],
    ["does not run it while the host is unknown", { ...nothing, roots, defaults: { host: undefined } }, []],
    ["takes the host that is named", { ...nothing, roots, object: object({ spec: { endpoint } }) }, ["run"]],
    ["writes the kubeconfig once it runs", { kubeconfig: undefined }, ["write-kubeconfig"]],
    ["writes no kubeconfig before it runs", { kubeconfig: undefined, state: { ...running, ready: false } }, ["run"]],
    ["rewrites a kubeconfig at half its life", { kubeconfig: { ...kubeconfig, renewAt: now } }, ["write-kubeconfig"]],
    [
      "rewrites a kubeconfig that points elsewhere",
      { kubeconfig: { ...kubeconfig, server: "https://other:1" } },
      ["write-kubeconfig"],
    ],
    ["runs another version", { state: { ...running, version: "v1.33.0" } }, ["run"]],
    ["runs it with more names", { object: object({ spec: { names: ["api.example.org"] } }) }, ["run"]],
    [
      "changes nothing for names in another order",
      { object: object({ spec: { names: ["b", "a"] } }), state: { ...running, names: ["a", "b"] } },
      [],
    ],
    ["runs it with a Keystone to authenticate with", { object: object({ spec: { authentication } }) }, ["run"]],
    [
      "changes nothing for the same Keystone",
      {
        object: object({ spec: { authentication } }),
        state: { ...running, authentication: { external: { type: "keystone", settings: { ...keystone } } } },
      },
      [],
    ],
    [
      "runs it without a Keystone that was removed",
      { state: { ...running, authentication: { external: { type: "keystone", settings: { ...keystone } } } } },
      ["run"],
    ],
    ["runs it with other limits", { object: object({ spec: { limits: { objects: 10 } } }) }, ["run"]],
    ["runs a paused one again by itself", { state: { ...running, ready: false, parked } }, []],
    ["does nothing when all is well", {}, []],
    ["waits without a Cluster", { ...nothing, cluster: undefined }, []],
    [
      "leaves a paused object alone",
      { ...nothing, object: object({ metadata: { annotations: { "cluster.x-k8s.io/paused": "" } } }) },
      [],
    ],
    [
      "leaves the control plane of a paused Cluster alone",
      { ...nothing, cluster: { ...cluster, spec: { ...cluster.spec, paused: true } } },
      [],
    ],
    [
      "deletes nothing that is paused",
      { object: object({ metadata: { ...deleting, annotations: { "cluster.x-k8s.io/paused": "" } } }) },
      [],
    ],
    ["removes at a deletion first what runs", { object: object({ metadata: deleting }) }, ["remove"]],
    [
      "ends a deletion with its finalizer",
      { ...nothing, object: object({ metadata: deleting }) },
      ["remove-finalizer"],
    ],
    [
      "releases at a deletion the kubeconfig before the finalizer",
      { ...nothing, kubeconfigSecret, object: object({ metadata: deleting }) },
      ["release-kubeconfig", "remove-finalizer"],
    ],
    [
      "waits at a deletion for finalizers of others",
      { object: object({ metadata: { ...deleting, finalizers: [finalizer, "others/theirs"] } }) },
      [],
    ],
    [
      "does nothing at a deletion without its finalizer",
      { object: object({ metadata: { ...deleting, finalizers: [] } }) },
      [],
    ],
    ["needs no Cluster at a deletion", { cluster: undefined, object: object({ metadata: deleting }) }, ["remove"]],
  ])("%s", (_, changes, expected) => {
    expect(steps(world(changes))).toEqual(expected);
  });
});

describe("the control plane that is run", () => {
  const spec = (changes: Partial<Observed>) => {
    const step = plan(world({ state: undefined, ...changes }), now).steps[0];
    return step?.type === "run" ? step.spec : undefined;
  };

  test("comes from the Cluster's networks and the roots", () => {
    expect(spec({})).toMatchObject({
      id: "default.demo",
      version: "v1.34.0",
      authority: pair,
      serviceAccountKey: "key",
      serviceCidr: "10.97.0.0/16",
      podCidr: "10.244.0.0/16",
      dnsDomain: "cluster.local",
      endpoint: { host: "10.0.0.9", port: 0 },
    });
  });

  test("has limits when none are given, and those that are", () => {
    expect(spec({})?.limits).toEqual({ objects: 50_000, bytes: 1_073_741_824 });
    const given = object({ spec: { limits: { bytes: 5 }, worker: "Own" } });
    expect(spec({ object: given })).toMatchObject({ limits: { objects: 50_000, bytes: 5 }, worker: "own" });
  });

  test("a published endpoint never changes by itself", () => {
    const published = { status: { endpoint } };
    expect(spec({ object: object(published) })?.endpoint).toEqual(endpoint);
    const wanted = { endpoint: { host: "other", port: 1 } };
    expect(spec({ object: object({ ...published, spec: wanted }) })?.endpoint).toEqual(endpoint);
    expect(spec({ object: object({ spec: wanted }) })?.endpoint).toEqual({ host: "other", port: 1 });
  });

  test("two control planes never share a name", () => {
    const id = (namespace: string, name: string) => spec({ object: object({ metadata: { namespace, name } }) })?.id;
    expect(id("a-b", "c")).not.toBe(id("a", "b-c"));
  });
});

describe("the status of a hosted control plane", () => {
  test.each<[string, Partial<Observed>, string, object]>([
    ["reports Available when it is ready", {}, "Available", { status: "True" }],
    ["reports Initialized when it is initialised", {}, "Initialized", { status: "True" }],
    [
      "does not report Initialized before the kubeconfig is there",
      { kubeconfig: undefined, initialized: false },
      "Initialized",
      { status: "False" },
    ],
    [
      "reports which roots are lost",
      { roots: { ca: pair } },
      "CertificatesAvailable",
      { reason: "SecretsMissing", message: expect.stringContaining("proxy, sa") },
    ],
    ["reports which roots are to come", nothing, "CertificatesAvailable", { reason: "Creating" }],
    [
      "reports that it waits for its host",
      { ...nothing, roots, defaults: { host: undefined } },
      "Available",
      { message: expect.stringContaining("address") },
    ],
    [
      "reports that the infrastructure created an endpoint of its own, where machines do not find it",
      { cluster: { ...cluster, spec: { ...cluster.spec, controlPlaneEndpoint: { host: "203.0.113.7", port: 6443 } } } },
      "Available",
      {
        status: "False",
        reason: "EndpointMismatch",
        message: expect.stringMatching(/endpoint 203.0.113.7:6443, .* serves at 10.0.0.1:6443/),
      },
    ],
    [
      "reports nothing against an endpoint that forwards to it, which is a name of its certificate",
      {
        object: object({ spec: { names: ["api.example.org"] } }),
        state: { ...running, names: ["api.example.org"] },
        cluster: {
          ...cluster,
          spec: { ...cluster.spec, controlPlaneEndpoint: { host: "api.example.org", port: 443 } },
        },
      },
      "Available",
      { status: "True" },
    ],
    [
      "reports nothing against a Cluster that has adopted its endpoint",
      { cluster: { ...cluster, spec: { ...cluster.spec, controlPlaneEndpoint: endpoint } } },
      "Available",
      { status: "True" },
    ],
    ["reports that it waits for a Cluster", { cluster: undefined }, "Available", { reason: "WaitingForCluster" }],
    [
      "reports whom its deletion waits for",
      { object: object({ metadata: { ...deleting, finalizers: [finalizer, "a/b"] } }) },
      "Deleting",
      { reason: "WaitingForFinalizers", message: expect.stringContaining("a/b") },
    ],
    [
      "reports why it does not run",
      { state: { ...running, ready: false, message: "no room" } },
      "Available",
      { message: "no room" },
    ],
  ])("%s", (_, changes, type, expected) => {
    expect(condition(world(changes), type)).toMatchObject({ observedGeneration: 3, ...expected });
  });

  test("has the fields of Cluster API's contract", () => {
    expect(plan(world(), now).status).toMatchObject({
      externalManagedControlPlane: true,
      initialization: { controlPlaneInitialized: true },
      version: "v1.34.0",
      endpoint,
      replicas: 1,
      readyReplicas: 1,
      observedGeneration: 3,
    });
  });

  test("keeps Initialized and a published endpoint once they are set", () => {
    const before = object({ status: { endpoint, version: "v1.34.0" } });
    const { status } = plan(world({ object: before, state: undefined, kubeconfig: undefined }), now);
    expect(status).toMatchObject({ initialization: { controlPlaneInitialized: true }, endpoint, readyReplicas: 0 });
  });

  test("says of a paused control plane why and until when, with one event for each pause", () => {
    const state = { ...running, ready: false, parked };
    const message = "not served until 2026-01-01T00:00:30.000Z: its requests ended its worker process";
    const planned = plan(world({ state }), now);
    expect(planned.events).toEqual([{ type: "Warning", reason: "Parked", message }]);
    expect(condition(world({ state }), "Available")).toMatchObject({ status: "False", reason: "Parked", message });
    const known = world({ state, object: object({ status: planned.status }) });
    expect(plan(known, now).events).toEqual([]);
    const next = { ...state, parked: { ...parked, until: now + 90_000 } };
    expect(plan({ ...known, state: next }, now).events?.length).toBe(1);
  });

  test("has the limits in force", () => {
    expect(plan(world(), now).status.limits).toEqual(limits);
  });

  test("is planned again when the kubeconfig is due", () => {
    expect(plan(world(), now).wait?.until).toBe(kubeconfig.renewAt);
  });
});

test("from any state the planned steps converge, and roots are not created twice", () => {
  const maybe = <T>(value: T) => fc.option(fc.constant(value), { nil: undefined });
  const start = fc.record({
    ca: fc.boolean(),
    proxy: fc.boolean(),
    sa: fc.boolean(),
    has: fc.boolean(),
    state: maybe(running),
    config: maybe(kubeconfig),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(start, (given) => {
      const has = {
        ...(given.ca ? { ca: pair } : {}),
        ...(given.proxy ? { proxy: pair } : {}),
        ...(given.sa ? { sa: pair } : {}),
      };
      const metadata = { finalizers: given.has ? [finalizer] : [], ...(given.gone ? deleting : {}) };
      let observed = world({
        roots: has,
        kubeconfig: given.config,
        state: given.state,
        exists: given.state !== undefined,
        initialized: false,
        object: object({ metadata }),
      });
      for (let round = 0; round < 6; round++) {
        const next = plan(observed, now).steps;
        if (next.length === 0) {
          if (given.gone) expect(observed.object.metadata.finalizers).toEqual([]);
          else expect(observed).toMatchObject({ state: { ready: true }, roots });
          return;
        }
        for (const step of next) observed = done(observed, step);
      }
      throw new Error("it does not come to rest");
    }),
  );
});

type Step = ReturnType<typeof plan>["steps"][number];

function done(observed: Observed, step: Step): Observed {
  const { metadata } = observed.object;
  const withFinalizers = (finalizers: string[]) => ({ ...observed.object, metadata: { ...metadata, finalizers } });
  switch (step.type) {
    case "add-finalizer":
      return { ...observed, object: withFinalizers([...(metadata.finalizers ?? []), finalizer]) };
    case "create-root":
      expect(observed.roots[step.purpose]).toBeUndefined();
      return { ...observed, roots: { ...observed.roots, [step.purpose]: pair } };
    case "rotate-root":
      throw new Error("nothing is rotated here");
    case "run":
      return { ...observed, exists: true, state: { ...running, version: step.spec.version, names: step.spec.names } };
    case "write-kubeconfig":
      return { ...observed, kubeconfig: { server: step.server, renewAt: now + 1000, serials: "1" } };
    case "hold-kubeconfig":
      return { ...observed, kubeconfigSecret };
    case "release-kubeconfig":
      return { ...observed, kubeconfigSecret: undefined };
    case "remove":
      return { ...observed, exists: false, state: undefined };
    case "remove-finalizer":
      return { ...observed, object: withFinalizers([]) };
  }
}

describe("a control plane that joins an etcd that exists", () => {
  const datastore: HostedControlPlane["spec"]["datastore"] = {
    stage: "Follow",
    members: [{ name: "m0", peerURL: "https://10.0.0.4:2380" }],
    peerHost: "192.0.2.1",
  };
  const pair = { certificate: "c", key: "k" };
  const etcd = { authority: "a", server: pair, client: pair };
  const joining = (stage: "Reserve" | "Follow" | "Serve"): ControlPlaneState => ({
    ...running,
    ready: false,
    starting: true,
    join: { stage, peerURL: "https://192.0.2.1:1", clientURL: "https://127.0.0.1:2", apiAddress: "192.0.2.1:3" },
  });
  test.for<[string, Partial<Observed>, string[], string | undefined]>([
    ["reserves ports only, until its certificates are there", { state: undefined, exists: false }, ["run"], "Reserve"],
    ["follows when they are", { etcd, state: joining("Reserve") }, ["run"], "Follow"],
    ["is left alone at its stage", { etcd, state: joining("Follow") }, [], "Follow"],
    ["is set back to follow after it has served", { etcd, state: joining("Serve") }, ["run"], "Follow"],
  ])("%s", ([, changes, expected, stage]) => {
    const base = object();
    const observed = world({ ...changes, object: { ...base, spec: { ...base.spec, datastore } } });
    expect(steps(observed)).toEqual(expected);
    expect(desired(observed)?.join?.stage).toBe(stage);
  });
});
