import { describe, expect, test } from "vitest";
import type { Deployment, ReplicaSet } from "@causeway/kubernetes";
import { templateHash } from "../objects/pod-template.ts";
import { at, controlledBy, now, pod, template } from "../testing/objects.ts";
import { newSetAnnotations } from "./annotations.ts";
import { plan } from "./plan.ts";
import { maxSurge, maxUnavailable } from "./replicas.ts";

const deployment = (spec: Partial<Deployment["spec"]> = {}, fields: Partial<Deployment> = {}): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default", uid: "web", generation: 1, annotations: { note: "a" } },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: "web" } },
    template: template("web:2"),
    progressDeadlineSeconds: 60,
    revisionHistoryLimit: 1,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    ...spec,
  },
  ...fields,
});
const set = (
  name: string,
  image: string,
  facts: { size?: number; revision?: number | bigint; age?: number } = {},
): ReplicaSet => {
  const { size = 0, revision = 1, age = 100 } = facts;
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name,
      namespace: "default",
      uid: name,
      labels: { app: "web" },
      creationTimestamp: at(age),
      resourceVersion: "7",
      ownerReferences: [controlledBy(deployment())],
      annotations: {
        note: "a",
        "deployment.kubernetes.io/revision": String(revision),
        "deployment.kubernetes.io/desired-replicas": "2",
        "deployment.kubernetes.io/max-replicas": "3",
      },
    },
    spec: {
      replicas: size,
      selector: { matchLabels: { app: "web", "pod-template-hash": "x" } },
      template: template(image, { labels: { app: "web", "pod-template-hash": "x" } }),
    },
    status: { replicas: size, readyReplicas: size, availableReplicas: size },
  };
};
const planned = (object: Deployment, sets: readonly ReplicaSet[], pods = new Map()) =>
  plan({ deployment: object, sets, orphans: [], pods }, now);

describe("a Deployment", () => {
  test("shrinks a ReplicaSet before another one grows, since growth is refused where no room is left", () => {
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: "60%" } } as const;
    const object = deployment({ replicas: 12, strategy });
    // Scaled from 20 in the middle of a rollout: one takes a share of more, and the rest is removed from the other.
    const sets = [set("a", "web:0", { size: 4 }), set("b", "web:1", { size: 4 }), set("c", "web:2", { revision: 2 })];
    const marked = sets.map((one) => {
      const annotations = {
        ...one.metadata.annotations,
        "deployment.kubernetes.io/desired-replicas": "20",
        "deployment.kubernetes.io/max-replicas": "20",
      };
      return { ...one, metadata: { ...one.metadata, annotations } };
    });
    const scales = planned(object, marked).steps.flatMap((step) =>
      step.type === "change-replica-set" && step.scale ? [Math.sign(step.scale.to - step.scale.from)] : [],
    );
    expect(scales).toContain(1);
    expect(scales).toContain(-1);
    expect(scales).toEqual(scales.toSorted((a, b) => a - b));
  });

  test("creates a ReplicaSet named by the hash of its template, which its labels and selector have", () => {
    const { steps } = planned(deployment(), []);
    const hash = templateHash(template("web:2"), undefined);
    expect(steps).toMatchObject([
      {
        type: "create-replica-set",
        set: {
          metadata: {
            name: `web-${hash}`,
            labels: { app: "web", "pod-template-hash": hash },
            annotations: {
              note: "a",
              "deployment.kubernetes.io/revision": "1",
              "deployment.kubernetes.io/desired-replicas": "2",
              "deployment.kubernetes.io/max-replicas": "3",
            },
          },
          spec: { replicas: 2, selector: { matchLabels: { app: "web", "pod-template-hash": hash } } },
        },
      },
    ]);
  });

  test("names it otherwise after a collision of hashes", () => {
    const [step] = planned(deployment({}, { status: { collisionCount: 1 } }), []).steps;
    expect(step?.type === "create-replica-set" && step.set.metadata.name).toBe(
      `web-${templateHash(template("web:2"), 1)}`,
    );
    expect(templateHash(template("web:2"), 1)).not.toBe(templateHash(template("web:2"), undefined));
  });

  test("finds the ReplicaSet of its template whatever its hash, the oldest of several", () => {
    const sets = [set("young", "web:2", { size: 2, age: 5 }), set("old", "web:2", { size: 0, revision: 2, age: 50 })];
    const [step] = planned(deployment(), sets).steps;
    expect(step).toMatchObject({ type: "change-replica-set", target: { name: "old" }, scale: { from: 0, to: 1 } });
  });

  test("scales up the new ReplicaSet first, by maxSurge", () => {
    const sets = [set("a", "web:1", { size: 2 }), set("b", "web:2", { revision: 2, age: 5 })];
    expect(planned(deployment(), sets).steps).toMatchObject([
      { target: { name: "b" }, scale: { from: 0, to: 1 }, resourceVersion: "7" },
    ]);
  });

  test("counts on from a revision of 64 bits", () => {
    const sets = [set("a", "web:1", { size: 2, revision: 3546343826724305832n })];
    const [step] = planned(deployment(), sets).steps;
    expect(step?.type === "create-replica-set" && step.set.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "3546343826724305833",
    });
    const next = set("b", "web:2", { revision: 1n, age: 5 });
    expect(planned(deployment(), [...sets, next]).steps[0]).toMatchObject({
      target: { name: "b" },
      annotations: { "deployment.kubernetes.io/revision": "3546343826724305833" },
    });
  });

  test("Recreate empties the old ReplicaSets, and creates no new one while their pods run", () => {
    const object = deployment({ strategy: { type: "Recreate" } });
    expect(planned(object, [set("a", "web:1", { size: 2 })]).steps).toMatchObject([
      { target: { name: "a" }, scale: { to: 0 } },
    ]);
    const empty = [set("a", "web:1")];
    expect(planned(object, empty, new Map([["a", [pod("p", { deleted: true })]]])).steps).toEqual([]);
    expect(planned(object, empty, new Map([["a", [pod("p", { phase: "Failed" })]]])).steps).toMatchObject([
      { type: "create-replica-set", set: { spec: { replicas: 2 } } },
    ]);
  });

  test("creates no ReplicaSet while it is paused, and says so", () => {
    const { steps, status } = planned(deployment({ paused: true }), []);
    expect(steps).toEqual([]);
    expect(status.status.conditions?.[0]).toMatchObject({
      type: "Progressing",
      status: "Unknown",
      reason: "DeploymentPaused",
    });
  });

  test("deletes empty old ReplicaSets beyond revisionHistoryLimit once it is complete, the oldest revisions first", () => {
    const sets = [
      set("one", "web:0", { revision: 1 }),
      set("two", "web:1", { revision: 2 }),
      set("new", "web:2", { revision: 3, size: 2 }),
    ];
    const status = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
    expect(planned(deployment({}, { status }), sets).steps).toEqual([
      { type: "delete-replica-set", target: { namespace: "default", name: "one", uid: "one" } },
    ]);
  });

  test("exceeds its progress deadline when nothing moves, and is reconciled again when it would", () => {
    const stuck = (seconds: number) => {
      const condition = {
        type: "Progressing",
        status: "True",
        reason: "ReplicaSetUpdated",
        lastUpdateTime: at(seconds),
        lastTransitionTime: at(seconds),
      } as const;
      const status = { replicas: 2, updatedReplicas: 2, conditions: [condition] };
      const metadata = {
        ...deployment().metadata,
        annotations: { note: "a", "deployment.kubernetes.io/revision": "1" },
      };
      const unready = { ...set("new", "web:2", { size: 2 }), status: { replicas: 2 } };
      return planned(deployment({}, { status, metadata }), [unready]);
    };
    expect(stuck(50).wait?.until).toBe(now + 11_000);
    const late = stuck(61);
    expect(late.wait).toBeUndefined();
    expect(late.status.status.conditions).toContainEqual({
      type: "Progressing",
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: 'ReplicaSet "new" has timed out progressing.',
      lastUpdateTime: "2026-01-01T12:00:00Z",
      lastTransitionTime: "2026-01-01T12:00:00Z",
    });
  });

  const typesOf = (object: Deployment, sets: readonly ReplicaSet[]) =>
    planned(object, sets).steps.map((step) =>
      step.type === "create-replica-set" ? step.type : `${step.type} ${step.target.name}`,
    );
  const complete = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
  const next = set("new", "web:2", { revision: 9, size: 2 });

  test("adopts a ReplicaSet that it selects before anything else, and releases one that it does not", () => {
    const { ownerReferences: _, ...metadata } = set("orphan", "web:1", { size: 2 }).metadata;
    const foreign = { ...set("foreign", "web:0"), metadata: { ...set("foreign", "web:0").metadata, labels: {} } };
    const orphan = { ...set("orphan", "web:1", { size: 2 }), metadata };
    const { steps } = plan({ deployment: deployment(), sets: [foreign], orphans: [orphan], pods: new Map() }, now);
    expect(steps).toMatchObject([
      { type: "release", target: { name: "foreign" } },
      { type: "adopt", target: { name: "orphan" } },
    ]);
  });

  test("that is being deleted changes nothing, and its status counts what there is", () => {
    const metadata = { ...deployment().metadata, deletionTimestamp: at(1) };
    const found = planned(deployment({}, { metadata }), [set("a", "web:1", { size: 2 })]);
    expect([found.steps, found.status.status.replicas]).toEqual([[], 2]);
  });

  test("reports the revision of the ReplicaSet of its template, if it has one", () => {
    expect(planned(deployment(), [next]).status.revision).toBe("9");
    expect(planned(deployment(), [set("a", "web:1")]).status).not.toHaveProperty("revision");
  });

  test("gives its ReplicaSet its annotations and minReadySeconds before it scales it", () => {
    const changed = (object: Deployment, fields: Partial<ReplicaSet["spec"]> = {}) =>
      planned(object, [{ ...next, spec: { ...next.spec, replicas: 1, ...fields } }]).steps;
    const noted = { ...deployment().metadata, annotations: { note: "b" } };
    const target = { namespace: "default", name: "new", uid: "new" };
    const change = { type: "change-replica-set", target, resourceVersion: "7" };
    expect(changed(deployment({}, { metadata: noted }))).toEqual([{ ...change, annotations: { note: "b" } }]);
    expect(changed(deployment({ minReadySeconds: 5 }))).toEqual([{ ...change, annotations: {}, minReadySeconds: 5 }]);
    expect(changed(deployment(), { minReadySeconds: 5 })).toEqual([{ ...change, annotations: {}, minReadySeconds: 0 }]);
    expect(changed(deployment({ minReadySeconds: 5 }), { minReadySeconds: 5 })).toMatchObject([{ scale: { to: 2 } }]);
  });

  test.each<[string, number | undefined, ReplicaSet[], string[]]>([
    ["all without a limit", undefined, [set("a", "web:0"), set("b", "web:1")], []],
    ["all with the greatest limit", 2_147_483_647, [set("a", "web:0")], []],
    ["as many as its limit", 1, [set("a", "web:0"), set("b", "web:1")], ["a"]],
    ["none with the limit 0", 0, [set("b", "web:0", { revision: 2 }), set("a", "web:1", { revision: 1 })], ["a", "b"]],
    ["the youngest of one revision", 1, [set("a", "web:0", { age: 5 }), set("b", "web:1", { age: 50 })], ["b"]],
    ["those that still have pods", 0, [{ ...set("a", "web:0"), status: { replicas: 1 } }, set("b", "web:1")], ["b"]],
    [
      "those whose status is late",
      0,
      [
        { ...set("a", "web:0"), metadata: { ...set("a", "web:0").metadata, generation: 2 } },
        {
          ...set("b", "web:1"),
          metadata: { ...set("b", "web:1").metadata, generation: 2 },
          status: { replicas: 0, observedGeneration: 2 },
        },
      ],
      ["b"],
    ],
    [
      "as many as its limit, not counting one that is being deleted",
      1,
      [
        { ...set("a", "web:0"), metadata: { ...set("a", "web:0").metadata, deletionTimestamp: at(1) } },
        set("b", "web:1"),
      ],
      [],
    ],
  ])("once complete keeps of its old ReplicaSets %s", (_what, revisionHistoryLimit, old, deleted) => {
    const { revisionHistoryLimit: _, ...spec } = deployment().spec;
    const limited = { ...spec, ...(revisionHistoryLimit === undefined ? {} : { revisionHistoryLimit }) };
    const object = { ...deployment({}, { status: complete }), spec: limited };
    const steps = deleted.map((name) => `delete-replica-set ${name}`);
    expect(typesOf(object, [...old, next])).toEqual(steps);
    expect(typesOf({ ...object, spec: { ...limited, paused: true } }, [...old, next])).toEqual(steps);
    expect(typesOf({ ...object, status: { ...complete, updatedReplicas: 1 } }, [...old, next])).toEqual([]);
  });

  test("that is paused records the size that it was given", () => {
    const unmarked = {
      ...next,
      metadata: { ...next.metadata, annotations: { note: "a", "deployment.kubernetes.io/revision": "9" } },
    };
    const annotations = {
      "deployment.kubernetes.io/desired-replicas": "2",
      "deployment.kubernetes.io/max-replicas": "3",
    };
    const { steps } = planned(deployment({ paused: true }), [unmarked, set("a", "web:0")]);
    expect(steps).toEqual([
      {
        type: "change-replica-set",
        target: { namespace: "default", name: "new", uid: "new" },
        resourceVersion: "7",
        annotations,
      },
    ]);
    expect(typesOf(deployment(), [unmarked])).toEqual([]);
  });

  test("deletes no old ReplicaSet while it changes the size of another", () => {
    const old = [set("a", "web:0"), set("b", "web:1")];
    const scaled = {
      ...next,
      metadata: {
        ...next.metadata,
        annotations: { ...next.metadata.annotations, "deployment.kubernetes.io/desired-replicas": "1" },
      },
    };
    const grown = { ...scaled, spec: { ...scaled.spec, replicas: 1 } };
    for (const paused of [false, true])
      expect(typesOf(deployment({ paused }, { status: complete }), [...old, grown])).toEqual([
        "change-replica-set new",
      ]);
    const saturated = { ...next, metadata: scaled.metadata };
    expect(typesOf(deployment({}, { status: complete }), [...old, saturated])).toEqual(["change-replica-set new"]);
  });

  test("Recreate gives its ReplicaSet all pods at once, one where it names no number", () => {
    const recreated = (replicas: number | undefined) => {
      const { replicas: _, ...spec } = deployment().spec;
      const sized = {
        ...spec,
        strategy: { type: "Recreate" as const },
        ...(replicas === undefined ? {} : { replicas }),
      };
      return planned({ ...deployment(), spec: sized }, [set("b", "web:2", { revision: 2 })]).steps;
    };
    expect(recreated(5)).toMatchObject([{ scale: { from: 0, to: 5 } }]);
    expect(recreated(undefined)).toMatchObject([{ scale: { from: 0, to: 1 } }]);
  });

  test("creates a ReplicaSet as its template says, with a name of at most 253 characters", () => {
    const name = "w".repeat(253);
    const { metadata, ...rest } = deployment({ minReadySeconds: 5 });
    const [long] = planned({ ...rest, metadata: { ...metadata, name } }, []).steps;
    const made = long?.type === "create-replica-set" ? long.set : undefined;
    expect(made?.metadata.name).toHaveLength(253);
    expect(made?.metadata.name).toMatch(/^w+-[a-z0-9]+$/);
    const hash = made?.metadata.labels?.["pod-template-hash"];
    expect(made?.spec).toEqual({
      replicas: 2,
      minReadySeconds: 5,
      selector: { matchLabels: { app: "web", "pod-template-hash": hash } },
      template: { ...template("web:2"), metadata: { labels: { app: "web", "pod-template-hash": hash } } },
    });
    expect(made).toMatchObject({
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { namespace: "default", ownerReferences: [{ kind: "Deployment", name, controller: true }] },
    });
    const [plain] = planned(deployment(), []).steps;
    expect(plain?.type === "create-replica-set" && plain.set.spec).not.toHaveProperty("minReadySeconds");
  });

  test("waits by name for its progress deadline", () => {
    const condition = { type: "Progressing", status: "True", reason: "ReplicaSetUpdated" } as const;
    const times = { lastUpdateTime: at(50), lastTransitionTime: at(50) };
    const status = { replicas: 2, updatedReplicas: 2, conditions: [{ ...condition, ...times }] };
    const metadata = { ...deployment().metadata, annotations: { note: "a", "deployment.kubernetes.io/revision": "9" } };
    const found = planned(deployment({}, { status, metadata }), [{ ...next, status: { replicas: 2 } }]);
    expect(found.wait).toEqual({ for: "the progress deadline", until: now + 11_000 });
    expect(planned(deployment({}, { status: complete }), [next]).wait).toBeUndefined();
  });
});

test.each([
  [10, "25%", "25%", 3, 2],
  [1, "25%", "25%", 1, 0],
  [3, 0, "10%", 0, 1],
  [2, 0, 5, 0, 2],
  [0, "50%", "50%", 0, 0],
])("of %i replicas, maxSurge %s and maxUnavailable %s are %i and %i", (replicas, surge, unavailable, up, down) => {
  const rollingUpdate = { maxSurge: surge, maxUnavailable: unavailable };
  const object = deployment({ replicas, strategy: { type: "RollingUpdate", rollingUpdate } });
  expect([maxSurge(object), maxUnavailable(object)]).toEqual([up, down]);
});

test("the history of revisions is cut to 2,000 characters", () => {
  const history = Array.from({ length: 500 }, (_, i) => String(1_000 + i)).join(",");
  const held = { "deployment.kubernetes.io/revision": "1500", "deployment.kubernetes.io/revision-history": history };
  const cut = newSetAnnotations(deployment(), held, 1_501n)["deployment.kubernetes.io/revision-history"] ?? "";
  expect(cut.length).toBeLessThanOrEqual(2_000);
  expect(cut.endsWith(",1499,1500")).toBe(true);
});
