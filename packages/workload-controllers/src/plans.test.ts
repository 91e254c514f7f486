import { describe, expect, test } from "vitest";
import type { Job, Node, Pod, StatefulSet } from "@causeway/kubernetes";
import { plan as planEphemeralVolume } from "./ephemeralvolume/plan.ts";
import { plan as planNodeIpam } from "./nodeipam/plan.ts";
import type { PersistentVolumeClaim } from "./objects/storage.ts";
import { plan as planPod, type Observed } from "./scheduler/plan.ts";
import { info, node as schedulerNode, nodeWith, view, type PodFacts } from "./scheduler/testing/objects.ts";
import { plan as planStatefulSet } from "./statefulset/plan.ts";
import { at, now, pod as podWith, template } from "./testing/objects.ts";
import { plan as planTtl } from "./ttlafterfinished/plan.ts";

describe("a Job that ended 60 s ago", () => {
  const job = (ttl: number | undefined, type: string, metadata: object = {}, condition: object = {}): Job => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work", namespace: "default", uid: "job", ...metadata },
    spec: { template: { spec: { containers: [] } }, ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }) },
    status: {
      conditions: [
        { type: "Suspended", status: "False", lastTransitionTime: at(500) },
        { type, status: "True", lastTransitionTime: at(60), ...condition },
      ],
    },
  });
  test.each<[string, Job, number | undefined, number]>([
    ["is deleted after its TTL", job(60, "Complete"), undefined, 1],
    ["is deleted after its TTL when it failed", job(0, "Failed"), undefined, 1],
    ["waits for the rest of its TTL", job(90, "Complete"), now + 30_000, 0],
    ["remains without a TTL", job(undefined, "Complete"), undefined, 0],
    ["remains until it is Complete", job(0, "SuccessCriteriaMet"), undefined, 0],
    ["remains while it is not known to have ended", job(0, "Complete", {}, { status: "Unknown" }), undefined, 0],
    ["remains where the end has no time", job(0, "Complete", {}, { lastTransitionTime: undefined }), undefined, 0],
    ["is not deleted twice", job(0, "Complete", { deletionTimestamp: at(1) }), undefined, 0],
  ])("%s", (_title, found, until, steps) => {
    const planned = planTtl({ job: found }, now);
    expect(planned.wait).toEqual(until === undefined ? undefined : { for: "ttlSecondsAfterFinished", until });
    const target = { namespace: "default", name: "work", uid: "job" };
    expect(planned.steps).toEqual(Array.from({ length: steps }, () => ({ type: "delete-job", target })));
  });
});

describe("the networks of a Node's pods", () => {
  const node = (spec: Node["spec"] | undefined, metadata: object = {}): Node =>
    ({ apiVersion: "v1", kind: "Node", metadata: { name: "n", uid: "u", ...metadata }, spec }) as Node;
  const assigned = (clusterCIDRs: readonly string[], taken: readonly string[] = []) =>
    planNodeIpam({ node: node({}), taken, clusterCIDRs }).steps;

  test.each<[string, readonly string[], readonly string[], readonly string[] | undefined]>([
    ["are the first of the cluster's", ["10.244.0.0/16"], [], ["10.244.0.0/24"]],
    ["skip those of other Nodes", ["10.244.0.0/16"], ["10.244.0.0/24", "10.244.2.0/24"], ["10.244.1.0/24"]],
    ["are one of each family", ["10.244.0.0/16", "fd00:1::/48"], [], ["10.244.0.0/24", "fd00:1::/64"]],
    ["skip those of other Nodes in each family", ["fd00:1::/48"], ["fd00:1::/64"], ["fd00:1:0:1::/64"]],
    ["are the cluster's own when that is as small", ["10.244.7.0/26"], [], ["10.244.7.0/26"]],
    ["are the last one when that is free", ["10.0.0.0/23"], ["10.0.0.0/24"], ["10.0.1.0/24"]],
  ])("%s", (_, cluster, taken, podCIDRs) => {
    expect(assigned(cluster, taken)).toEqual([{ type: "assign", name: "n", uid: "u", podCIDRs }]);
  });

  test.each<[string, readonly string[]]>([
    ["all are in use", ["10.0.0.0/24"]],
    ["those of one family are", ["fd00:1::/48", "10.0.0.0/24"]],
    ["the cluster's is no network", ["lan"]],
  ])("are missing, with an event, when %s", (_, clusterCIDRs) => {
    const message = "Node n status is now: CIDRNotAvailable";
    expect(planNodeIpam({ node: node({}), taken: ["10.0.0.0/24"], clusterCIDRs })).toMatchObject({
      steps: [],
      events: [{ type: "Normal", reason: "CIDRNotAvailable", message }],
    });
  });

  test("remain as they are, and a Node that is being deleted gets none", () => {
    const planned = (given: Node) => planNodeIpam({ node: given, taken: [], clusterCIDRs: ["10.244.0.0/16"] });
    expect(planned(node({ podCIDR: "10.9.0.0/24" }))).toEqual({ steps: [], status: undefined });
    expect(planned(node({}, { deletionTimestamp: at(1) })).steps).toEqual([]);
    expect(planned(node(undefined)).steps).toHaveLength(1);
  });
});

describe("the claim of an ephemeral volume", () => {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const metadata = { labels: { a: "b" }, annotations: { c: "d" } };
  const volumes = [
    { name: "scratch", ephemeral: { volumeClaimTemplate: { metadata, spec } } },
    { name: "bare", ephemeral: { volumeClaimTemplate: { spec } } },
    { name: "empty", ephemeral: {} },
    { name: "other", emptyDir: {} },
  ];
  const withVolumes = (changes: object = {}): Pod => {
    const made = podWith("web");
    return { ...made, metadata: { ...made.metadata, ...changes }, spec: { ...made.spec, volumes } };
  };
  const planned = (pod: Pod, ...found: PersistentVolumeClaim[]) =>
    planEphemeralVolume({ pod, claims: new Map(found.map((each) => [each.metadata.name, each] as const)) });
  const claimsOf = (pod: Pod) => planned(pod).steps.map((step) => step.claim);
  const ownerReferences = [
    { apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-web", controller: true, blockOwnerDeletion: true },
  ];

  test("is created as its template says, controlled by the pod", () => {
    const common = { apiVersion: "v1", kind: "PersistentVolumeClaim", spec };
    const own = { namespace: "default", ownerReferences };
    expect(planned(withVolumes()).steps).toEqual([
      { type: "create-claim", claim: { ...common, metadata: { ...own, name: "web-scratch", ...metadata } } },
      { type: "create-claim", claim: { ...common, metadata: { ...own, name: "web-bare" } } },
    ]);
    expect(claimsOf(withVolumes({ namespace: undefined }))[0]?.metadata).not.toHaveProperty("namespace");
    expect(planned(podWith("plain"))).toEqual({ steps: [], status: undefined, events: [] });
  });

  test("is not created again, nor for a pod that is being deleted", () => {
    expect(planned(withVolumes(), ...claimsOf(withVolumes()))).toMatchObject({ steps: [], events: [] });
    expect(planned(withVolumes({ deletionTimestamp: at(1) })).steps).toEqual([]);
  });

  test("of another owner is reported", () => {
    const foreign = claimsOf(withVolumes({ uid: "other" }));
    const message = (name: string) => `PVC default/${name} was not created for pod default/web (pod is not owner)`;
    expect(planned(withVolumes(), ...foreign)).toMatchObject({
      steps: [],
      events: ["web-scratch", "web-bare"].map((name) => ({
        type: "Warning",
        reason: "FailedBinding",
        message: message(name),
      })),
    });
  });
});

describe("the node for a pod", () => {
  const half: PodFacts = { requests: { cpu: "500m" } };
  const small = (name: string, ...pods: readonly ReturnType<typeof info>[]) =>
    nodeWith(schedulerNode(name, { allocatable: { cpu: "1" } }), ...pods);
  const full = (name: string) => small(name, info(`${name}-full`, { requests: { cpu: "1" }, priority: 500 }));
  const given = { budgets: [], nominatedTo: () => [], start: 0, choice: 0 };
  const chosen = (facts: PodFacts, nodes: readonly ReturnType<typeof small>[], more: Partial<Observed> = {}) =>
    planPod({ ...given, pod: info("web", { priority: 100, ...half, ...facts }), view: view({ nodes }), ...more });
  const bound = (node: string) => ({ type: "bind", node, volumes: { bind: [], provision: [] } });

  test.each([
    [0, "a"],
    [0.5, "b"],
    [0.99, "c"],
    [1, "c"],
  ])("is chosen among equally good ones: %s, %s", (choice, name) => {
    const { steps, failedBy, tested } = chosen({}, [small("a"), small("b"), small("c")], { choice });
    expect(steps).toEqual([bound(name)]);
    expect([failedBy, tested]).toEqual([new Set(), 3]);
  });

  test("is the best one, whatever is chosen among equals", () => {
    const nodes = [small("a", info("x", half)), small("b"), small("c", info("y", half))];
    for (const choice of [0, 0.5, 0.99]) expect(chosen({}, nodes, { choice }).steps).toEqual([bound("b")]);
  });

  test("is the one that pods were removed from for it, without another search, if it fits there by now", () => {
    const nodes = [small("a"), small("b", info("x", half))];
    expect(chosen({ nominated: "b" }, nodes)).toMatchObject({ steps: [bound("b")], tested: 0 });
    expect(chosen({}, nodes)).toMatchObject({ steps: [bound("a")], tested: 2 });
    expect(chosen({ nominated: "gone" }, nodes)).toMatchObject({ steps: [bound("a")], tested: 2 });
    expect(chosen({ nominated: "b" }, [small("a"), full("b")])).toMatchObject({ steps: [bound("a")], tested: 2 });
  });

  test.each<[string, string, PodFacts, string]>([
    ["more important", "other", { priority: 200 }, "a"],
    ["as important", "other", { priority: 100 }, "a"],
    ["less important", "other", { priority: 99 }, "b"],
    ["the pod itself", "web", { priority: 100 }, "b"],
    ["small enough for both to fit", "other", { priority: 200, requests: { cpu: "100m" } }, "b"],
  ])("is not that one where room is kept there for another pod that is %s", (_what, name, facts, expected) => {
    const nodes = [small("a"), small("b", info("x", { requests: { cpu: "300m" } }))];
    const nominatedTo = (node: string) => (node === "b" ? [info(name, { ...half, ...facts })] : []);
    expect(chosen({ nominated: "b" }, nodes, { nominatedTo }).steps).toEqual([bound(expected)]);
  });

  test("is none where the pod fits on none: the report names the filters, and no nomination remains", () => {
    const failedBy = new Set(["NodeResourcesFit"]);
    const message =
      "0/1 nodes are available: 1 Insufficient cpu. " +
      "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    expect(chosen({ nominated: "a" }, [full("a")])).toEqual({
      steps: [{ type: "report", message, nominatedNode: "" }],
      failedBy,
      tested: 1,
    });
    const none = { type: "report", message: "no nodes available to schedule pods", nominatedNode: "" };
    expect(chosen({}, [])).toEqual({ steps: [none], failedBy: new Set(), tested: 0 });
  });

  test("is reported as nominated where pods are removed from it", () => {
    const { steps } = chosen({}, [full("a"), small("b", info("low", { requests: { cpu: "1" }, priority: 1 }))]);
    expect(steps).toMatchObject([
      { type: "preempt", node: "b", victims: [{ key: "default/low" }] },
      { type: "report", nominatedNode: "b" },
    ]);
  });

  test("is chosen with the volumes for the claims that wait for it", () => {
    const metadata = { name: "data", namespace: "default", uid: "c" };
    const spec = {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      storageClassName: "late",
    };
    const claim = { apiVersion: "v1" as const, kind: "PersistentVolumeClaim" as const, metadata, spec };
    const provisioned = {
      ...claim,
      metadata: { ...metadata, name: "more" },
      spec: { ...spec, storageClassName: "made" },
    };
    const volume = {
      apiVersion: "v1" as const,
      kind: "PersistentVolume" as const,
      metadata: { name: "v" },
      spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, storageClassName: "late" },
      status: { phase: "Available" },
    };
    const storageClasses = ["late", "made"].map((name) => ({
      apiVersion: "storage.k8s.io/v1" as const,
      kind: "StorageClass" as const,
      metadata: { name },
      provisioner: "csi.example.com",
      volumeBindingMode: "WaitForFirstConsumer" as const,
    }));
    const nodes = [small("a")];
    const claiming = ["data", "more"].map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
    const cluster = view({ nodes, claims: [claim, provisioned], volumes: [volume], storageClasses });
    const { steps } = chosen({ volumes: claiming }, nodes, { view: cluster });
    expect(steps).toEqual([
      { type: "bind", node: "a", volumes: { bind: [{ claim, volume }], provision: [provisioned] } },
    ]);
  });

  test("is none where a filter rejects the pod before any node is tested", () => {
    const claiming = { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "missing" } }] };
    const { steps, failedBy, tested } = chosen(claiming, [small("a")]);
    expect(steps).toMatchObject([{ type: "report", nominatedNode: "" }]);
    expect([failedBy.size, tested]).toEqual([1, 0]);
  });
});

describe("a StatefulSet", () => {
  const set = (metadata: object = {}, minReadySeconds = 60): StatefulSet => ({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "db", namespace: "default", uid: "set", ...metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "web" } },
      template: template(),
      serviceName: "db",
      minReadySeconds,
    },
  });
  const given = { orphans: [], orphanRevisions: [], claims: new Map() };
  const [made] = planStatefulSet({ ...given, set: set(), pods: [], revisions: [] }, now).steps;
  const revision = made?.type === "create-revision" ? made.revision : expect.fail("no revision");
  const [created] = planStatefulSet({ ...given, set: set(), pods: [], revisions: [revision] }, now).steps;
  const stored = (ready: number): Pod => {
    const one = created?.type === "create-pod" ? created.pod : expect.fail("no pod");
    const base = podWith("db-0", { ready });
    return {
      ...base,
      ...one,
      metadata: { ...one.metadata, uid: "p", creationTimestamp: at(200) },
      status: base.status ?? {},
    };
  };

  test("waits by name for its pods to be ready long enough, and then for nothing", () => {
    const waits = (ready: number) =>
      planStatefulSet({ ...given, set: set(), pods: [stored(ready)], revisions: [revision] }, now);
    expect(waits(10)).toMatchObject({
      steps: [],
      wait: { for: "pods to be ready for minReadySeconds", until: now + 50_000 },
    });
    expect(waits(90)).not.toHaveProperty("wait");
  });

  test("that is being deleted makes neither revisions nor pods", () => {
    const leaving = set({ deletionTimestamp: at(1) });
    expect(planStatefulSet({ ...given, set: leaving, pods: [], revisions: [] }, now).steps).toEqual([]);
    expect(planStatefulSet({ ...given, set: leaving, pods: [], revisions: [revision] }, now).steps).toEqual([]);
  });

  test("keeps a revision of its own whose labels a user changed", () => {
    const changed = { ...revision, metadata: { ...revision.metadata, labels: {} } };
    const { steps } = planStatefulSet({ ...given, set: set(), pods: [stored(90)], revisions: [changed] }, now);
    expect(steps).toEqual([]);
  });
});
