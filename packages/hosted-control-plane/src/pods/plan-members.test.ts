/** The rules of another number of members of an own etcd, one by one. */
import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { Observed } from "./observed.ts";
import {
  isMemberStep,
  isResizing,
  memberProgress,
  membershipProblem,
  membersProblem,
  memberSteps,
  remainingShape,
  servingMembers,
  wantedMembers,
} from "./plan-members.ts";
import { memberStep, observedMembers, type Etcd, type World } from "./testing/members.ts";
import { now } from "./testing/played-cluster.ts";

const three = ["etcd-0", "etcd-1", "etcd-2"];
const pods3 = ["0", "1", "2"];
const fewer: World = { wanted: 1, etcd: { settled: 3, initial: 3 }, members: three, pods: pods3 };
const steps = (world: World, isSettled = true) => memberSteps(observedMembers(world), isSettled).map(memberStep);

describe("the members of an own etcd", () => {
  test.for<[title: string, World, string[], isSettled?: boolean]>([
    ["are one more at a time", {}, ["add https://etcd-1.etcd.hcp-web.svc:2380"]],
    ["are not changed where there are as many as wanted", { wanted: 1 }, []],
    ["are as many as wanted in the end", { members: three, pods: pods3 }, []],
    ["are those of others in the shared etcd", { pooled: true }, []],
    ["are not changed while it hibernates", { replicas: 0 }, []],
    ["are not changed before there are any", { etcd: "none" }, []],
    ["are not changed while they are not known", { members: "unknown" }, []],
    ["are not changed without a leader", { leader: "none" }, []],
    ["are not changed while anything else is", {}, [], false],
    ["are not changed before their number is noted", { etcd: { settled: 1, registered: 2 } }, []],
    ["are not changed while one of them is a stranger", { members: ["etcd-0", "stranger"], pods: ["0", "1"] }, []],
    ["are not changed while there are none", { members: [], etcd: { settled: 1, registered: 1 } }, []],
    ["are not more while one is not ready", { members: ["etcd-0", "etcd-1"], pods: ["0", "-1"] }, []],
    ["are not more while the pod of an earlier one ends", { pods: ["0", "1"] }, []],
    ["are not more while the authority is rotated", { rotation: "trust" }, []],
    [
      "are two, then three",
      { members: ["etcd-0", "etcd-1"], pods: ["0", "1"] },
      ["add https://etcd-2.etcd.hcp-web.svc:2380"],
    ],
    ["get a vote when they run", { members: ["etcd-0", "etcd-1+"], pods: ["0", "-1"] }, ["promote etcd-1"]],
    ["get no vote before they run", { members: ["etcd-0", "etcd-1+"] }, []],
    [
      "give up one without a vote that is not wanted any more",
      { ...fewer, etcd: { settled: 1 }, members: ["etcd-0", "etcd-1+"], pods: ["0"] },
      ["remove etcd-1"],
    ],
    ["are led by the first one before another one leaves", { ...fewer, leader: "etcd-2" }, ["lead etcd-0"]],
    ["leave from the last one on", fewer, ["remove etcd-2"]],
    [
      "leave until there are as many as wanted",
      { ...fewer, members: three.slice(0, 2), pods: ["0", "1"] },
      ["remove etcd-1"],
    ],
    ["leave during a rotation of the authority", { ...fewer, rotation: "sign" }, ["remove etcd-2"]],
    ["do not leave while one is not ready", { ...fewer, pods: ["0", "1", "-2"] }, []],
    ["do not leave while the pod of one that left ends", { ...fewer, members: three.slice(0, 2) }, []],
    ["do not leave while API servers connect to them", { ...fewer, servers: 3 }, []],
    ["do not leave while API servers roll out", { ...fewer, isRolledOut: false }, []],
    ["leave where there are no API servers", { ...fewer, servers: "none" }, ["remove etcd-2"]],
  ])("%s", ([, world, expected, isSettled = true]) => {
    expect(steps(world, isSettled)).toEqual(expected);
  });

  test("are changed by steps that differ from all others", () => {
    const all = [{}, { ...fewer, leader: "etcd-2" }, fewer, { members: ["etcd-0", "etcd-1+"], pods: ["0", "1"] }];
    for (const world of all) expect(memberSteps(observedMembers(world), true).every(isMemberStep)).toBe(true);
    expect(
      isMemberStep({ type: "delete", id: "x", object: { apiVersion: "v1", kind: "X", metadata: { name: "x" } } }),
    ).toBe(false);
  });

  test.for<[title: string, World, isResized: boolean]>([
    ["another number is wanted", {}, true],
    ["their change has not ended", { wanted: 1, etcd: { settled: 1, registered: 1 } }, true],
    ["neither is so", { wanted: 1, etcd: { settled: 1, registered: 0 } }, false],
    ["the control plane hibernates", { replicas: 0 }, false],
    ["nothing says how many there are", { etcd: { settled: "" } }, false],
    ["it says that there are none", { etcd: { settled: 0, registered: 0 } }, false],
    ["what says how many there are cannot be read", { etcd: { settled: "many", registered: 0 } }, false],
  ])("are being changed where %s", ([, world, isResized]) => {
    expect(isResizing(observedMembers(world))).toBe(isResized);
    expect(memberProgress(observedMembers(world)) !== "").toBe(isResized);
  });
});

describe("API servers connect to", () => {
  const steady = { registered: 0 };
  test.for<[title: string, World, count: number]>([
    ["all members", { etcd: { settled: 3, ...steady } }, 3],
    ["one member of an etcd that is to be made with one", { wanted: 1, etcd: "none" }, 1],
    ["three members of an etcd that is to be made with three", { etcd: "none" }, 3],
    ["those that vote", { members: ["etcd-0", "etcd-1+"] }, 1],
    ["those that were there before the change", { members: ["etcd-0", "etcd-1"] }, 1],
    ["those that remain", fewer, 1],
    ["those that are noted", { wanted: 3, etcd: { settled: 3, registered: 2 }, members: three }, 2],
    ["no more than there are", { etcd: { settled: 3, registered: 3 }, members: ["etcd-0"] }, 1],
    [
      "those that they have, while the etcd does not respond",
      { etcd: { settled: 3, registered: 3 }, members: "unknown", servers: 2 },
      2,
    ],
    [
      "all, where there are no API servers yet",
      { etcd: { settled: 3, registered: 3 }, members: "unknown", servers: "none" },
      3,
    ],
  ])("%s", ([, world, count]) => {
    expect(servingMembers(observedMembers(world))).toBe(count);
  });
});

describe("the StatefulSet of an own etcd", () => {
  const steady = (replicas: number) => ({
    shape: { replicas, initial: replicas, joins: false, partition: 0, dropsVolumes: false },
    settled: replicas,
  });
  const moving = (shape: object, settled: number, registered: number) => ({
    shape: { joins: false, partition: 0, ...shape, replicas: registered, dropsVolumes: true },
    settled,
    registered,
  });
  test.for<[title: string, World, expected: object]>([
    ["has what is wanted where nothing changes", { wanted: 3, etcd: { settled: 3, registered: 0 } }, steady(3)],
    ["has what is wanted at first", { wanted: 1, etcd: "none" }, steady(1)],
    ["has those of the etcd while they change", {}, moving({ initial: 1 }, 1, 1)],
    [
      "has those that were noted while the etcd does not respond",
      { members: "unknown", etcd: { settled: 1, registered: 2 } },
      moving({ initial: 1 }, 1, 2),
    ],
    [
      "has those of before where nothing was noted",
      { members: "unknown", etcd: { settled: 1, registered: 0 } },
      moving({ initial: 1 }, 1, 1),
    ],
    [
      "starts a new one that joins, and restarts no other one",
      { members: ["etcd-0", "etcd-1+"] },
      moving({ initial: 2, joins: true, partition: 1 }, 1, 2),
    ],
    [
      "remains as it is once the new one votes",
      { members: ["etcd-0", "etcd-1"], etcd: { settled: 1, initial: 2, joins: true, partition: 1 } },
      moving({ initial: 2, joins: true, partition: 1 }, 1, 2),
    ],
    ["is as wanted when all are there", { members: three, pods: pods3 }, steady(3)],
    [
      "is not as wanted before the last one votes",
      { members: ["etcd-0", "etcd-1", "etcd-2+"], pods: pods3 },
      moving({ initial: 3, joins: true, partition: 2 }, 1, 3),
    ],
    [
      "is not as wanted before the pod of the last one that left is gone",
      { ...fewer, members: ["etcd-0"], pods: ["0", "1"] },
      moving({ initial: 3 }, 3, 1),
    ],
    ["is as wanted when that is gone", { ...fewer, members: ["etcd-0"], pods: ["0"] }, steady(1)],
  ])("%s", ([, world, expected]) => {
    expect(wantedMembers(observedMembers(world))).toEqual(expected);
  });

  test("has the flags of before where its command has none that are known", () => {
    const world = observedMembers({ members: ["etcd-0", "etcd-1"] });
    const set = {
      metadata: world.live.get("StatefulSet/etcd")?.metadata,
      spec: { template: { spec: { containers: [] } } },
    };
    const live = new Map([...world.live, ["StatefulSet/etcd", set as unknown as KubeObject]]);
    expect(wantedMembers({ ...world, live })).toEqual(moving({ initial: 1 }, 1, 2));
  });

  const one = steady(1).shape;
  test.for<[title: string, Etcd, shape: typeof one, kept: object | undefined]>([
    ["as it was first started", { initial: 3, joins: true }, one, { ...one, initial: 3, joins: true }],
    ["not where there are several", { initial: 3 }, steady(3).shape, undefined],
    ["not while members change", { initial: 3 }, { ...one, dropsVolumes: true }, undefined],
    ["not where it has not got the newest template", { initial: 3, partition: 1 }, one, undefined],
    ["where it has, by a partition of none", { initial: 3, partition: 0 }, one, { ...one, initial: 3 }],
  ])("keeps the only member %s", ([, etcd, shape, kept]) => {
    expect(remainingShape(observedMembers({ etcd }), { shape })).toEqual(kept);
  });

  test("keeps no member that is not there", () => {
    expect(remainingShape(observedMembers({ etcd: "none" }), { shape: one })).toBeUndefined();
  });
});

describe("the problem of members", () => {
  const unanswered = (more: Partial<Observed>, world: World = {}) =>
    membershipProblem(
      observedMembers({ ...world, more: { membershipFailure: "x".repeat(400), membersSince: now - 10_000, ...more } }),
      now,
    );
  test("is an etcd that does not list them for longer than an election takes", () => {
    expect(unanswered({})).toEqual({
      code: "PODS_ETCD_UNREACHABLE",
      message: `etcd in Namespace hcp-web cannot be queried for its members, which are to change: ${"x".repeat(300)}`,
      actor: "operator",
    });
    expect(unanswered({ membersSince: now - 9_999 })).toBeUndefined();
    expect(unanswered({}, { wanted: 1, etcd: { settled: 1, registered: 0 } })).toBeUndefined();
    const { membersSince: _since, ...timeless } = observedMembers({ more: { membershipFailure: "x" } });
    expect(membershipProblem(timeless, now)?.code).toBe("PODS_ETCD_UNREACHABLE");
    expect(membershipProblem(observedMembers({ more: { membersSince: 0 } }), now)).toBeUndefined();
  });

  test.for<[title: string, World, names: string | undefined]>([
    ["those of the StatefulSet", { members: three }, undefined],
    ["a stranger", { members: ["etcd-0", "stranger"] }, "etcd-0, id stranger"],
    ["a gap", { members: ["etcd-0", "etcd-2"] }, "etcd-0, etcd-2"],
    ["none", { members: [] }, ""],
    ["not known", { members: "unknown" }, undefined],
    ["not to change", { wanted: 1, etcd: { settled: 1, registered: 0 }, members: ["stranger"] }, undefined],
  ])("is a list that has others than the StatefulSet's: %s", ([, world, names]) => {
    const message = `the members of etcd in Namespace hcp-web are ${names}, which are not the first ones of StatefulSet etcd: remove the others with etcdctl member remove`;
    const problem = { code: "PODS_MEMBERS_INVALID", message, actor: "operator" };
    expect(membersProblem(observedMembers(world))).toEqual(names === undefined ? undefined : problem);
  });
});
