import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Job, JobStatus, Pod } from "@causeway/kubernetes";
import { done, failed, job, planned, pod } from "../testing/jobs.ts";
import { at, now } from "../testing/objects.ts";
import { Indexes } from "./intervals.ts";
import { newPod } from "./new-pods.ts";
import { failureCountAnnotation, indexAnnotation, trackingFinalizer } from "./pod-facts.ts";

const reasonOf = (object: Job, pods: readonly Pod[]) =>
  planned(object, pods).status?.conditions?.find(
    ({ type }) => type === "FailureTarget" || type === "SuccessCriteriaMet",
  )?.reason;
const readyOf = (pods: readonly Pod[]) =>
  pods.filter(({ status }) => status?.conditions?.some(({ status: is }) => is === "True")).length;

describe("a Job", () => {
  const started = { active: 2, ready: 0, startTime: at(50) };
  const delays: [string, JobStatus, Pod[], number | undefined][] = [
    ["became ready just now", started, [pod("a", { ready: 1 }), pod("b", { ready: 100 })], now + 1_000],
    ["has been ready for two seconds", started, [pod("a", { ready: 2 }), pod("b", { ready: 100 })], undefined],
    [
      "became ready while another one started",
      { ...started, active: 1 },
      [pod("a", { ready: 0 }), pod("b")],
      undefined,
    ],
    [
      "is not ready any more while another one became ready",
      { ...started, ready: 2 },
      [pod("a", { ready: 0 }), pod("b", { ready: undefined })],
      undefined,
    ],
  ];
  test.each(delays)(
    "reports how many pods are ready two seconds later, unless more changes: one %s",
    (_, status, pods, until) => {
      const found = planned(job({}, status), pods);
      expect(found.steps).toEqual([]);
      expect(found.wait?.until).toBe(until);
      expect(found.status?.ready).toBe(until === undefined ? readyOf(pods) : status.ready);
    },
  );

  test("creates pods up to its parallelism, with the finalizer", () => {
    const { steps } = planned(job(), [pod("a")]);
    expect(steps).toEqual([{ type: "create-pods", pods: [{}], after: 1 }]);
    expect(newPod(job(), {}, []).metadata).toMatchObject({
      finalizers: [trackingFinalizer],
      generateName: "work-",
    });
  });

  test("creates a large number of pods in steps that differ, so that none is held back as a repeated one", () => {
    const large = job({ parallelism: 2_000_000_000, completions: 2_000_000_000 });
    const [first] = planned(large).steps;
    const [next] = planned(large, [pod("a"), pod("b")]).steps;
    expect(first).toMatchObject({ type: "create-pods", after: 0 });
    expect(first?.type === "create-pods" && first.pods.length).toBe(500);
    expect(next).not.toEqual(first);
  });

  test("finds the missing indexes of a huge Job whose status says that nearly all are done", () => {
    const huge = { completionMode: "Indexed" as const, completions: 2_147_483_647, parallelism: 3 };
    const status = { completedIndexes: "0-1000000000,1000000002-2147483645", succeeded: 2_147_483_645 };
    const { steps, status: written } = planned(job(huge, status));
    expect(steps).toEqual([
      { type: "create-pods", pods: [{ index: 1_000_000_001 }, { index: 2_147_483_646 }], after: 0 },
    ]);
    expect(written).toMatchObject(status);
  });

  test("creates no more pods than completions are missing", () => {
    expect(planned(job({}, { succeeded: 2 }), [pod("a")]).steps).toEqual([]);
  });

  test("records an ended pod before it takes off the finalizer, and counts it after", () => {
    const ended = pod("a", done);
    const first = planned(job({ completions: 1 }), [ended]);
    expect(first.steps).toEqual([]);
    expect(first.status?.uncountedTerminatedPods).toEqual({ succeeded: ["uid-a"] });
    expect(first.status?.succeeded).toBe(0);
    const recorded = first.status ?? {};
    const second = planned(job({ completions: 1 }, recorded), [ended]);
    expect(second.steps).toMatchObject([{ type: "remove-finalizers", targets: [{ name: "a" }] }]);
    const third = planned(job({ completions: 1 }, recorded), [pod("a", { ...done, tracked: false })]);
    expect(third.status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
    expect(third.status?.conditions?.map(({ type }) => type)).toEqual(["SuccessCriteriaMet", "Complete"]);
    expect(third.events).toEqual([{ type: "Normal", reason: "Completed", message: "Job completed" }]);
  });

  test("creates the next pods once those that ended are recorded, free and counted", () => {
    const first = planned(job(), [pod("a", done), pod("b")]);
    expect(first.steps).toEqual([]);
    expect(first.wait?.until).toBe(now);
    expect(first.status?.uncountedTerminatedPods).toEqual({ succeeded: ["uid-a"] });
    const second = planned(job({}, first.status), [pod("a", done), pod("b")]);
    expect(second.steps.map(({ type }) => type)).toEqual(["remove-finalizers"]);
    const free = [pod("a", { ...done, tracked: false }), pod("b")];
    const third = planned(job({}, first.status), free);
    expect([third.steps, third.wait?.until, third.status?.succeeded]).toEqual([[], now, 1]);
    expect(planned(job({}, third.status), free).steps.map(({ type }) => type)).toEqual(["create-pods"]);
  });

  test("does nothing more once it is finished, except for finalizers", () => {
    const finished = job({}, { conditions: [{ type: "Complete", status: "True" }] });
    expect(planned(finished, []).steps).toEqual([]);
    expect(planned(finished, [pod("a", done)]).steps).toMatchObject([{ type: "remove-finalizers" }]);
  });

  test("waits 10 s after a failure, and twice as long after each one more", () => {
    const late = (name: string, seconds: number): Pod => {
      const base = pod(name, failed);
      const state = { terminated: { exitCode: 1, finishedAt: at(seconds) } };
      return { ...base, status: { ...base.status, containerStatuses: [{ name: "work", state }] } };
    };
    expect(planned(job(), [late("a", 4)]).wait?.until).toBe(now + 6_000);
    expect(planned(job(), [late("a", 30), late("b", 4)]).wait?.until).toBe(now + 16_000);
    const counted = { ...late("a", 10), metadata: pod("a", { tracked: false }).metadata };
    expect(planned(job({}, { failed: 1 }), [counted]).steps).toMatchObject([{ type: "create-pods" }]);
  });

  test("suspended: deletes its pods uncounted", () => {
    const { steps, status } = planned(job({ suspend: true }), [pod("a")]);
    expect(steps).toMatchObject([{ type: "delete-pods", uncounted: true, targets: [{ name: "a" }] }]);
    expect(status?.conditions).toMatchObject([{ type: "Suspended", status: "True", reason: "JobSuspended" }]);
  });

  test("deletes active pods when it fails, and ends only when they are gone and counted", () => {
    const pods = [pod("a", failed), pod("b", failed), pod("c", failed), pod("d")];
    const first = planned(job(), pods);
    expect(first.steps).toMatchObject([{ type: "delete-pods", uncounted: false, targets: [{ name: "d" }] }]);
    expect(first.status?.conditions?.map(({ type }) => type)).toEqual(["FailureTarget"]);
    const second = planned(job({}, first.status), [pod("d", { deleted: true, tracked: false })]);
    expect(second.status?.conditions?.map(({ type }) => type)).toEqual(["FailureTarget"]);
    const third = planned(job({}, first.status), []);
    expect(third.status?.failed).toBe(3);
    expect(third.status?.conditions?.map(({ type }) => type)).toEqual(["FailureTarget", "Failed"]);
  });

  const rule = (action: "FailJob" | "Ignore" | "Count" | "FailIndex") => ({
    podFailurePolicy: { rules: [{ action, onExitCodes: { operator: "In" as const, values: [42] } }] },
  });
  const three = ["a", "b", "c"].map((name) => pod(name, { ...failed, code: 42 }));
  const indexed = { completionMode: "Indexed" as const, completions: 3, backoffLimit: 100 };
  const rows: [string, Partial<Job["spec"]>, readonly Pod[], JobStatus, string | undefined][] = [
    ["more failures than backoffLimit", {}, three, {}, "BackoffLimitExceeded"],
    ["ignored failures", rule("Ignore"), three, {}, undefined],
    ["a failure that fails the Job", rule("FailJob"), three.slice(0, 1), {}, "PodFailurePolicy"],
    ["an exceeded deadline", { activeDeadlineSeconds: 60 }, [], { startTime: at(61) }, "DeadlineExceeded"],
    [
      "all indexes done, one failed",
      { ...indexed, backoffLimitPerIndex: 0 },
      [pod("a", { ...failed, index: 1 })],
      { completedIndexes: "0,2" },
      "FailedIndexes",
    ],
    [
      "too many failed indexes",
      { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 },
      [pod("a", { ...failed, index: 1 })],
      {},
      "MaxFailedIndexesExceeded",
    ],
    [
      "a failure that fails its index",
      { ...indexed, ...rule("FailIndex"), backoffLimitPerIndex: 5, maxFailedIndexes: 0 },
      [pod("a", { ...failed, index: 1, code: 42 })],
      {},
      "MaxFailedIndexesExceeded",
    ],
    [
      "a success policy that is met",
      { ...indexed, successPolicy: { rules: [{ succeededIndexes: "1" }] } },
      [pod("a", { ...done, index: 1 })],
      {},
      "SuccessPolicy",
    ],
    [
      "a success policy that is not met",
      { ...indexed, successPolicy: { rules: [{ succeededCount: 2 }] } },
      [pod("a", { ...done, index: 1 })],
      {},
      undefined,
    ],
  ];
  test.each(rows)("ends for the right reason: %s", (_title, spec, pods, status, reason) => {
    expect(reasonOf(job(spec, status), pods)).toBe(reason);
  });

  test("keeps the last failed pod of an index until its replacement exists, which has its count of failures", () => {
    const spec = { ...indexed, parallelism: 1, backoffLimitPerIndex: 3 };
    const failure = pod("a", { ...failed, index: 0, failures: 1 });
    const status = { uncountedTerminatedPods: { failed: ["uid-a"] } };
    const { steps } = planned(job(spec, status), [failure]);
    expect(steps).toMatchObject([{ type: "create-pods", pods: [{ index: 0, failed: "uid-a" }] }]);
    const { annotations } = newPod(job(spec, status), { index: 0, failed: "uid-a" }, [failure]).metadata;
    expect(annotations).toMatchObject({ [failureCountAnnotation]: "2", [indexAnnotation]: "0" });
    const replaced = planned(job(spec, status), [failure, pod("b", { index: 0, failures: 2 })]);
    expect(replaced.steps).toMatchObject([{ type: "remove-finalizers", targets: [{ name: "a" }] }]);
  });

  test("gives no pod to the index of one that is being deleted if only pods that ended are replaced", () => {
    const leaving = [pod("a", { index: 0, deleted: true }), pod("b", { index: 1 })];
    const wide = { ...indexed, parallelism: 3, completions: 3 };
    const indexes = (spec: Partial<Job["spec"]>) =>
      planned(job(spec), leaving).steps.flatMap((step) =>
        step.type === "create-pods" ? step.pods.map(({ index }) => index) : [],
      );
    expect(indexes({ ...wide, podReplacementPolicy: "Failed" })).toEqual([2]);
  });

  test("deletes the second pod of an index", () => {
    const spec = { ...indexed, parallelism: 3 };
    const pods = [pod("a", { index: 0 }), pod("b", { index: 0, ready: undefined }), pod("c", { index: 1 })];
    expect(planned(job(spec), pods).steps).toMatchObject([{ type: "delete-pods", targets: [{ name: "b" }] }]);
  });
});

describe("a set of indexes", () => {
  const some = fc.uniqueArray(fc.nat(60));

  test("reads what it writes, and has what it was made of", () => {
    fc.assert(
      fc.property(some, (indexes) => {
        const set = Indexes.of(indexes);
        expect(Indexes.parse(String(set), 61)).toEqual(set);
        expect(set.size).toBe(indexes.length);
        for (let index = 0; index <= 60; index++) expect(set.has(index)).toBe(indexes.includes(index));
      }),
    );
  });

  test("joins, intersects and finds gaps as a set of numbers does", () => {
    fc.assert(
      fc.property(some, some, fc.nat(60), (one, other, from) => {
        const [a, b] = [Indexes.of(one), Indexes.of(other)];
        expect(a.union(b)).toEqual(Indexes.of(new Set([...one, ...other])));
        expect(a.intersection(b)).toEqual(Indexes.of(one.filter((index) => other.includes(index))));
        let gap = from;
        while (one.includes(gap)) gap++;
        expect(a.gapFrom(from)).toBe(gap);
      }),
    );
  });

  test.each([
    ["0,2-4,7,8", 9, "0,2-4,7,8"],
    ["4,3,3-3,x,2", 9, "2-4"],
    ["1-4294967295", 3, "1,2"],
    ["5-2", 9, ""],
    ["9", 9, ""],
  ])("reads %j below %i as %j", (text, limit, written) => {
    expect(String(Indexes.parse(text, limit))).toBe(written);
  });
});
