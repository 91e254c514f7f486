/** How a move to an own etcd changes API servers, ends, fails and goes back: each rule from a record. */
import { CausewayError } from "@causeway/foundation";
import type { Namespace, Secret } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { MigrationStep, Step } from "../steps.ts";
import type { ControlPlaneSpec } from "../../runtime.ts";
import { plan } from "../plan.ts";
import {
  budgetAnnotation,
  componentLabel,
  datastoreAnnotation,
  idAnnotation,
  initializedAnnotation,
  migratingAnnotation,
  ownerAnnotation,
  prefixOf,
  retainedAnnotation,
} from "../tenant.ts";
import { moved, shared } from "../testing/moves.ts";
import { now } from "../testing/played-cluster.ts";
import {
  done,
  etcdPod,
  from,
  namespaceName,
  noPool,
  observed,
  onlyStep,
  ownPod,
  planned,
  prefix,
  program,
  recordOf,
  sealed,
  sharedPod,
  stepText,
  text,
  unready,
  type World,
} from "../testing/recorded-move.ts";
import { poolOf } from "../testing/spec.ts";
import { heldByOf } from "./api-servers.ts";
import type { MigrationMemory } from "./memory.ts";
import {
  FREEZE_LIMIT,
  migrationFailureAfter,
  planMigration,
  RETENTION,
  thawSteps,
  whileRefused,
  type ServingPlan,
} from "./plan-migration.ts";
import type { MigrationRecord, MigrationStage } from "./record.ts";

describe("a request that is refused while it moves", () => {
  const refused = (stage: MigrationStage | undefined, code = "PODS_DOWNGRADE", more: Partial<World> = {}) =>
    text(
      whileRefused(
        observed({ ...(stage ? { record: recordOf(stage) } : {}), ...more }),
        { code, message: "x".repeat(400), actor: "user" },
        now,
      ),
    );
  test("has it return where writes are refused, and changes nothing otherwise", () => {
    const why = "x".repeat(300);
    expect([refused("Freezing"), refused("Switching")]).toEqual([[`Returning: ${why}`], [`Returning: ${why}`]]);
    for (const stage of [undefined, "Starting", "Copying", "Returning", "Done"] as const)
      expect(refused(stage)).toEqual([]);
    expect(refused("Freezing", "PODS_DOWNGRADE", { datastore: "Own" })).toEqual([]);
  });

  test("has old data deleted at its time, unless the data may be another's or all that is left", () => {
    const record = recordOf("Retained", { switchedAt: now - RETENTION });
    expect(refused("Retained", "PODS_DOWNGRADE", { record })).toEqual(["remove-shared-data"]);
    for (const code of ["PODS_NAMESPACE_FOREIGN", "PODS_NAMESPACE_DELETED", "PODS_DATA_LOST"])
      expect(refused("Retained", code, { record })).toEqual([]);
  });
});

describe("the memory of a step that failed", () => {
  const memory: MigrationMemory = { attempt: 1, copied: true };
  const record = recordOf("Copying", { attempt: 3 });
  const after = (type: MigrationStep["type"], code: string) =>
    migrationFailureAfter(memory, { type, record } as unknown as Step, new CausewayError(code, "m".repeat(400)));
  const ends = { attempt: 3, failure: "m".repeat(300) };
  test.for<[type: MigrationStep["type"], code: string, MigrationMemory | undefined]>([
    ["freeze-datastore", "PODS_MIGRATION_FENCED", undefined],
    ["freeze-datastore", "PODS_MIGRATION_DIFFERS", ends],
    ["freeze-datastore", "ANY", ends],
    ["copy-datastore", "PODS_MIGRATION_UNSUPPORTED", ends],
    ["copy-datastore", "PODS_MIGRATION_DIFFERS", ends],
    ["copy-datastore", "ANY", memory],
    ["switch-datastore", "PODS_MIGRATION_DIFFERS", ends],
    ["switch-datastore", "ANY", memory],
    ["thaw-datastore", "PODS_MIGRATION_DIFFERS", memory],
  ])("is of %s with %s", ([type, code, expected]) => {
    expect(after(type, code)).toEqual(expected);
  });
});

describe("the change of API servers", () => {
  const switching = recordOf("Switching", { frozenAt: now, heldBy: "old", failure: "before", failures: 2, retryAt: 1 });
  const both = [etcdPod, ownPod("n1"), ownPod("n2")];
  const own1 = "waits for API servers with its own etcd";
  const ending = "waits for the API servers with the shared etcd to end";
  const graceful = (seconds: number | undefined) =>
    sharedPod("o", {
      metadata: {
        labels: { [componentLabel]: "kube-apiserver" },
        ...(seconds === undefined ? {} : { deletionGracePeriodSeconds: seconds }),
      },
    });
  test.for<[title: string, World, string[]]>([
    ["waits for all new ones", { pods: [etcdPod, ownPod("n1"), sharedPod()] }, [own1]],
    ["waits for new ones that are ready", { pods: [etcdPod, ownPod("n1"), ownPod("n2", { ready: "False" })] }, [own1]],
    [
      "waits for new ones that are not ending",
      {
        pods: [
          etcdPod,
          ownPod("n1"),
          ownPod("n2", { metadata: { labels: { [componentLabel]: "kube-apiserver" }, deletionTimestamp: "x" } }),
        ],
      },
      [own1],
    ],
    ["waits for their Deployment", { pods: both, live: { "Deployment/kube-apiserver": undefined } }, [own1]],
    ["ends the old ones", { pods: [...both, sharedPod()] }, ["end-pods", ending]],
    ["ends those that have long to end", { pods: [...both, graceful(2)] }, ["end-pods", ending]],
    ["waits for those that end at once", { pods: [...both, graceful(1)] }, [ending]],
    ["is over when none is left", { pods: both }, ["switch-datastore"]],
    ["needs both etcds", { pods: both, more: unready }, ["waits for the members of both etcds"]],
    ["returns where it failed", { pods: both, memory: { attempt: 1, failure: "no" } }, ["Returning: no"]],
    [
      "never returns once its own etcd has the data, and is noted again where that was lost",
      { pods: both, memory: { attempt: 1, failure: "no" }, datastore: "Own" },
      ["switch-datastore"],
    ],
  ])("%s", ([, world, expected]) => {
    expect(planned({ record: switching, ...world })).toEqual(expected);
  });

  test("ends the pods that have long to end, in a second", () => {
    const pods = [...both, graceful(1), graceful(30), sharedPod()];
    expect(onlyStep({ record: switching, pods })).toEqual({ type: "end-pods", pods: pods.slice(-2), seconds: 1 });
  });

  test("notes that its own etcd serves, since when, and nothing of what failed before", () => {
    const { failure: _failure, failures: _failures, retryAt: _at, ...kept } = switching;
    const record = { ...kept, stage: "Retained", switchedAt: now };
    expect(onlyStep({ record: switching, pods: both })).toMatchObject({ record, from, replaces: "7" });
    expect(onlyStep({ record: switching, pods: both })).not.toHaveProperty("record.failure");
  });

  test.for<[title: string, World, string | undefined]>([
    ["while they change", { record: switching }, "old"],
    ["not where its own etcd has the data", { record: switching, datastore: "Own" }, undefined],
    ["not before", { record: recordOf("Freezing", { heldBy: "old" }) }, undefined],
    ["not without a note of them", { record: recordOf("Switching") }, undefined],
    ["not when it returned", { record: recordOf("Returning", { heldBy: "old" }) }, undefined],
    ["while new ones run as it returns", { record: recordOf("Returning", { heldBy: "old" }), pods: [ownPod()] }, "old"],
    [
      "while new ones may start as it returns",
      { record: recordOf("Returning", { heldBy: "old" }), live: { "Deployment/kube-apiserver": program([]) } },
      "old",
    ],
    [
      "while old ones roll out as it returns",
      { record: recordOf("Returning", { heldBy: "old" }), live: { "Deployment/kube-apiserver": program(prefix, {}) } },
      "old",
    ],
    [
      "not without API servers as it returns",
      {
        record: recordOf("Returning", { heldBy: "old" }),
        live: { "Deployment/kube-apiserver": undefined },
        pods: [ownPod()],
      },
      undefined,
    ],
  ])("leads clients to the old ones %s", ([, world, expected]) => {
    expect(heldByOf(observed(world))).toBe(expected);
  });
});

describe("the way back to the shared etcd", () => {
  const returning = (more: Partial<MigrationRecord> = {}) => recordOf("Returning", { attempt: 2, ...more });
  const gone = { pods: [sharedPod()], live: { "StatefulSet/etcd": undefined } };
  const back = "waits for its API servers to serve from the shared etcd again";
  test.for<[title: string, World, string[], Partial<ServingPlan>?]>([
    ["waits for its programs", { record: returning(), ...gone }, [back], { isSettled: false }],
    ["waits for its etcd to go", { record: returning(), pods: [sharedPod()] }, [back]],
    ["waits for members to end", { record: returning(), ...gone, pods: [sharedPod(), etcdPod] }, [back]],
    ["waits for API servers with its own etcd", { record: returning(), ...gone, pods: [ownPod()] }, [back]],
    ["needs the shared etcd", { record: returning(), ...gone, more: noPool }, ["waits for the shared etcd"]],
    [
      "needs the shared etcd when it was withdrawn, too",
      { record: returning(), ...gone, requested: shared(), more: noPool },
      ["waits for the shared etcd"],
    ],
    [
      "needs the shared etcd to be ready for another attempt",
      { record: returning(), ...gone, more: unready },
      ["waits for the shared etcd"],
    ],
    [
      "ends when it was withdrawn",
      { record: returning({ failure: "no" }), ...gone, requested: shared() },
      ["thaw-datastore", "Withdrawn"],
    ],
    ["ends when it hibernates", { record: returning(), ...gone, requested: moved(0) }, ["thaw-datastore", "Withdrawn"]],
    ["leads to another attempt", { record: returning(), ...gone }, ["thaw-datastore", "begin-migration"]],
  ])("%s", ([, world, expected, serving]) => {
    expect(planned(world, serving)).toEqual(expected);
  });

  const attempts = (more: Partial<MigrationRecord>, world: World = {}) =>
    planMigration(observed({ record: returning(more), ...gone, ...world }), done, now).steps;
  test("accepts writes once more, and keeps of a withdrawn one what the next one needs", () => {
    const [thaw, end] = attempts({ failure: "no", heldBy: "old" }, { requested: shared(), more: sealed("Sealed") });
    expect(thaw).toEqual({
      type: "thaw-datastore",
      record: returning({ failure: "no", heldBy: "old" }),
      from,
      sealed: true,
    });
    const record = { stage: "Withdrawn", attempt: 2, revision: 1_000_000, members: 3 };
    expect(end).toEqual({ type: "record-migration", record, replaces: "7" });
  });

  test("tries again later each time, up to a day, and at once where nothing failed", () => {
    const next = (more: Partial<MigrationRecord>) =>
      (attempts(more)[1] as Extract<Step, { type: "begin-migration" }>).record;
    const etcd = { attempt: 3, members: 3, storage: "8Gi" };
    expect(next({})).toEqual(etcd);
    const after = (failures: number | undefined) =>
      next({ failure: "no", ...(failures === undefined ? {} : { failures }) });
    const minutes = 60_000;
    expect(after(undefined)).toEqual({ ...etcd, failures: 1, failure: "no", retryAt: now + 10 * minutes });
    expect(after(1)).toEqual({ ...etcd, failures: 2, failure: "no", retryAt: now + 20 * minutes });
    for (const many of [8, 20, 5_000])
      expect(after(many)).toMatchObject({ failures: many + 1, retryAt: now + 24 * 60 * minutes });
    expect(attempts({})[1]).toMatchObject({ access: poolOf().access, replaces: "7" });
  });

  test("writes the record again that another program deleted", () => {
    const lost = observed({});
    const annotations = { [datastoreAnnotation]: "Pooled", "controlplane.causeway.dev/migrating": "true" };
    const namespace = { metadata: { name: "x", annotations } } as unknown as Namespace;
    expect(text(planMigration({ ...lost, namespace }, done, now))).toEqual([
      "Returning: the ConfigMap with its record was deleted",
    ]);
  });

  test("begins with the thaw, before all else, once for each process", () => {
    const thaws = (world: World) => thawSteps(observed(world)).map(({ type }) => type);
    const record = returning();
    expect(thaws({ record })).toEqual(["thaw-datastore"]);
    expect(thaws({ record, memory: { attempt: 2, thawed: "Freezing" } })).toEqual(["thaw-datastore"]);
    expect(thaws({ record, memory: { attempt: 1, thawed: "Returning" } })).toEqual(["thaw-datastore"]);
    expect(thaws({ record, memory: { attempt: 2, thawed: "Returning" } })).toEqual([]);
    expect(thaws({ record, datastore: "Own" })).toEqual([]);
    expect(thaws({ record, more: noPool })).toEqual([]);
    expect(thaws({ record: recordOf("Freezing") })).toEqual([]);
    expect(thaws({})).toEqual([]);
  });
});

describe("the old data in the shared etcd", () => {
  const retained = recordOf("Retained", { switchedAt: now - RETENTION });
  const within = (retention: number) => ({ settings: { owner: "management", pool: { retention } } });
  test.for<[title: string, World, string[]]>([
    ["is kept for a day", { record: { ...retained, switchedAt: now - RETENTION + 1 } }, ["1"]],
    ["is kept for a day from now on where its time is not known", { record: recordOf("Retained") }, [`${RETENTION}`]],
    ["is kept as long as the operator wants", { record: { ...retained, switchedAt: now }, more: within(5) }, ["5"]],
    ["is deleted then", { record: retained }, ["remove-shared-data"]],
    ["is gone once it was deleted", { record: retained, memory: { attempt: 1, removed: true } }, ["Done"]],
    [
      "is deleted by each process that does not know",
      { record: retained, memory: { attempt: 2, removed: true } },
      ["remove-shared-data"],
    ],
    ["waits for the shared etcd, which is checked each minute", { record: retained, more: noPool }, ["60000"]],
    ["waits for the shared etcd to be ready", { record: retained, more: unready }, ["60000"]],
  ])("%s", ([, world, expected]) => {
    expect(planned(world)).toEqual(expected);
  });

  test("is that of its own user", () => {
    const user = { name: namespaceName, prefix: prefixOf(namespaceName) };
    expect(onlyStep({ record: retained })).toEqual({
      type: "remove-shared-data",
      access: poolOf().access,
      user,
      record: retained,
    });
  });
});

describe("the plan of a control plane that moves", () => {
  const annotations = {
    [datastoreAnnotation]: "Pooled",
    [idAnnotation]: "default.web",
    [ownerAnnotation]: "management",
    [initializedAnnotation]: "true",
  };
  const namespace = { metadata: { name: namespaceName, annotations } } as unknown as Namespace;
  const key = { apiVersion: "v1", kind: "Secret", metadata: { name: "encryption" }, data: {} } as Secret;
  const live = { "Secret/encryption": key, "Secret/encryption-copy": key };
  const planAt = (record: MigrationRecord, at: number) => plan(observed({ record, live, more: { namespace } }), at);
  const types = (record: MigrationRecord, at: number) => planAt(record, at).steps.map(stepText);
  const freezing = recordOf("Freezing", { frozenAt: now });
  const limit = now + FREEZE_LIMIT - 2_000;

  test("accepts writes before anything else is done", () => {
    expect(types(recordOf("Returning"), now)).toEqual(["thaw-datastore"]);
  });

  test("is made again before writes are refused for too long, and returns then, whatever else there is to do", () => {
    expect(types(freezing, now)).toEqual(["apply-namespace"]);
    expect(planAt(freezing, limit - 1).wait).toEqual({ for: "the move to its own etcd", until: limit });
    expect(planAt(recordOf("Copying"), now).wait).toBeUndefined();
    expect(types(freezing, limit - 1)).toEqual(["apply-namespace"]);
    expect(types(freezing, limit)).toEqual(["Returning: no API server served with its own etcd within 30 s"]);
  });

  test("notes what its old data may take in the shared etcd until it is deleted, and which etcd has the data", () => {
    const noted = (record: MigrationRecord, budget?: string) => {
      const before = { ...annotations, ...(budget === undefined ? {} : { [budgetAnnotation]: budget }) };
      const more = { namespace: { metadata: { name: namespaceName, annotations: before } } as unknown as Namespace };
      const [step] = plan(observed({ record, live, more }), now).steps;
      return step?.type === "apply-namespace" ? step.object.metadata.annotations : undefined;
    };
    const retained = recordOf("Retained", { switchedAt: now });
    const kept = { [datastoreAnnotation]: "Own", [retainedAnnotation]: "true" };
    expect(noted(retained, "77")).toMatchObject({ ...kept, [budgetAnnotation]: "77" });
    expect(noted(retained)).toMatchObject({ ...kept, [budgetAnnotation]: String(128 * 2 ** 20) });
    const done = noted(recordOf("Done"), "77");
    expect(done).toMatchObject({ [datastoreAnnotation]: "Own" });
    const between = noted(freezing, "77");
    expect(between).toMatchObject({ [datastoreAnnotation]: "Pooled", [migratingAnnotation]: "true" });
    expect(between).toHaveProperty([budgetAnnotation], String(128 * 2 ** 20));
    for (const field of [retainedAnnotation, budgetAnnotation, migratingAnnotation])
      expect(done).not.toHaveProperty([field]);
    expect(noted(retained)).not.toHaveProperty([migratingAnnotation]);
  });

  test("is made again for old data while the request is refused, or earlier for what it is refused for", () => {
    const record = recordOf("Retained", { switchedAt: now });
    const ownNow = {
      namespace: {
        metadata: { name: namespaceName, annotations: { ...annotations, [datastoreAnnotation]: "Own" } },
      } as unknown as Namespace,
    };
    const refused = (requested: ControlPlaneSpec, more: object = {}) => {
      const { steps, status, wait } = plan(observed({ record, requested, live, more: { ...ownNow, ...more } }), now);
      expect(steps).toEqual([]);
      return [status.problem?.code, wait?.until];
    };
    expect(refused(shared())).toEqual(["PODS_DATASTORE_CHANGED", now + RETENTION]);
    const settings = { owner: "management", ceilings: { replicas: 1 } };
    expect(refused(moved(), { settings })).toEqual(["PODS_CEILING_EXCEEDED", now + 300_000]);
  });
});
