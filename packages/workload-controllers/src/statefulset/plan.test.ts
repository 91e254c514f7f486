import { describe, expect, test } from "vitest";
import type { ControllerRevision, Pod, StatefulSet } from "@causeway/kubernetes";
import type { PersistentVolumeClaim } from "../objects/storage.ts";
import { at, controlledBy, now, pod, template, type PodFacts } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { identityLabels, revisionLabel } from "./identity.ts";
import { plan } from "./plan.ts";
import { revisionsOf } from "./versions.ts";

const set = (spec: Partial<StatefulSet["spec"]> = {}, fields: Partial<StatefulSet> = {}): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", namespace: "default", uid: "set", generation: 2, ...fields.metadata },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" } },
    template: template(),
    serviceName: "db",
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    ...spec,
  },
  ...(fields.status ? { status: fields.status } : {}),
});
/** The revision that a set's controller makes for a template. */
function revision(image: string, number: number): ControllerRevision {
  const made = revisionsOf(set({ template: template(image) }), []);
  if (!("step" in made) || made.step.type !== "create-revision") throw new Error("no revision");
  const { metadata } = made.step.revision;
  return { ...made.step.revision, revision: number, metadata: { ...metadata, uid: metadata.name } };
}
const one = revision("web:1", 1);
const two = revision("web:2", 2);
const owned = (ordinal: number, facts: PodFacts & { revision?: ControllerRevision } = {}): Pod => {
  const labels = {
    app: "web",
    ...identityLabels(set(), ordinal),
    [revisionLabel]: (facts.revision ?? one).metadata.name,
  };
  return pod(`db-${ordinal}`, { owner: set(), labels, ...facts });
};
const observed = (object: StatefulSet, pods: readonly Pod[], more: Partial<Observed> = {}): Observed => ({
  set: object,
  pods,
  orphans: [],
  revisions: [one],
  orphanRevisions: [],
  claims: new Map(),
  ...more,
});
/** Each step as "type name". */
const stepsOf = (seen: Observed) =>
  plan(seen, now).steps.map((step) => {
    if (step.type === "create-pod") return `create ${step.pod.metadata.name}`;
    if (step.type === "create-claim") return `claim ${step.claim.metadata.name}`;
    if (step.type === "create-revision") return `revision ${step.revision.revision}`;
    return `${step.type} ${step.target.name}`;
  });
const waits = { phase: "Pending", ready: undefined } as const;
const parallel = { podManagementPolicy: "Parallel" } as const;
const withClaims = {
  volumeClaimTemplates: [{ metadata: { name: "www" }, spec: { accessModes: ["ReadWriteOnce"] } }],
};
const pvc = (ordinal: number, metadata: Partial<PersistentVolumeClaim["metadata"]> = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: `www-db-${ordinal}`, namespace: "default", uid: `pvc-${ordinal}`, ...metadata },
  spec: {},
});
const claims = (...all: PersistentVolumeClaim[]) => ({
  claims: new Map(all.map((each) => [each.metadata.name, each] as const)),
});

describe("the pods of a StatefulSet", () => {
  const rows: [string, StatefulSet, Pod[], string[]][] = [
    ["in order: the first one is created first", set(), [], ["create db-0"]],
    ["in order: the next one is created when the first is ready", set(), [owned(0)], ["create db-1"]],
    ["in order: waits for a pod that is not ready", set(), [owned(0, waits)], []],
    ["in order: waits for a pod that is being deleted", set(), [owned(0, { deleted: true })], []],
    ["in order: waits for minReadySeconds", set({ minReadySeconds: 101 }), [owned(0)], []],
    ["in order: continues after minReadySeconds", set({ minReadySeconds: 100 }), [owned(0)], ["create db-1"]],
    ["in order: fills a gap", set(), [owned(0), owned(2)], ["create db-1"]],
    ["in parallel: all are created at once", set(parallel), [], ["create db-0", "create db-1", "create db-2"]],
    ["in parallel: waits for none", set(parallel), [owned(0, waits), owned(1, { deleted: true })], ["create db-2"]],
    ["starts at the first ordinal", set({ ordinals: { start: 5 } }), [owned(5)], ["create db-6"]],
    ["a failed pod is deleted", set({ replicas: 1 }), [owned(0, { phase: "Failed" })], ["delete-pod db-0"]],
    ["a pod that ended is deleted", set({ replicas: 1 }), [owned(0, { phase: "Succeeded" })], ["delete-pod db-0"]],
    [
      "a failed pod that is being deleted is waited for",
      set({ replicas: 1 }),
      [owned(0, { phase: "Failed", deleted: true })],
      [],
    ],
    [
      "scaled down: the highest ordinal goes",
      set({ replicas: 1 }),
      [owned(0), owned(1), owned(2)],
      ["delete-pod db-2"],
    ],
    [
      "scaled down in order: one at a time",
      set({ replicas: 1 }),
      [owned(0), owned(1), owned(2, { deleted: true })],
      [],
    ],
    [
      "scaled down in order: waits for an unhealthy predecessor",
      set({ replicas: 1 }),
      [owned(0), owned(1, waits), owned(2)],
      ["delete-pod db-2"],
    ],
    [
      "scaled down in order: an unhealthy pod that is not the first one waits",
      set({ replicas: 1 }),
      [owned(0), owned(1, waits), owned(2, waits)],
      [],
    ],
    [
      "scaled down in order: nothing goes while a pod that remains is not ready",
      set({ replicas: 1 }),
      [owned(0, waits), owned(1)],
      [],
    ],
    [
      "scaled down in parallel: all go at once",
      set({ ...parallel, replicas: 1 }),
      [owned(0, waits), owned(1, waits), owned(2)],
      ["delete-pod db-2", "delete-pod db-1"],
    ],
    ["scaled to 0", set({ replicas: 0 }), [owned(0)], ["delete-pod db-0"]],
    [
      "a set that is being deleted does nothing",
      set({}, { metadata: { name: "db", namespace: "default", uid: "set", deletionTimestamp: at(1) } }),
      [owned(0, { phase: "Failed" })],
      [],
    ],
  ];
  test.each(rows)("%s", (_title, object, pods, expected) => {
    expect(stepsOf(observed(object, pods))).toEqual(expected);
  });

  test("has its name, labels, host name, subdomain and claims", () => {
    const object = set({
      ...withClaims,
      template: {
        ...template(),
        spec: { ...template().spec, volumes: [{ name: "www", emptyDir: {} }, { name: "tmp" }] },
      },
    });
    const made = revisionsOf(object, []);
    if (!("step" in made) || made.step.type !== "create-revision") throw new Error("no revision");
    const { steps } = plan(observed(object, [], { revisions: [made.step.revision] }), now);
    expect(steps).toMatchObject([
      { type: "create-claim", claim: { metadata: { name: "www-db-0", labels: { app: "web" } } } },
      {
        type: "create-pod",
        pod: {
          metadata: {
            name: "db-0",
            labels: {
              app: "web",
              "statefulset.kubernetes.io/pod-name": "db-0",
              "apps.kubernetes.io/pod-index": "0",
              "controller-revision-hash": made.step.revision.metadata.name,
            },
            ownerReferences: [controlledBy(object)],
          },
          spec: {
            hostname: "db-0",
            subdomain: "db",
            volumes: [
              { name: "www", persistentVolumeClaim: { claimName: "www-db-0", readOnly: false } },
              { name: "tmp" },
            ],
          },
        },
      },
    ]);
  });

  test("are created with few claims at a time, however many a set of thousands of pods has for each", () => {
    const volumeClaimTemplates = Array.from({ length: 300 }, (_, i) => ({ metadata: { name: `v-${i}` }, spec: {} }));
    const object = set({ ...parallel, replicas: 2_000_000_000, volumeClaimTemplates } as Partial<StatefulSet["spec"]>);
    const steps = stepsOf(observed(object, []));
    expect(steps.length).toBe(4 * 301);
    expect(steps.filter((step) => step.startsWith("create "))).toEqual(
      [0, 1, 2, 3].map((ordinal) => `create db-${ordinal}`),
    );
  });

  test("are adopted by name and labels, and released when their labels change", () => {
    const orphans = [pod("db-0"), pod("db-1", { labels: { app: "other" } }), pod("extra"), pod("db-x-2")];
    expect(stepsOf(observed(set(), [], { orphans }))).toEqual(["adopt db-0"]);
    expect(stepsOf(observed(set(), [owned(0, { labels: { app: "debug" } })]))).toEqual(["release db-0"]);
  });

  test("get back the labels of their ordinal", () => {
    const stripped = owned(0, { labels: { app: "web", [revisionLabel]: one.metadata.name } });
    expect(stepsOf(observed(set({ replicas: 1 }), [stripped]))).toEqual(["label-pod db-0"]);
  });
});

describe("the update of a StatefulSet", () => {
  const next = (spec: Partial<StatefulSet["spec"]> = {}) =>
    set({ template: template("web:2"), ...spec }, { status: { replicas: 3, currentRevision: one.metadata.name } });
  const rolling = (rollingUpdate: object) => next({ updateStrategy: { type: "RollingUpdate", rollingUpdate } });
  const old = [owned(0), owned(1), owned(2)];
  const updated = (ordinal: number, facts: PodFacts = {}) => owned(ordinal, { ...facts, revision: two });
  const rows: [string, StatefulSet, Pod[], string[]][] = [
    ["the highest ordinal goes first", next(), old, ["delete-pod db-2"]],
    ["an updated pod that is not ready is waited for", next(), [owned(0), owned(1), updated(2, waits)], []],
    ["the next one follows", next(), [owned(0), owned(1), updated(2)], ["delete-pod db-1"]],
    ["an old pod that is not ready blocks it in order", next(), [owned(0), owned(1, waits), owned(2)], []],
    [
      "an old pod that is not ready is replaced in parallel",
      next(parallel),
      [owned(0), owned(1, waits), updated(2)],
      ["delete-pod db-1"],
    ],
    ["ordinals below the partition remain", rolling({ partition: 2 }), [owned(0), owned(1), updated(2)], []],
    [
      "a missing pod below the partition gets the current revision",
      rolling({ partition: 2 }),
      [owned(0)],
      ["create db-1"],
    ],
    ["OnDelete deletes none", next({ updateStrategy: { type: "OnDelete" } }), old, []],
    ["maxUnavailable: as many at once", rolling({ maxUnavailable: 2 }), old, ["delete-pod db-2", "delete-pod db-1"]],
    [
      "maxUnavailable: pods that are not available count",
      rolling({ maxUnavailable: 2 }),
      [owned(0), owned(1), updated(2, { deleted: true })],
      [],
    ],
    ["maxUnavailable: a percentage is rounded up", rolling({ maxUnavailable: "10%" }), old, ["delete-pod db-2"]],
  ];
  test.each(rows)("%s", (_title, object, pods, expected) => {
    expect(stepsOf(observed(object, pods, { revisions: [one, two] }))).toEqual(expected);
  });

  test("a missing pod is created from the revision that its ordinal has", () => {
    const seen = observed(rolling({ partition: 2 }), [owned(0)], { revisions: [one, two] });
    expect(plan(seen, now).steps).toMatchObject([
      {
        pod: {
          spec: { containers: [{ image: "web:1" }] },
          metadata: { labels: { [revisionLabel]: one.metadata.name } },
        },
      },
    ]);
    const above = observed(rolling({ partition: 1 }), [owned(0)], { revisions: [one, two] });
    expect(plan(above, now).steps).toMatchObject([{ pod: { spec: { containers: [{ image: "web:2" }] } } }]);
  });
});

describe("the history of a StatefulSet", () => {
  test("begins with a revision of the template, as kubectl reads it", () => {
    const { steps } = plan(observed(set(), [], { revisions: [] }), now);
    expect(steps).toMatchObject([{ revision: { revision: 1, metadata: { ownerReferences: [controlledBy(set())] } } }]);
    expect(JSON.stringify(one.data)).toBe(
      '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"image":"web:1","name":"web"}]}}}}',
    );
  });

  const rows: [string, StatefulSet, Partial<Observed>, string[]][] = [
    [
      "another template is the next revision",
      set({ template: template("web:3") }),
      { revisions: [one, two] },
      ["revision 3"],
    ],
    [
      "an old template becomes the latest again",
      set(),
      { revisions: [one, two] },
      [`renumber-revision ${one.metadata.name}`],
    ],
    [
      "revisions without an owner are adopted",
      set(),
      { revisions: [], orphanRevisions: [{ ...one, metadata: { ...one.metadata, ownerReferences: [] } }] },
      [`adopt-revision ${one.metadata.name}`],
    ],
    [
      "the oldest beyond the limit are deleted",
      set({ template: template("web:2"), replicas: 0, revisionHistoryLimit: 0 }),
      { revisions: [one, two] },
      [`delete-revision ${one.metadata.name}`],
    ],
    [
      "those of pods are kept",
      set({ template: template("web:2"), replicas: 1, revisionHistoryLimit: 0, updateStrategy: { type: "OnDelete" } }),
      { revisions: [one, two], pods: [owned(0)] },
      [],
    ],
  ];
  test.each(rows)("%s", (_title, object, more, expected) => {
    expect(stepsOf(observed(object, [], more))).toEqual(expected);
  });
});

describe("the claims of a StatefulSet", () => {
  const retains = (whenDeleted: "Retain" | "Delete", whenScaled: "Retain" | "Delete", replicas = 1) =>
    set({ ...withClaims, replicas, persistentVolumeClaimRetentionPolicy: { whenDeleted, whenScaled } });
  const bySet = { ownerReferences: [controlledBy(set())] };
  const byPod = { ownerReferences: [controlledBy(owned(0))] };
  const rows: [string, StatefulSet, Pod[], PersistentVolumeClaim[], string[]][] = [
    [
      "the claim of a pending pod is created again",
      retains("Retain", "Retain"),
      [owned(0, waits)],
      [],
      ["claim www-db-0"],
    ],
    [
      "whenDeleted Delete: the set owns the claim",
      retains("Delete", "Retain"),
      [owned(0)],
      [pvc(0)],
      ["own-claim www-db-0"],
    ],
    ["whenDeleted Delete: it does already", retains("Delete", "Retain"), [owned(0)], [pvc(0, bySet)], []],
    [
      "Retain: the set owns it no longer",
      retains("Retain", "Retain"),
      [owned(0)],
      [pvc(0, bySet)],
      ["own-claim www-db-0"],
    ],
    ["whenScaled Delete: a pod that remains does not own it", retains("Retain", "Delete"), [owned(0)], [pvc(0)], []],
    [
      "whenScaled Delete: a pod that goes owns it before it goes",
      retains("Retain", "Delete", 0),
      [owned(0)],
      [pvc(0)],
      ["own-claim www-db-0"],
    ],
    [
      "whenScaled Delete: then the pod goes",
      retains("Retain", "Delete", 0),
      [owned(0)],
      [pvc(0, byPod)],
      ["delete-pod db-0"],
    ],
    [
      "a claim that is being deleted is waited for",
      retains("Retain", "Retain"),
      [],
      [pvc(0, { deletionTimestamp: at(1) })],
      [],
    ],
    ["a claim of the pod before is waited for", retains("Retain", "Delete"), [], [pvc(0, byPod)], []],
  ];
  test.each(rows)("%s", (_title, object, pods, found, expected) => {
    const claimed = object.spec.template;
    const made = revisionsOf(set({ template: claimed }), []);
    if (!("step" in made) || made.step.type !== "create-revision") throw new Error("no revision");
    expect(stepsOf(observed(object, pods, claims(...found)))).toEqual(expected);
  });

  test("a claim that is being deleted is reported", () => {
    const seen = observed(retains("Retain", "Retain"), [], claims(pvc(0, { deletionTimestamp: at(1) })));
    expect(plan(seen, now).events).toEqual([
      {
        type: "Warning",
        reason: "FailedCreate",
        message: "create Pod db-0 in StatefulSet db failed error: pvc www-db-0 is being deleted",
      },
    ]);
  });
});

describe("the status of a StatefulSet", () => {
  test("counts pods by readiness and revision", () => {
    const object = set(
      { template: template("web:2"), minReadySeconds: 60 },
      { status: { replicas: 0, currentRevision: one.metadata.name, collisionCount: 1 } },
    );
    const pods = [owned(0), owned(1, { ready: 10 }), owned(2, { revision: two, ...waits })];
    const { status, wait } = plan(observed(object, pods, { revisions: [one, two] }), now);
    expect(status).toEqual({
      observedGeneration: 2,
      replicas: 3,
      readyReplicas: 2,
      availableReplicas: 1,
      currentReplicas: 2,
      updatedReplicas: 1,
      currentRevision: one.metadata.name,
      updateRevision: two.metadata.name,
      collisionCount: 1,
    });
    expect(wait?.until).toBe(now + 50_000);
  });

  test("has the new revision as the current one once all pods have it and are ready", () => {
    const object = set(
      { template: template("web:2"), replicas: 1 },
      { status: { replicas: 1, currentRevision: one.metadata.name } },
    );
    const { status } = plan(observed(object, [owned(0, { revision: two })], { revisions: [one, two] }), now);
    expect(status).toMatchObject({ currentRevision: two.metadata.name, currentReplicas: 1, updatedReplicas: 1 });
  });
});
