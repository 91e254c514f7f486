import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pod, ReplicaSet } from "@causeway/kubernetes";
import { at, now, pod, template, type PodFacts } from "../testing/objects.ts";
import { podsToDelete } from "./deletion-order.ts";
import type { Observed } from "./gather.ts";
import { failedStatus, plan } from "./plan.ts";
import { replicaSets, replicationControllers } from "./variant.ts";

const set = (replicas: number, fields: Partial<ReplicaSet["spec"]> = {}, metadata = {}): ReplicaSet => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "web", namespace: "default", uid: "set", generation: 3, ...metadata },
  spec: { replicas, selector: { matchLabels: { app: "web" } }, template: template(), ...fields },
});
const owned = (name: string, facts: PodFacts = {}): Pod => pod(name, { owner: set(0), ...facts });
const observed = (object: ReplicaSet, pods: readonly Pod[], orphans: readonly Pod[] = []): Observed => ({
  owner: replicaSets.ownerOf(object),
  pods,
  orphans,
  related: pods,
});
const other: ReplicaSet = { ...set(1), metadata: { name: "other", namespace: "default", uid: "other" } };

describe("a ReplicaSet", () => {
  test("creates the pods that are missing, with a generated name and its reference", () => {
    const { steps } = plan(observed(set(3), [owned("a")]), now);
    expect(steps).toMatchObject([
      {
        type: "create-pods",
        count: 2,
        pod: {
          metadata: {
            generateName: "web-",
            namespace: "default",
            labels: { app: "web" },
            ownerReferences: [
              { kind: "ReplicaSet", name: "web", uid: "set", controller: true, blockOwnerDeletion: true },
            ],
          },
        },
      },
    ]);
  });

  test("creates 500 pods at most in one round", () => {
    expect(plan(observed(set(2_000), []), now).steps).toMatchObject([{ type: "create-pods", count: 500 }]);
  });

  test("creates a large number of pods in steps that differ, so that none is held back as a repeated one", () => {
    const [first] = plan(observed(set(2_000), []), now).steps;
    const [next] = plan(observed(set(2_000), [owned("a"), owned("b")]), now).steps;
    expect(next).toMatchObject({ type: "create-pods", count: 500 });
    expect(next).not.toEqual(first);
  });

  test("counts neither terminal pods nor those that are being deleted", () => {
    const pods = [owned("a", { phase: "Failed" }), owned("b", { phase: "Succeeded" }), owned("c", { deleted: true })];
    const { steps, status } = plan(observed(set(1), pods), now);
    expect(steps).toMatchObject([{ type: "create-pods", count: 1 }]);
    expect(status).toEqual({ replicas: 0, observedGeneration: 3 });
  });

  test("adopts pods without a controller that its selector fits, and no others", () => {
    const orphans = [
      pod("mine"),
      pod("foreign", { labels: { app: "other" } }),
      pod("leaving", { deleted: true }),
      pod("done", { phase: "Failed" }),
    ];
    expect(plan(observed(set(1), [], orphans), now).steps).toEqual([
      { type: "adopt", target: { namespace: "default", name: "mine", uid: "uid-mine" } },
    ]);
  });

  test("releases a pod whose labels no longer match", () => {
    const { steps, status } = plan(observed(set(1), [owned("a", { labels: { app: "debug" } })]), now);
    expect(steps).toEqual([{ type: "release", target: { namespace: "default", name: "a", uid: "uid-a" } }]);
    expect(status.replicas).toBe(0);
  });

  test("neither adopts, releases, creates nor deletes while it is being deleted", () => {
    const leaving = set(3, {}, { deletionTimestamp: at(1) });
    const pods = [owned("a"), owned("b", { labels: {} })];
    expect(plan(observed(leaving, pods, [pod("c")]), now)).toMatchObject({ steps: [], status: { replicas: 1 } });
  });

  test("leaves pods of another controller alone", () => {
    expect(plan(observed(set(0), [pod("a", { owner: other })]), now).steps).toEqual([]);
  });

  test("reports labelled, ready and available pods", () => {
    const object = set(3, {
      minReadySeconds: 60,
      template: template("web:1", { labels: { app: "web", tier: "front" } }),
    });
    const pods = [
      owned("a", { labels: { app: "web", tier: "front" } }),
      owned("b", { ready: 10 }),
      owned("c", { ready: undefined }),
    ];
    const { status, wait } = plan(observed(object, pods), now);
    expect(status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 1,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 3,
    });
    expect(wait?.until).toBe(now + 50_000);
  });

  test("removes ReplicaFailure when nothing fails, and keeps the conditions of others", () => {
    const object = {
      ...set(0),
      status: {
        replicas: 0,
        conditions: [
          { type: "ReplicaFailure", status: "True" as const },
          { type: "Other", status: "True" as const },
        ],
      },
    };
    expect(plan(observed(object, []), now).status.conditions).toEqual([{ type: "Other", status: "True" }]);
  });

  test("reports a refused create as ReplicaFailure", () => {
    const seen = observed(set(1), []);
    const { steps, status } = plan(seen, now);
    const [step] = steps;
    if (!step) throw new Error("no step");
    expect(failedStatus(seen, status, { step, message: "exceeded quota", now }).conditions).toEqual([
      {
        type: "ReplicaFailure",
        status: "True",
        reason: "FailedCreate",
        message: "exceeded quota",
        lastTransitionTime: "2026-01-01T12:00:00Z",
      },
    ]);
  });

  test("reports a refused deletion, keeps the first failure, and reports none of other steps", () => {
    const object = set(0);
    const seen = observed(object, [owned("a")]);
    const failure = (step: Parameters<typeof failedStatus>[2]["step"], given = seen) =>
      failedStatus(given, { replicas: 1 }, { step, message: "forbidden", now }).conditions;
    const remove = { type: "delete-pods", targets: [] } as const;
    expect(failure(remove)).toMatchObject([{ type: "ReplicaFailure", status: "True", reason: "FailedDelete" }]);
    expect(failure({ type: "adopt", target: { namespace: "default", name: "a", uid: "a" } })).toBeUndefined();
    const standing = { type: "ReplicaFailure", status: "True" as const, reason: "FailedCreate", message: "quota" };
    const before = observed({ ...object, status: { replicas: 1, conditions: [standing] } }, [owned("a")]);
    expect(failure(remove, before)).toEqual([standing]);
    const other = { type: "Other", status: "True" as const };
    const { conditions } = failedStatus(seen, { replicas: 1, conditions: [other] }, { step: remove, message: "", now });
    expect(conditions?.map(({ type }) => type)).toEqual(["Other", "ReplicaFailure"]);
  });

  test("deletes 500 pods at most in one round, and has nothing to do with as many as it wants", () => {
    const [step] = plan(
      observed(
        set(0),
        Array.from({ length: 501 }, (_, i) => owned(`p${i}`)),
      ),
      now,
    ).steps;
    expect(step?.type === "delete-pods" && step.targets).toHaveLength(500);
    expect(plan(observed(set(1), [owned("a")]), now)).toMatchObject({ steps: [], status: { replicas: 1 } });
  });

  test("waits by name for pods to be available, and writes no generation that it does not have", () => {
    const { generation: _, ...metadata } = set(1).metadata;
    const object = { ...set(1, { minReadySeconds: 60 }), metadata };
    const found = plan(observed(object, [owned("a", { ready: 10 })]), now);
    expect(found.wait).toEqual({ for: "pods to be ready for minReadySeconds", until: now + 50_000 });
    expect(found.status).not.toHaveProperty("observedGeneration");
    expect(found.status).not.toHaveProperty("conditions");
  });

  test("without a template creates nothing, and counts every pod as fully labelled", () => {
    const seen = observed(set(2), [owned("a")]);
    const bare = { ...seen, owner: { ...seen.owner, template: undefined } };
    expect(plan(bare, now)).toMatchObject({ steps: [], status: { fullyLabeledReplicas: 1 } });
  });
});

describe("a ReplicationController", () => {
  test("keeps its pods by the same rules, with a selector of labels", () => {
    const owner = replicationControllers.ownerOf({
      apiVersion: "v1",
      kind: "ReplicationController",
      metadata: { name: "web", namespace: "default", uid: "set" },
      spec: { replicas: 2, selector: { app: "web" }, template: template() },
    });
    const { steps } = plan({ owner, pods: [owned("a")], orphans: [], related: [] }, now);
    expect(steps).toMatchObject([
      { type: "create-pods", count: 1, pod: { metadata: { ownerReferences: [{ kind: "ReplicationController" }] } } },
    ]);
  });
});

describe("the order in which a ReplicaSet deletes pods:", () => {
  const cost = (value: string) => ({ annotations: { "controller.kubernetes.io/pod-deletion-cost": value } });
  const rows: [string, PodFacts, PodFacts][] = [
    ["an unassigned pod before an assigned one", { node: "", phase: "Running" }, { phase: "Pending" }],
    ["a pending pod before a running one", { phase: "Pending" }, { ready: undefined }],
    ["a pod that is not ready before a ready one", { ready: undefined, ...cost("100") }, cost("-100")],
    ["the lower deletion cost first", cost("-5"), cost("3")],
    ["an invalid deletion cost counts as 0", cost("+7"), cost("1")],
    ["the pod that became ready later first", { ready: 5 }, { ready: 5_000, restarts: 9 }],
    ["the pod with more restarts first", { ready: undefined, restarts: 3 }, { ready: undefined, restarts: 2 }],
    ["the younger pod first", { ready: undefined, age: 2 }, { ready: undefined, age: 2_000 }],
  ];
  test.each(rows)("%s", (_title, first, second) => {
    const pods = [owned("b", second), owned("a", first)];
    expect(podsToDelete(pods, { count: 1, related: [], now }).map(({ metadata }) => metadata.name)).toEqual(["a"]);
  });

  test("the pod on the node with more pods of the same Deployment comes first", () => {
    const pods = [owned("a", { node: "one" }), owned("b", { node: "two", ready: 1 })];
    const related = [...pods, pod("c", { node: "one", owner: other })];
    expect(podsToDelete(pods, { count: 1, related, now })[0]?.metadata.name).toBe("a");
  });
});

describe("any number of pods", () => {
  const facts = fc.record({
    phase: fc.constantFrom("Pending", "Running", "Failed", "Succeeded"),
    deleted: fc.boolean(),
    node: fc.constantFrom("", "one", "two"),
    restarts: fc.nat(3),
    age: fc.nat(10_000),
  }) as fc.Arbitrary<PodFacts>;
  test("ends at the wanted replicas, and deletes only active pods, each once", () => {
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 12 }), fc.nat(12), (all, replicas) => {
        const pods = all.map((each, i) => owned(`p${i}`, each));
        const { steps, status } = plan(observed(set(replicas), pods), now);
        const [step] = steps;
        const change =
          step?.type === "create-pods" ? step.count : step?.type === "delete-pods" ? -step.targets.length : 0;
        expect(status.replicas + change).toBe(replicas);
        if (step?.type !== "delete-pods") return;
        const names = step.targets.map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        for (const name of names) {
          const found = pods.find(({ metadata }) => metadata.name === name);
          expect(found?.metadata.deletionTimestamp).toBeUndefined();
          expect(["Pending", "Running"]).toContain(found?.status?.phase);
        }
      }),
    );
  });
});
