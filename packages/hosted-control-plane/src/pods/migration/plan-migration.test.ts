/** The rules of a move to an own etcd, one by one: each from a record and what this process remembers. */
import { describe, expect, test } from "vitest";
import { moved, shared } from "../testing/moves.ts";
import { now } from "../testing/played-cluster.ts";
import {
  etcdPod,
  from,
  noPool,
  observed,
  onlyStep,
  ownPod,
  planned,
  recordOf,
  sealed,
  sharedPod,
  stepText,
  unready,
  type World,
} from "../testing/recorded-move.ts";
import { own, poolOf, specOf } from "../testing/spec.ts";
import { componentLabel } from "../tenant.ts";
import type { MigrationMemory } from "./memory.ts";
import {
  COPY_LIMIT,
  FREEZE_LIMIT,
  ownEtcdOf,
  planMigration,
  RETENTION,
  returnInTime,
  returnsAt,
  type ServingPlan,
} from "./plan-migration.ts";
import type { MigrationRecord, MigrationStage } from "./record.ts";

const asked = "waits for the control plane to be as requested";
const others = (...names: string[]) => ({ more: { otherCopies: names } });

describe("a move to an own etcd begins", () => {
  const none: World = { live: { "StatefulSet/etcd": undefined, "Secret/etcd-ca": undefined } };
  test.for<[title: string, World, string[], Partial<ServingPlan>?]>([
    ["where it is requested", none, ["begin-migration"]],
    ["not where the shared etcd is requested", { ...none, requested: shared() }, []],
    ["not where it has its own", { ...none, datastore: "Own" }, []],
    ["not where it was not created yet", { ...none, datastore: "" }, []],
    ["not while it hibernates", { ...none, requested: moved(0) }, []],
    ["once all is as requested", none, [asked], { isSettled: false }],
    ["once the shared etcd is known", { ...none, more: noPool }, [asked]],
    ["once the shared etcd is ready", { ...none, more: unready }, [asked]],
    ["again after it was withdrawn", { ...none, record: recordOf("Withdrawn") }, ["begin-migration"]],
    ["not again while it is withdrawn", { record: recordOf("Withdrawn"), requested: shared() }, []],
    ["not again when it has ended", { record: recordOf("Done") }, []],
  ])("%s", ([, world, expected, serving]) => {
    expect(planned(world, serving)).toEqual(expected);
  });

  test("as its first attempt, or the next one, with the members and volumes that are requested", () => {
    const step = { type: "begin-migration", access: poolOf().access };
    const etcd = { members: 3, storage: "8Gi" };
    expect(onlyStep({})).toStrictEqual({ ...step, record: { attempt: 1, ...etcd } });
    const { problem } = planMigration(observed({ more: unready }), { isSettled: true, isEtcdDone: true }, now);
    expect(problem).toMatchObject({ code: "PODS_MIGRATING", actor: "none" });
    const again = { record: recordOf("Withdrawn", { attempt: 4 }) };
    expect(onlyStep(again)).toEqual({ ...step, record: { attempt: 5, ...etcd }, replaces: "7" });
  });

  test("with an etcd that is there in its first stages only, and not before another attempt", () => {
    const of = (stage: MigrationStage, retryAt?: number) =>
      ownEtcdOf(observed({ record: recordOf(stage, retryAt === undefined ? {} : { retryAt }) }), now)?.seeded;
    const stages = [
      "Starting",
      "Copying",
      "Freezing",
      "Switching",
      "Returning",
      "Withdrawn",
      "Retained",
      "Done",
    ] as const;
    expect(stages.map((stage) => of(stage))).toEqual([true, false, false, ...Array<undefined>(5).fill(undefined)]);
    expect([of("Starting", now + 1), of("Starting", now)]).toEqual([undefined, true]);
    expect(ownEtcdOf(observed({}), now)).toBeUndefined();
  });
});

describe("a move that is given up", () => {
  test.for(["Starting", "Copying", "Freezing", "Switching"] as const)(
    "in stage %s returns, and so does one that hibernates",
    (stage) => {
      const record = recordOf(stage);
      expect(planned({ record, requested: shared() })).toEqual(["Returning"]);
      expect(planned({ record, requested: moved(0) })).toEqual(["Returning"]);
      expect(onlyStep({ record, requested: shared() })).toEqual({
        type: "record-migration",
        record: { ...record, stage: "Returning" },
        replaces: "7",
      });
    },
  );

  test("is over where the own etcd serves: its old data is deleted all the same", () => {
    const record = recordOf("Retained", { switchedAt: now });
    for (const requested of [shared(), moved(0)]) expect(planned({ record, requested })).toEqual([`${RETENTION}`]);
  });
});

describe("the first stage of a move", () => {
  const starting = (more: Partial<MigrationRecord> = {}) => recordOf("Starting", more);
  const noVolumes = { live: { "StatefulSet/etcd": undefined } };
  const other = specOf({ pods: own({ datastore: { members: 1, storage: "9Gi", storageClassName: "fast" } }) });
  const failed = starting({ retryAt: now + 1, failure: "it broke", attempt: 2 });
  test.for<[title: string, World, string[], Partial<ServingPlan>?]>([
    [
      "waits for members",
      { record: starting() },
      ["waits for the members of its own etcd to start"],
      { isEtcdDone: false },
    ],
    ["ends when they run", { record: starting() }, ["Copying"]],
    ["follows no request once there are volumes", { record: starting(), requested: other }, ["Copying"]],
    ["has nothing to follow without a change", { record: starting(), ...noVolumes }, ["Copying"]],
    [
      "lets another one be copied first",
      { record: starting(), ...others("hcp-z") },
      ["waits for the data of another control plane to be copied", "5000"],
    ],
    [
      "lets one be copied to its end, whatever stage that one is in",
      { record: starting(), more: { isOtherCopied: true } },
      ["waits for the data of another control plane to be copied", "5000"],
    ],
    [
      "waits for members first",
      { record: starting(), ...others("hcp-z") },
      ["waits for the members of its own etcd to start"],
      { isEtcdDone: false },
    ],
    ["is tried again at its time", { record: { ...failed, retryAt: now } }, ["Copying: it broke"]],
  ])("%s", ([, world, expected, serving]) => {
    expect(planned(world, serving)).toEqual(expected);
  });

  test.for<[title: string, change: Partial<MigrationRecord>]>([
    ["members", { members: 1 }],
    ["storage", { storage: "7Gi" }],
    ["a storage class", { storageClassName: "slow" }],
  ])("follows another request until there are volumes: %s", ([, change]) => {
    const world = { record: starting({ ...change, copyingAt: 5 }), ...noVolumes };
    expect(onlyStep(world)).toEqual({ type: "record-migration", record: starting({ copyingAt: 5 }), replaces: "7" });
    const record = starting({ members: 1, storage: "9Gi", storageClassName: "fast" });
    expect(onlyStep({ record: starting(), requested: other, ...noVolumes })).toMatchObject({ record });
  });

  test("notes when it begins to copy", () => {
    expect(onlyStep({ record: starting() })).toMatchObject({ record: { stage: "Copying", copyingAt: now } });
  });

  test("says why the last attempt failed, and when the next one begins", () => {
    const { steps, until, problem } = planMigration(
      observed({ record: failed }),
      { isSettled: true, isEtcdDone: true },
      now,
    );
    expect([steps, until]).toEqual([[], now + 1]);
    expect(problem).toEqual({
      code: "PODS_MIGRATION_FAILED",
      message:
        "the move to its own etcd failed, and the shared etcd serves as before: it broke. It is tried again at 2026-01-01T00:00:00Z; set spec.pods.datastore.type to Pooled to give it up",
      actor: "operator",
    });
  });
});

describe("the copy of all data", () => {
  const copying = (more: Partial<MigrationRecord> = {}) => recordOf("Copying", { copyingAt: now, ...more });
  const late = copying({ copyingAt: now - COPY_LIMIT });
  const copied: MigrationMemory = { attempt: 1, copied: true };
  const limit = `${COPY_LIMIT}`;
  const members = "waits for the members of both etcds";
  test.for<[title: string, World, string[], Partial<ServingPlan>?]>([
    ["is made", { record: copying() }, ["copy-datastore", limit]],
    ["is made from a record without its time", { record: recordOf("Copying") }, ["copy-datastore", limit]],
    [
      "is not made of what another attempt copied",
      { record: copying(), memory: { ...copied, attempt: 2 } },
      ["copy-datastore", limit],
    ],
    ["needs members that are as wanted", { record: copying() }, [members, limit], { isEtcdDone: false }],
    ["needs a member that responds", { record: copying(), pods: [sharedPod()] }, [members, limit]],
    ["needs the shared etcd", { record: copying(), more: noPool }, [members, limit]],
    ["needs the shared etcd to be ready", { record: copying(), more: unready }, [members, limit]],
    [
      "lets one with a smaller name be first",
      { record: copying(), ...others("a") },
      ["waits for the data of another control plane to be copied", "5000"],
    ],
    [
      "waits for that one no longer than a copy may take",
      { record: { ...late, copyingAt: now - COPY_LIMIT + 1 }, ...others("a") },
      ["waits for the data of another control plane to be copied", "1"],
    ],
    ["is before that of a larger name", { record: copying(), ...others("zzz") }, ["copy-datastore", limit]],
    [
      "lets one that is copied be first, whatever their names are",
      { record: copying(), more: { otherCopies: ["zzz"], isOtherCopied: true } },
      ["waits for the data of another control plane to be copied", "5000"],
    ],
    ["once made waits for no copy", { record: copying(), memory: copied, more: { isOtherCopied: true } }, ["Freezing"]],
    ["once made waits for no other one", { record: copying(), memory: copied, ...others("a") }, ["Freezing"]],
    ["once made waits for a rollout", { record: copying(), memory: copied }, [asked, limit], { isSettled: false }],
    ["is made during a rollout", { record: copying() }, ["copy-datastore", limit], { isSettled: false }],
    [
      "once made needs an API server that is ready",
      { record: copying(), memory: copied, pods: [etcdPod, sharedPod("a", { ready: "False" })] },
      ["waits for an API server that is ready"],
    ],
    [
      "that failed for good ends the attempt",
      { record: copying(), memory: { attempt: 1, failure: "no" } },
      ["Returning: no"],
    ],
    ["that takes too long ends the attempt", { record: late }, ["Returning: the data was not copied within 30 min"]],
    [
      "that waits for too long ends the attempt",
      { record: late, memory: copied },
      ["Returning: the control plane was not as requested within 30 min"],
    ],
    ["may take a millisecond less", { record: { ...late, copyingAt: now - COPY_LIMIT + 1 } }, ["copy-datastore", "1"]],
  ])("%s", ([, world, expected, serving]) => {
    expect(planned(world, serving)).toEqual(expected);
  });

  test("is from the prefix of the shared etcd to the own one, of this attempt", () => {
    const step = onlyStep({ record: copying() });
    expect(step).toMatchObject({ type: "copy-datastore", record: copying(), from });
    expect("to" in step && step.to).toMatchObject({ prefix: "/", access: { addresses: ["10.1.0.1"] } });
  });

  test("is followed by the freeze, which notes since when and which API servers clients reach", () => {
    const record = { ...copying(), stage: "Freezing", frozenAt: now, heldBy: "old" };
    expect(onlyStep({ record: copying(), memory: copied })).toEqual({
      type: "record-migration",
      record,
      replaces: "7",
    });
    const ending = sharedPod("z", { hash: "older", metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
    const relabelled = {
      ...ending,
      metadata: { ...ending.metadata, labels: { [componentLabel]: "kube-apiserver", "pod-template-hash": "older" } },
    };
    const pods = [etcdPod, ownPod(), relabelled, sharedPod()];
    expect(onlyStep({ record: copying(), memory: copied, pods })).toMatchObject({ record: { heldBy: "old" } });
  });
});

describe("the time without writes", () => {
  const freezing = recordOf("Freezing", { frozenAt: now, heldBy: "old" });
  const copied: MigrationMemory = { attempt: 1, copied: true };
  const compared = { keys: 2, hash: "h", revision: 9 };
  test.for<[title: string, World, string[]]>([
    ["begins with the comparison", { record: freezing, memory: copied }, ["freeze-datastore"]],
    ["ends with one that fails", { record: freezing, memory: { ...copied, failure: "no" } }, ["Returning: no"]],
    ["continues when both are equal", { record: freezing, memory: { ...copied, compared } }, ["Switching"]],
    ["that another process began ends first", { record: freezing }, ["thaw-datastore"]],
    [
      "that another process began has the copy made again",
      { record: freezing, memory: { attempt: 1, thawed: "Freezing" } },
      ["Copying"],
    ],
    [
      "that was ended for another reason ends first",
      { record: freezing, memory: { attempt: 1, thawed: "Returning" } },
      ["thaw-datastore"],
    ],
    [
      "continues in one process after a thaw",
      { record: freezing, memory: { ...copied, thawed: "Freezing" } },
      ["freeze-datastore"],
    ],
    ["needs both etcds", { record: freezing, memory: copied, more: noPool }, ["waits for the members of both etcds"]],
  ])("%s", ([, world, expected]) => {
    expect(planned(world)).toEqual(expected);
  });

  test("notes what both had", () => {
    const { hash, keys } = compared;
    const record = { ...freezing, stage: "Switching", keys, hash, frozenRevision: 9 };
    expect(onlyStep({ record: freezing, memory: { ...copied, compared } })).toMatchObject({ record });
  });

  test.for([
    ["Sealed", true],
    ["Exceeded", false],
  ] as const)("knows of one that may not write anyway: %s", ([stage, isSealed]) => {
    const frozen = onlyStep({ record: freezing, memory: copied, more: sealed(stage) });
    expect(frozen).toMatchObject({ type: "freeze-datastore", record: freezing, from, sealed: isSealed, replaces: "7" });
    const thawed = onlyStep({ record: freezing, more: sealed(stage) });
    expect(thawed).toMatchObject({
      type: "thaw-datastore",
      record: freezing,
      from,
      reopen: { prefix: "/" },
      sealed: isSealed,
    });
  });

  test("is bounded from its beginning, whatever it waits for", () => {
    const at = (stage: MigrationStage, more: Partial<MigrationRecord> = {}) =>
      returnsAt(observed({ record: recordOf(stage, more) }));
    expect(at("Freezing", { frozenAt: now })).toBe(now + FREEZE_LIMIT - 2_000);
    expect(at("Switching", { frozenAt: now })).toBe(now + FREEZE_LIMIT - 2_000);
    expect(at("Freezing")).toBe(FREEZE_LIMIT - 2_000);
    for (const stage of ["Starting", "Copying", "Returning", "Retained"] as const)
      expect(at(stage, { frozenAt: now })).toBeUndefined();
    expect(returnsAt(observed({}))).toBeUndefined();
    expect(returnsAt(observed({ record: freezing, datastore: "Own" }))).toBeUndefined();
    expect(returnInTime(observed({ record: freezing })).map(stepText)).toEqual([
      "Returning: no API server served with its own etcd within 30 s",
    ]);
    expect(returnInTime(observed({}))).toEqual([]);
  });
});
