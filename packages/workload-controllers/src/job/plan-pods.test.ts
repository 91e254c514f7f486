import { describe, expect, test } from "vitest";
import type { Job, JobStatus, Pod } from "@causeway/kubernetes";
import { done, failed, job, planned, pod } from "../testing/jobs.ts";
import { at, now } from "../testing/objects.ts";
import { plan, sameJobStatus } from "./plan.ts";

test.each<[string, JobStatus, JobStatus | undefined, boolean]>([
  ["in another order", { active: 1, failed: 2 }, { failed: 2, active: 1 }, true],
  [
    "with what is 0, empty or absent",
    { active: 0, conditions: [], completedIndexes: "", uncountedTerminatedPods: {} },
    {},
    true,
  ],
  ["with nothing and no status", { active: 0 }, undefined, true],
  ["with another number", { active: 1 }, { active: 2 }, false],
  [
    "with the same in another list",
    { uncountedTerminatedPods: { failed: ["a"] } },
    { uncountedTerminatedPods: { succeeded: ["a"] } },
    false,
  ],
  [
    "with a list in another order",
    { uncountedTerminatedPods: { failed: ["a", "b"] } },
    { uncountedTerminatedPods: { failed: ["b", "a"] } },
    false,
  ],
])("a status of a Job is compared with one %s", (_what, a, b, same) => {
  expect(sameJobStatus(a, b)).toBe(same);
});

describe("the pods of a Job", () => {
  const indexed = { completionMode: "Indexed" as const, completions: 3, parallelism: 3, backoffLimit: 100 };
  const working = job({ parallelism: 2 });
  const { completions: _, ...endless } = working.spec;
  /** What a step does, and to which pods. */
  const stepsOf = (object: Job, pods: readonly Pod[]) =>
    planned(object, pods).steps.map((step) => {
      if (step.type === "create-pods") return `create ${JSON.stringify(step.pods)} after ${step.after}`;
      return "targets" in step ? `${step.type} ${step.targets.map(({ name }) => name).join()}` : step.type;
    });
  const late = (name: string, seconds: number, facts: Parameters<typeof pod>[1] = {}): Pod => {
    const base = pod(name, { ...failed, ...facts });
    const state = { terminated: { exitCode: 1, finishedAt: at(seconds) } };
    return { ...base, status: { ...base.status, containerStatuses: [{ name: "work", state }] } };
  };

  test("of a Job that is gone, or was recreated, lose their finalizers before anything else", () => {
    const given = { key: { namespace: "default", name: "work" }, pods: [pod("a")], orphans: [], strays: [pod("s")] };
    const target = { namespace: "default", name: "s", uid: "uid-s" };
    const steps = [{ type: "remove-finalizers", targets: [target] }];
    expect(plan({ ...given, job: undefined }, now)).toEqual({ steps, status: undefined });
    expect(plan({ ...given, job: job({}, { active: 1 }) }, now)).toEqual({ steps, status: { active: 1 } });
    expect(plan({ ...given, job: undefined, strays: [] }, now)).toEqual({ steps: [], status: undefined });
  });

  test("are adopted before they are counted", () => {
    const { ownerReferences: _owner, ...metadata } = pod("a").metadata;
    const orphan = { ...pod("a"), metadata };
    const given = { key: { namespace: "default", name: "work" }, pods: [], strays: [], job: job({}, { active: 0 }) };
    const found = plan({ ...given, orphans: [orphan] }, now);
    expect(found).toMatchObject({ steps: [{ type: "adopt", target: { name: "a" } }], status: { active: 0 } });
  });

  test("of a Job that ended lose their finalizers, those that still have them", () => {
    const status = { conditions: [{ type: "Failed", status: "True" as const }] };
    const found = planned(job({}, status), [pod("a"), pod("b", { tracked: false })]);
    expect(found).toEqual({ steps: [expect.objectContaining({ type: "remove-finalizers" })], status });
    expect(stepsOf(job({}, status), [pod("a"), pod("b", { tracked: false })])).toEqual(["remove-finalizers a"]);
  });

  test("are not created for a Job that is being deleted, and none of its pods is held by a finalizer", () => {
    const { metadata, ...rest } = job({ parallelism: 4 });
    const leaving = { ...rest, metadata: { ...metadata, deletionTimestamp: at(1) } };
    expect(stepsOf(leaving, [])).toEqual([]);
    expect(stepsOf(leaving, [pod("a"), pod("b", { tracked: false })])).toEqual(["remove-finalizers a"]);
  });

  test.each<[string, Partial<Job["spec"]>, Pod[], JobStatus, string[]]>([
    ["as many as parallelism says", {}, [pod("a")], {}, ["create [{}] after 1"]],
    ["none beyond the completions", {}, [pod("a")], { succeeded: 2 }, []],
    ["none with parallelism 0", { parallelism: 0 }, [], {}, []],
  ])("are created: %s", (_what, spec, pods, status, expected) => {
    expect(stepsOf(job(spec, status), pods)).toEqual(expected);
  });

  test("are one at a time where parallelism is not given", () => {
    const { parallelism: _parallelism, ...spec } = job().spec;
    expect(stepsOf({ ...job(), spec }, [])).toEqual(["create [{}] after 0"]);
  });

  test("of a work queue are as many as parallelism says until one succeeds, then none more", () => {
    const queue = (status?: JobStatus): Job => ({ ...job({}, status), spec: endless });
    expect(stepsOf(queue(), [pod("a")])).toEqual(["create [{}] after 1"]);
    expect(stepsOf(queue({ succeeded: 1 }), [pod("a")])).toEqual([]);
    expect(planned(queue({ succeeded: 1 }), []).status?.conditions?.map(({ type }) => type)).toContain("Complete");
  });

  test("that are too many are deleted, those least far first, then those with the last names", () => {
    const [waits, placed, runs, ready] = [
      pod("a", { phase: "Pending", node: "" }),
      pod("b", { phase: "Pending" }),
      pod("c", { ready: undefined }),
      pod("d"),
    ];
    const deleted = (parallelism: number, ...pods: Pod[]) => stepsOf(job({ parallelism, completions: 9 }), pods);
    expect(deleted(3, ready, runs, placed, waits)).toEqual(["delete-pods a"]);
    expect(deleted(2, waits, ready, placed, runs)).toEqual(["delete-pods a,b"]);
    expect(deleted(1, runs, waits, placed, ready)).toEqual(["delete-pods a,b,c"]);
    expect(deleted(1, pod("z"), pod("x"), pod("y"))).toEqual(["delete-pods z,y"]);
    expect(deleted(3, ready, runs, placed)).toEqual([]);
  });

  test("of an index that the Job does not have, or that another has, are deleted, and others where they are too many", () => {
    const deleted = (spec: Partial<Job["spec"]>, ...pods: Pod[]) => stepsOf(job({ ...indexed, ...spec }), pods);
    expect(deleted({}, pod("a", { index: 0 }), pod("b", { index: 3 }), pod("c"))).toEqual(["delete-pods b,c"]);
    const pods = [pod("a", { index: 0 }), pod("b", { index: 0 }), pod("c", { index: 1 })];
    expect(deleted({ parallelism: 1 }, ...pods)).toEqual(["delete-pods b,c"]);
    expect(deleted({ parallelism: 2 }, ...pods)).toEqual(["delete-pods b"]);
    expect(stepsOf(job({ completions: 9, parallelism: 2 }), [pod("a"), pod("b")])).toEqual([]);
  });

  test("have the first indexes that no pod has and that are not done", () => {
    const created = (spec: Partial<Job["spec"]>, status: JobStatus, ...pods: Pod[]) =>
      stepsOf(job({ ...indexed, ...spec }, status), pods);
    expect(created({}, {}, pod("a", { index: 1 }))).toEqual(['create [{"index":0},{"index":2}] after 1']);
    expect(created({ parallelism: 1 }, { succeeded: 1, completedIndexes: "0" })).toEqual([
      'create [{"index":1}] after 0',
    ]);
    const perIndex = { backoffLimitPerIndex: 1 };
    expect(created(perIndex, { failedIndexes: "0,2" })).toEqual(['create [{"index":1}] after 0']);
    const leaving = pod("a", { index: 0, deleted: true, tracked: false });
    expect(created({ parallelism: 1 }, {}, leaving)).toEqual(['create [{"index":0}] after 1']);
    expect(created({ parallelism: 1, podReplacementPolicy: "Failed" }, {}, leaving)).toEqual([]);
  });

  test("wait for nothing where none is missing, none can be created, or the last one succeeded", () => {
    const status = { failed: 1, startTime: at(100) };
    const counted = late("a", 4, { tracked: false });
    expect(planned(job({ parallelism: 1 }, status), [counted, pod("b")]).wait).toBeUndefined();
    const perIndex = { ...indexed, backoffLimitPerIndex: 1 };
    const held = planned(job(perIndex, { failedIndexes: "0,2", startTime: at(100) }), [pod("a", { index: 1 })]);
    expect([held.steps, held.wait]).toEqual([[], undefined]);
    const success = late("s", 2, { phase: "Succeeded", tracked: false });
    expect(stepsOf(job({}, { ...status, succeeded: 1 }), [counted, success])).toEqual(["create [{},{}] after 2"]);
    const fresh = planned(job({ ...perIndex, parallelism: 1 })).steps;
    expect(fresh).toStrictEqual([{ type: "create-pods", pods: [{ index: 0 }], after: 0 }]);
  });

  test("are released once what they count as is recorded, at once where they count as nothing", () => {
    const released = (spec: Partial<Job["spec"]>, status: JobStatus, ended: Pod) =>
      stepsOf(job({ ...spec, suspend: true }, { startTime: at(100), ...status }), [ended]);
    const yes = ["remove-finalizers a"];
    const success = (index?: number) => pod("a", { ...done, ...(index === undefined ? {} : { index }) });
    expect(released({}, {}, success())).toEqual([]);
    expect(released({}, { uncountedTerminatedPods: { succeeded: ["uid-a"] } }, success())).toEqual(yes);
    expect(released(indexed, { uncountedTerminatedPods: { succeeded: ["uid-a"] } }, success(1))).toEqual([]);
    expect(released(indexed, { completedIndexes: "1", succeeded: 1 }, success(1))).toEqual(yes);
    expect(released(indexed, {}, success(7))).toEqual(yes);
    const failure = (index?: number) => pod("a", { ...failed, code: 42, ...(index === undefined ? {} : { index }) });
    expect(released({}, {}, failure())).toEqual([]);
    expect(released({}, { uncountedTerminatedPods: { failed: ["uid-a"] } }, failure())).toEqual(yes);
    expect(released(indexed, {}, failure(1))).toEqual([]);
    expect(released(indexed, {}, failure(7))).toEqual(yes);
    const ignore = { action: "Ignore" as const, onExitCodes: { operator: "In" as const, values: [42] } };
    expect(released({ podFailurePolicy: { rules: [ignore] } }, {}, failure())).toEqual(yes);
  });

  test("wait for the back-off of the Job, and with a limit per index for that of their own index", () => {
    const counted = { tracked: false };
    const status = { failed: 1, startTime: at(100) };
    const whole = planned(job({}, status), [late("a", 4, counted)]);
    expect([whole.steps, whole.wait]).toEqual([[], { for: "the back-off or the deadline", until: now + 6_000 }]);
    const spec = { ...indexed, backoffLimitPerIndex: 5 };
    const held = (name: string, seconds: number, index: number) => late(name, seconds, { index, failures: 0 });
    const recorded = { uncountedTerminatedPods: { failed: ["uid-a", "uid-b", "uid-c"] }, startTime: at(100) };
    const some = [held("a", 4, 0), held("b", 10, 1), held("c", 2, 2)];
    expect(stepsOf(job(spec, recorded), some)).toEqual(['create [{"index":1,"failed":"uid-b"}] after 3']);
    const none = planned(job(spec, recorded), [held("a", 4, 0), held("b", 9, 1), held("c", 2, 2)]);
    expect([none.steps, none.wait?.until]).toEqual([[], now + 1_000]);
    const ignored = { "batch.kubernetes.io/job-index-ignored-failure-count": "2" };
    const again = held("a", 30, 0);
    const often = {
      ...again,
      metadata: { ...again.metadata, annotations: { ...again.metadata.annotations, ...ignored } },
    };
    expect(planned(job({ ...spec, completions: 1 }, recorded), [often]).wait?.until).toBe(now + 10_000);
    const deadline = planned(job({ activeDeadlineSeconds: 105 }, status), [late("a", 4, counted)]);
    expect(deadline.wait?.until).toBe(now + 5_000);
  });
});
