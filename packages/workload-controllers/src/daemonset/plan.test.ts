import { describe, expect, test } from "vitest";
import type { DaemonSet, Node, Pod } from "@causeway/kubernetes";
import { node, type NodeFields } from "../scheduler/testing/objects.ts";
import { at, controlledBy, now, pod, template, type PodFacts } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { plan } from "./plan.ts";
import { hashLabel, podFor } from "./template.ts";

const set = (spec: Partial<DaemonSet["spec"]> = {}, metadata: object = {}): DaemonSet => ({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent", namespace: "default", uid: "set", generation: 2, ...metadata },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: template(),
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    ...spec,
  },
});
const empty = (object: DaemonSet): Observed => ({
  set: object,
  nodes: [],
  pods: [],
  orphans: [],
  revisions: [],
  orphanRevisions: [],
  failureHolds: new Map(),
});
function revision(image: string, number: number) {
  const [step] = plan(empty(set({ template: template(image) })), now).steps;
  if (step?.type !== "create-revision") throw new Error("no revision");
  const { metadata } = step.revision;
  return { ...step.revision, revision: number, metadata: { ...metadata, uid: metadata.name } };
}
const one = revision("web:1", 1);
const two = revision("web:2", 2);
const hashOf = ({ metadata }: typeof one) => metadata.labels?.[hashLabel] ?? "";
const on = (name: string, facts: PodFacts & { id?: string; revision?: typeof one } = {}): Pod => {
  const labels = { app: "web", [hashLabel]: hashOf(facts.revision ?? one) };
  return pod(`${facts.id ?? "pod"}-${name}`, { owner: set(), labels, node: name, ...facts });
};
const observed = (object: DaemonSet, nodes: readonly Node[], pods: readonly Pod[], more: Partial<Observed> = {}) => ({
  ...empty(object),
  nodes,
  pods,
  revisions: [one],
  ...more,
});
const stepsOf = (seen: Observed) =>
  plan(seen, now).steps.flatMap((step) => {
    if (step.type === "create-pods") return step.nodes.map((each) => `create on ${each}`);
    if (step.type === "delete-pods") return step.targets.map(({ name }) => `delete ${name}`);
    return step.type === "create-revision"
      ? [`revision ${step.revision.revision}`]
      : [`${step.type} ${step.target.name}`];
  });
const tainted = (key: string, effect: "NoSchedule" | "NoExecute" | "PreferNoSchedule"): NodeFields => ({
  taints: [{ key, effect }],
});
const waits = { phase: "Pending", ready: undefined } as const;
const withSpec = (spec: object) => ({ template: { ...template(), spec: { ...template().spec, ...spec } } });

describe("a DaemonSet creates, keeps or removes its pod for", () => {
  const required = (key: string) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "Exists" }] }],
        },
      },
    },
  });
  const rows: [string, object, NodeFields, "creates" | "keeps" | "removes"][] = [
    ["a node without taints", {}, {}, "creates"],
    ["a node that is cordoned", {}, tainted("node.kubernetes.io/unschedulable", "NoSchedule"), "creates"],
    ["a node that is not ready", {}, tainted("node.kubernetes.io/not-ready", "NoExecute"), "creates"],
    ["a node that is unreachable", {}, tainted("node.kubernetes.io/unreachable", "NoExecute"), "creates"],
    ["a node under memory pressure", {}, tainted("node.kubernetes.io/memory-pressure", "NoSchedule"), "creates"],
    ["a node without network", {}, tainted("node.kubernetes.io/network-unavailable", "NoSchedule"), "keeps"],
    [
      "a node without network, for pods on the host's",
      { hostNetwork: true },
      tainted("node.kubernetes.io/network-unavailable", "NoSchedule"),
      "creates",
    ],
    ["a taint NoSchedule that is not tolerated", {}, tainted("own", "NoSchedule"), "keeps"],
    ["a taint NoExecute that is not tolerated", {}, tainted("own", "NoExecute"), "removes"],
    ["a taint that only prefers", {}, tainted("own", "PreferNoSchedule"), "creates"],
    ["a taint that is tolerated", { tolerations: [{ operator: "Exists" }] }, tainted("own", "NoExecute"), "creates"],
    ["a node selector that fits", { nodeSelector: { disk: "ssd" } }, { labels: { disk: "ssd" } }, "creates"],
    ["a node selector that does not fit", { nodeSelector: { disk: "ssd" } }, {}, "removes"],
    ["required node affinity that fits", required("disk"), { labels: { disk: "" } }, "creates"],
    ["required node affinity that does not fit", required("disk"), {}, "removes"],
    ["another node's name", { nodeName: "two" }, {}, "removes"],
    ["a node without room, which the scheduler judges", {}, { allocatable: { pods: "0" } }, "creates"],
  ];
  test.each(rows)("%s", (_title, spec, facts, expected) => {
    const object = set(withSpec(spec));
    const nodes = [node("one", facts)];
    const [step] = plan({ ...empty(object), nodes }, now).steps;
    if (step?.type !== "create-revision") throw new Error("no revision");
    const revisions = [{ ...step.revision, metadata: { ...step.revision.metadata, uid: "r" } }];
    const labels = { app: "web", ...step.revision.metadata.labels };
    const created = stepsOf(observed(object, nodes, [], { revisions }));
    const removed = stepsOf(observed(object, nodes, [on("one", { labels })], { revisions }));
    expect({ created, removed }).toEqual({
      created: expected === "creates" ? ["create on one"] : [],
      removed: expected === "removes" ? ["delete pod-one"] : [],
    });
  });

  test("pods get the node's name as affinity, upstream's tolerations and the hash of their revision", () => {
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    const own = { key: "own", operator: "Exists" };
    const object = set(withSpec({ affinity: { nodeAffinity: preferred }, tolerations: [own] }), {
      annotations: { "deprecated.daemonset.template.generation": "7" },
    });
    const made = podFor(object, "one", "abc");
    expect(made.metadata).toMatchObject({
      generateName: "agent-",
      labels: { app: "web", "controller-revision-hash": "abc", "pod-template-generation": "7" },
      ownerReferences: [controlledBy(object)],
    });
    expect(made.spec["affinity"]).toEqual({
      nodeAffinity: {
        ...preferred,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["one"] }] }],
        },
      },
    });
    expect(made.spec.tolerations).toHaveLength(7);
    expect(made.spec.tolerations?.[0]).toEqual(own);
  });
});

describe("the pods of a DaemonSet", () => {
  const nodes = [node("one"), node("two")];
  const unplaced = { ...on("one"), ...podFor(set(), "one", hashOf(one)) };
  const waiting = { ...unplaced, metadata: { ...unplaced.metadata, name: "waiting", uid: "waiting" } };
  const gone = podFor(set(), "gone", hashOf(one));
  const rows: [string, Pod[], string[]][] = [
    ["are created where they are missing", [on("one")], ["create on two"]],
    ["count before they are scheduled", [waiting, on("two")], []],
    ["are not created while one is being deleted", [on("one", { deleted: true }), on("two")], []],
    [
      "are created next to one that ended and is being deleted",
      [on("one", { deleted: true, phase: "Failed" }), on("two")],
      ["create on one"],
    ],
    ["are deleted when they failed", [on("one", { phase: "Failed" }), on("two")], ["delete pod-one"]],
    ["are deleted when they ended", [on("one", { phase: "Succeeded" }), on("two")], ["delete pod-one"]],
    ["are deleted but the oldest", [on("one", { id: "new", age: 1 }), on("one"), on("two")], ["delete new-one"]],
    [
      "are deleted when they wait for a node that is gone",
      [{ ...gone, metadata: { ...gone.metadata, name: "lost", uid: "lost" } }, on("one"), on("two")],
      ["delete lost"],
    ],
  ];
  test.each(rows)("%s", (_title, pods, expected) => {
    expect(stepsOf(observed(set(), nodes, pods))).toEqual(expected);
  });

  test("that fail again are deleted later", () => {
    const pods = [on("one", { phase: "Failed" }), on("two")];
    const { steps, wait } = plan(observed(set(), nodes, pods, { failureHolds: new Map([["one", now + 4_000]]) }), now);
    expect({ steps, until: wait?.until }).toEqual({ steps: [], until: now + 4_000 });
  });

  test("that failed are reported", () => {
    const pods = [on("one", { phase: "Failed" }), on("two", { phase: "Succeeded" })];
    expect(plan(observed(set(), nodes, pods), now).events).toEqual([
      {
        type: "Warning",
        reason: "FailedDaemonPod",
        message: "Found failed daemon pod default/pod-one on node one, will try to kill it",
      },
      {
        type: "Normal",
        reason: "SucceededDaemonPod",
        message: "Found succeeded daemon pod default/pod-two on node two, will try to delete it",
      },
    ]);
  });

  test("are left alone while the DaemonSet is being deleted", () => {
    expect(stepsOf(observed(set({}, { deletionTimestamp: at(1) }), nodes, []))).toEqual([]);
  });

  test("are created and deleted at most 250 in one round", () => {
    const many = Array.from({ length: 300 }, (_, i) => node(`n${i}`));
    expect(stepsOf(observed(set(), many, []))).toHaveLength(250);
  });
});

describe("the update of a DaemonSet", () => {
  const names = ["one", "two", "three"];
  const nodes = names.map((name) => node(name));
  const rolling = (limits: object, spec: object = {}) =>
    set({ template: template("web:2"), updateStrategy: { type: "RollingUpdate", rollingUpdate: limits }, ...spec });
  const old = names.map((name) => on(name));
  const next = (name: string, facts: PodFacts = {}) => on(name, { revision: two, id: "new", ...facts });
  const rows: [string, DaemonSet, Pod[], string[]][] = [
    ["one pod at a time", rolling({ maxUnavailable: 1 }), old, ["delete pod-one"]],
    ["as many as maxUnavailable", rolling({ maxUnavailable: 2 }), old, ["delete pod-one", "delete pod-two"]],
    ["a percentage is rounded up", rolling({ maxUnavailable: "34%" }), old, ["delete pod-one", "delete pod-two"]],
    ["waits for a new pod", rolling({ maxUnavailable: 1 }), [next("one", waits), on("two"), on("three")], []],
    [
      "waits for minReadySeconds",
      rolling({ maxUnavailable: 1 }, { minReadySeconds: 60 }),
      [next("one", { ready: 10 }), on("two"), on("three")],
      [],
    ],
    [
      "old pods that are not available go at once",
      rolling({ maxUnavailable: 1 }),
      [on("one", waits), on("two", waits), on("three")],
      ["delete pod-one", "delete pod-two"],
    ],
    ["maxSurge creates a second pod", rolling({ maxUnavailable: 0, maxSurge: 1 }), old, ["create on one"]],
    [
      "maxSurge waits for the second pod",
      rolling({ maxUnavailable: 0, maxSurge: 1 }),
      [...old, next("one", waits)],
      [],
    ],
    [
      "maxSurge deletes the old pod once the new one is available",
      rolling({ maxUnavailable: 0, maxSurge: 1 }),
      [...old, next("one")],
      ["delete pod-one"],
    ],
    [
      "maxSurge replaces pods that are not ready on every node",
      rolling({ maxUnavailable: 0, maxSurge: 1 }),
      [on("one", waits), on("two", waits), on("three")],
      ["create on one", "create on two", "create on three"],
    ],
    [
      "OnDelete deletes none",
      { ...rolling({}), spec: { ...rolling({}).spec, updateStrategy: { type: "OnDelete" } } },
      old,
      [],
    ],
  ];
  test.each(rows)("%s", (_title, object, pods, expected) => {
    expect(stepsOf(observed(object, nodes, pods, { revisions: [one, two] }))).toEqual(expected);
  });
});

test("old pods that are replaced beyond the limits, since they are not available, are to be read first", () => {
  const nodes = [node("one"), node("two"), node("three")];
  const pods = [on("one", waits), on("two", waits), on("three")];
  const unavailable = [{ maxSurge: 1, maxUnavailable: 0 }, { maxUnavailable: 1 }].map((rollingUpdate) => {
    const object = set({ template: template("web:2"), updateStrategy: { type: "RollingUpdate", rollingUpdate } });
    const [step] = plan(observed(object, nodes, pods, { revisions: [one, two] }), now).steps;
    return step && "unavailable" in step ? step.unavailable.map(({ metadata }) => metadata.name) : [];
  });
  expect(unavailable).toEqual([
    ["pod-one", "pod-two"],
    ["pod-one", "pod-two"],
  ]);
});

describe("the status and history of a DaemonSet", () => {
  test("counts nodes by the oldest pod of each", () => {
    const nodes = [node("one"), node("two"), node("three"), node("four", tainted("own", "NoSchedule"))];
    const pods = [on("one", { revision: two }), on("two", { ready: 10 }), on("four")];
    const object = set({
      template: template("web:2"),
      minReadySeconds: 60,
      updateStrategy: { type: "OnDelete" },
    });
    const { status } = plan(observed(object, nodes, pods, { revisions: [one, two] }), now);
    expect(status).toEqual({
      currentNumberScheduled: 2,
      numberMisscheduled: 1,
      desiredNumberScheduled: 3,
      numberReady: 2,
      observedGeneration: 2,
      updatedNumberScheduled: 1,
      numberAvailable: 1,
      numberUnavailable: 2,
    });
  });

  test("makes a revision, makes an old one the latest again, and deletes those beyond the limit", () => {
    const changed = set({ template: template("web:2") });
    expect(stepsOf(observed(changed, [], []))).toEqual(["revision 2"]);
    expect(stepsOf(observed(set(), [], [], { revisions: [one, two] }))).toEqual([
      `renumber-revision ${one.metadata.name}`,
    ]);
    const limited = set({ template: template("web:2"), revisionHistoryLimit: 0 });
    expect(stepsOf(observed(limited, [], [], { revisions: [one, two] }))).toEqual([
      `delete-revision ${one.metadata.name}`,
    ]);
  });

  const counted = { currentNumberScheduled: 7, numberMisscheduled: 0, desiredNumberScheduled: 7, numberReady: 7 };
  const zero = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };

  test("remain while a DaemonSet is deleted, adopts what is its own, or has no revision yet", () => {
    const { ownerReferences: _, ...metadata } = one.metadata;
    const orphan = { ...one, metadata: { ...metadata, labels: { ...metadata.labels, app: "web" } } };
    const { ownerReferences: _owner, ...bare } = on("one").metadata;
    const adopting = { orphanRevisions: [orphan], orphans: [{ ...on("one"), metadata: bare }] };
    const known = { ...set(), status: counted };
    const all = [
      observed(set({}, { deletionTimestamp: at(1) }), [node("one")], []),
      observed(set(), [], [], adopting),
      empty(set()),
    ];
    expect(all.map((seen) => plan(seen, now).status)).toEqual([zero, zero, zero]);
    expect(stepsOf(observed(known, [node("one")], [], adopting))).toEqual([
      `adopt-revision ${one.metadata.name}`,
      "adopt pod-one",
    ]);
    expect(plan(observed(known, [node("one")], [], adopting), now).status).toEqual(counted);
    expect(stepsOf(observed(set({}, { deletionTimestamp: at(1) }), [node("one")], []))).toEqual([]);
    const foreign = { ...one, metadata: { ...one.metadata, labels: {} } };
    expect(stepsOf(observed(set(), [], [], { revisions: [one, foreign] }))).toEqual([]);
  });

  test("names a revision after the template and what collided with it, and counts on from the latest", () => {
    const created = (object: DaemonSet, more: Partial<Observed> = {}) => {
      const [step] = plan(observed(object, [], [], more), now).steps;
      return step?.type === "create-revision" ? step.revision : undefined;
    };
    const first = created(set(), { revisions: [] });
    expect(first?.revision).toBe(1);
    expect(created({ ...set(), status: { ...counted, collisionCount: 1 } }, { revisions: [] })?.metadata.name).not.toBe(
      first?.metadata.name,
    );
    expect(created(set({ template: template("web:3") }), { revisions: [two, one] })?.revision).toBe(3);
    const [again] = plan(observed(set(), [], [], { revisions: [two, one] }), now).steps;
    expect(again).toMatchObject({ type: "renumber-revision", target: { name: one.metadata.name }, revision: 3 });
  });

  test("keeps ten old revisions where no limit is given, and those that pods have whatever the limit", () => {
    const many = Array.from({ length: 12 }, (_, i) => revision(`old:${i}`, i + 1));
    const current = revision("web:2", 13);
    const object = set({ template: template("web:2") });
    expect(stepsOf(observed(object, [], [], { revisions: [...many, current].toReversed() }))).toEqual(
      many.slice(0, 2).map(({ metadata }) => `delete-revision ${metadata.name}`),
    );
    const onDelete = {
      template: template("web:2"),
      revisionHistoryLimit: 0,
      updateStrategy: { type: "OnDelete" as const },
    };
    const used = [on("one", { revision: one })];
    expect(stepsOf(observed(set(onDelete), [node("one")], used, { revisions: [one, two] }))).toEqual([]);
  });

  test("waits by name for the first of what is to come: a pod that is available, or one that may be deleted", () => {
    const object = set({ minReadySeconds: 60 });
    const failedPod = on("two", { phase: "Failed" });
    const failureHolds = new Map([["two", now + 30_000]]);
    const waits = (ready: number, pods: Pod[]) =>
      plan(observed(object, [node("one"), node("two")], [on("one", { ready }), ...pods], { failureHolds }), now).wait;
    expect(waits(10, [failedPod])).toEqual({ for: "pods to be available", until: now + 30_000 });
    expect(waits(40, [failedPod])?.until).toBe(now + 20_000);
    expect(waits(10, [on("two", { ready: 100 })])?.until).toBe(now + 50_000);
    expect(waits(100, [on("two", { ready: 100 })])).toBeUndefined();
  });
});
