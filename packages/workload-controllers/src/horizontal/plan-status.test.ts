import { describe, expect, test } from "vitest";
import type { Condition, PlannedEvent } from "@causeway/kubernetes";
import { pod } from "../testing/objects.ts";
import type { AutoscalerStatus, MetricSpec } from "./autoscaler.ts";
import type { MeasuredMetric, Observed, TargetScale } from "./observed.ts";
import { failedScale, plan, withInitial } from "./plan.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const AT = NOW - 1000;
const before = "2026-03-01T11:00:00Z";

/** A queue of so many items, of which a pod shall have ten. */
function queue(items: number | undefined): MeasuredMetric {
  const target = { type: "AverageValue", averageValue: "10" };
  const spec = { type: "External", external: { metric: { name: "queue" }, target } } as MetricSpec;
  if (items === undefined) return { spec, reading: { of: "nothing", why: "no server" } };
  return { spec, reading: { of: "whole", value: items * 1000 } };
}

interface Given extends Partial<Omit<Observed, "scale">> {
  readonly replicas?: number;
  readonly scale?: Partial<TargetScale> | string;
  readonly spec?: Partial<Observed["autoscaler"]["spec"]>;
  readonly status?: AutoscalerStatus;
  readonly generation?: number;
}

function planned({ replicas = 3, scale = {}, spec, status, generation, ...rest }: Given = {}) {
  const target = { path: "/scale", uid: "u", resourceVersion: "7", replicas, statusReplicas: replicas };
  const metadata = { name: "web", namespace: "shop", ...(generation === undefined ? {} : { generation }) };
  const observed = {
    autoscaler: {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata,
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 10, ...spec },
      ...(status ? { status } : {}),
    },
    at: AT,
    scale: typeof scale === "string" ? scale : { ...target, selector: "app=web", ...scale },
    pods: [pod("a")],
    rivals: [],
    readings: [queue(30)],
    memory: { recommendations: [{ at: AT - 400_000, replicas: 3 }], added: [], removed: [] },
    ...rest,
  } as Observed;
  return plan(observed, NOW);
}

/** What the conditions say, without their times. */
const conditionsOf = (found: ReturnType<typeof plan>) =>
  Object.fromEntries(
    (found.status.status.conditions ?? []).map(({ type, status, reason, message }) => [
      type,
      [status, reason, message],
    ]),
  );
const warning = (reason: string, message: string): PlannedEvent => ({ type: "Warning", reason, message });
const compute = (message: string) => warning("FailedComputeMetricsReplicas", message);
const got = ["True", "SucceededGetScale", "the HPA controller was able to get the target's current scale"];

describe("an autoscaler's plan", () => {
  test("reads the metrics again fifteen seconds after it did, and never in the past", () => {
    expect(planned().wait).toEqual({ until: AT + 15_000, for: "the next read of metrics" });
    expect(planned({ at: NOW - 60_000 }).wait?.until).toBe(NOW);
  });

  test("has nothing to do where nothing changed since the status was published", () => {
    const settled = { desiredReplicas: 3 } as AutoscalerStatus;
    expect(planned({ settled, readings: [queue(90)] })).toMatchObject({
      steps: [],
      status: { status: settled },
      events: [],
    });
  });

  test("of a target whose scale cannot be read has a warning, and the sizes of before", () => {
    const status = { currentReplicas: 4, desiredReplicas: 5, lastScaleTime: before } as AutoscalerStatus;
    const found = planned({ scale: "no such Deployment", status });
    expect([found.steps, found.events]).toEqual([[], [warning("FailedGetScale", "no such Deployment")]]);
    expect(found.status.status).toMatchObject({ ...status, currentMetrics: null });
    expect(conditionsOf(found)).toEqual({
      AbleToScale: [
        "False",
        "FailedGetScale",
        "the HPA controller was unable to get the target's current scale: no such Deployment",
      ],
    });
  });

  const above = "external metric queue(nil) above target";
  test.each<[string, Given, number, string]>([
    ["grows", { readings: [queue(60)] }, 6, above],
    ["grows by the metric that wants most", { readings: [queue(40), queue(60), queue(50)] }, 6, above],
    ["grows although one metric is missing", { readings: [queue(undefined), queue(60)] }, 6, above],
    ["shrinks", { readings: [queue(20)] }, 2, "All metrics below target"],
    ["is above its most", { replicas: 12 }, 10, "Current number of replicas above Spec.MaxReplicas"],
    [
      "is below its least",
      { replicas: 2, spec: { minReplicas: 4 } },
      4,
      "Current number of replicas below Spec.MinReplicas",
    ],
  ])("of a target that %s writes its scale, and reports it once it is written", (_what, given, to, reason) => {
    const asked = planned(given);
    const [step] = asked.steps;
    expect(step).toMatchObject({ type: "scale", target: { path: "/scale", resourceVersion: "7" }, to, reason });
    expect(asked.events).toEqual([]);
    expect(asked.status.status.lastScaleTime).toBeUndefined();
    const done = planned({ ...given, scaledTo: to });
    expect(done.steps).toEqual([]);
    const message = `New size: ${to}; reason: ${reason}`;
    expect(done.events?.at(-1)).toEqual({ type: "Normal", reason: "SuccessfulRescale", message });
    expect(done.status.status).toMatchObject({ lastScaleTime: "2026-03-01T12:00:00Z", desiredReplicas: to });
    expect(conditionsOf(done)["AbleToScale"]).toEqual([
      "True",
      "SucceededRescale",
      `the HPA controller was able to update the target scale to ${to}`,
    ]);
  });

  test("of a target that has its size reports nothing, what it read, and when it last changed", () => {
    const found = planned({ status: { lastScaleTime: before } as AutoscalerStatus, generation: 4 });
    expect([found.steps, found.events]).toEqual([[], []]);
    expect(found.status.recommendation).toBe(3);
    const current = { averageValue: "10" };
    expect(found.status.status).toEqual({
      observedGeneration: 4,
      lastScaleTime: before,
      currentReplicas: 3,
      desiredReplicas: 3,
      currentMetrics: [{ type: "External", external: { metric: { name: "queue" }, current } }],
      conditions: expect.any(Array) as Condition[],
    });
    expect(conditionsOf(found)).toEqual({
      AbleToScale: ["True", "ReadyForNewScale", "recommended size matches current size"],
      ScalingActive: [
        "True",
        "ValidMetricFound",
        "the HPA was able to successfully calculate a replica count from external metric queue(nil)",
      ],
      ScalingLimited: ["False", "DesiredWithinRange", "the desired count is within the acceptable range"],
    });
    expect(planned({ scaledTo: 3 }).status.status.lastScaleTime).toBeUndefined();
    expect(planned().status.status).not.toHaveProperty("observedGeneration");
  });

  test("remembers what the metrics requested, not what was possible", () => {
    const found = planned({ readings: [queue(500)] });
    expect([found.steps[0]?.to, found.status.recommendation]).toEqual([6, 50]);
    expect(conditionsOf(found)["ScalingLimited"]?.slice(0, 2)).toEqual(["True", "ScaleUpLimit"]);
    expect(planned({ replicas: 12 }).status).not.toHaveProperty("recommendation");
    expect(planned({ readings: [queue(undefined)] }).status).not.toHaveProperty("recommendation");
  });

  test.each<[string, Given["spec"], string[] | undefined]>([
    ["at zero is switched off", {}, ["False", "ScalingDisabled"]],
    ["at zero that may be there is not", { minReplicas: 0 }, ["True", "ValidMetricFound"]],
  ])("of a target %s", (_what, spec, active) => {
    const found = planned({ replicas: 0, readings: [queue(0)], ...(spec ? { spec } : {}) });
    expect([found.steps, found.events]).toEqual([[], []]);
    expect(conditionsOf(found)["ScalingActive"]?.slice(0, 2)).toEqual(active);
    if (active?.[0] === "False") {
      const message = "scaling is disabled since the replica count of the target is zero";
      expect(conditionsOf(found)["ScalingActive"]?.[2]).toBe(message);
    }
  });

  const missing = "the HPA target's scale is missing a selector";
  const shared = "pods by selector app=web are controlled by multiple HPAs: [shop/web shop/other shop/more]";
  const failed = "the HPA was unable to compute the replica count: no server";
  const summary = (bad: number, all: number) =>
    `invalid metrics (${bad} invalid out of ${all}), first error is: no server`;
  const unread = warning("FailedGetExternalMetric", "no server");
  test.each<[string, Given, [string, string], PlannedEvent[], number]>([
    [
      "whose target has no selector",
      { scale: { selector: "" } },
      ["InvalidSelector", missing],
      [warning("SelectorRequired", missing), compute(missing)],
      0,
    ],
    [
      "that selects the pods of others",
      { rivals: ["other", "more"] },
      ["AmbiguousSelector", shared],
      [warning("AmbiguousSelector", shared), compute(shared)],
      0,
    ],
    [
      "without metrics",
      { readings: [queue(undefined), queue(undefined)] },
      ["FailedGetExternalMetric", failed],
      [unread, unread, compute(summary(2, 2))],
      0,
    ],
    [
      "with one metric of two that would shrink the target",
      { readings: [queue(20), queue(undefined)] },
      ["FailedGetExternalMetric", failed],
      [unread, compute(summary(1, 2))],
      1,
    ],
  ])("%s changes no size, and a warning says why", (_what, given, [reason, message], events, shown) => {
    const found = planned(given);
    expect([found.steps, found.events]).toEqual([[], events]);
    expect(conditionsOf(found)).toEqual({ AbleToScale: got, ScalingActive: ["False", reason, message] });
    expect(found.status.status).toMatchObject({ currentReplicas: 3, desiredReplicas: 3 });
    expect(found.status.status.currentMetrics ?? []).toHaveLength(shown);
  });

  test("with one metric of two that keeps the target's size follows it, and reports the other", () => {
    const found = planned({ readings: [queue(undefined), queue(30)] });
    expect([found.steps, found.events]).toEqual([[], [unread]]);
    expect(conditionsOf(found)["ScalingActive"]?.[0]).toBe("True");
  });
});

test("a write of the scale that is refused is in the status, next to what was found out", () => {
  const { status } = planned({ readings: [queue(60)] }).status;
  const failed = failedScale(status, "forbidden", NOW);
  expect(failed).toMatchObject({ desiredReplicas: 6, currentReplicas: 3 });
  const able = failed.conditions?.find(({ type }) => type === "AbleToScale");
  const message = "the HPA controller was unable to update the target scale: forbidden";
  expect(able).toMatchObject({ status: "False", reason: "FailedUpdateScale", message });
  expect(failed.conditions).toHaveLength(3);
});

test("the size at the first read counts as recommended, later ones only as they are", () => {
  const memory = { recommendations: [], added: [], removed: [] };
  expect(withInitial({ memory, at: AT }, 3)).toEqual({ ...memory, recommendations: [{ at: AT, replicas: 3 }] });
  const known = { ...memory, recommendations: [{ at: 1, replicas: 9 }] };
  expect(withInitial({ memory: known, at: AT }, 3)).toBe(known);
});
