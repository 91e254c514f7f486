import type { Pod } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Autoscaler, MetricSpec, ScalingRules } from "./autoscaler.ts";
import { limited } from "./limits.ts";
import type { Memory, MeasuredMetric, Observed, TargetScale, Usage } from "./observed.ts";
import { plan } from "./plan.ts";
import { quantityText } from "./amounts.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const NONE: Memory = { recommendations: [], added: [], removed: [] };

const iso = (secondsAgo: number) => new Date(NOW - secondsAgo * 1000).toISOString();

interface PodOf {
  readonly cpu?: number | undefined;
  readonly request?: string | undefined;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly age?: number;
  readonly changed?: number;
  readonly deleted?: boolean;
}

/** `cpu`: thousandths of a processor that it uses. */
function pod(index: number, { request = "1", phase = "Running", ready = true, age = 3600, ...rest }: PodOf): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `web-${index}`, namespace: "default", ...(rest.deleted ? { deletionTimestamp: iso(1) } : {}) },
    spec: {
      containers: [{ name: "web", image: "web:1", resources: { requests: request === "" ? {} : { cpu: request } } }],
    },
    status: {
      phase,
      startTime: iso(age),
      conditions: [
        { type: "Ready", status: ready ? "True" : "False", lastTransitionTime: iso(rest.changed ?? age - 5) },
      ],
    },
  } as unknown as Pod;
}

function usage(pods: readonly PodOf[]): ReadonlyMap<string, Usage> {
  const figures = pods.flatMap(({ cpu }, index) => (cpu === undefined ? [] : [[`web-${index}`, cpu] as const]));
  return new Map(figures.map(([name, value]) => [name, { value, time: NOW, window: 15_000 }]));
}

const byCpu = (percent: number): MetricSpec => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});

interface Case {
  readonly spec?: Partial<Autoscaler["spec"]>;
  readonly replicas?: number;
  readonly pods?: readonly PodOf[];
  readonly readings?: readonly MeasuredMetric[];
  readonly memory?: Memory;
  readonly scale?: Partial<TargetScale> | string;
  readonly rivals?: readonly string[];
  readonly scaledTo?: number;
}

function observed({ spec, pods = [], scale, ...rest }: Case): Observed {
  const { replicas = pods.length, memory = NONE, rivals = [], scaledTo } = rest;
  const { readings = [{ spec: byCpu(50), reading: { of: "pods", usage: usage(pods) } }] } = rest;
  const target = {
    path: "/scale",
    uid: "u",
    resourceVersion: "7",
    replicas,
    statusReplicas: replicas,
    selector: "app=web",
  };
  return {
    autoscaler: {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", namespace: "default" },
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 10, ...spec },
    },
    at: NOW,
    scale: typeof scale === "string" ? scale : { ...target, ...scale },
    pods: pods.map((each, index) => pod(index, each)),
    rivals,
    readings,
    memory,
    ...(scaledTo === undefined ? {} : { scaledTo }),
  };
}

const same = (count: number, of: PodOf): PodOf[] => Array.from({ length: count }, () => of);
const sizeOf = (given: Case): number | undefined => plan(observed(given), NOW).steps[0]?.to;
const conditionsOf = (given: Case): string[] =>
  (plan(observed(given), NOW).status.status.conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  );

describe("the size that processor use asks for", () => {
  test.each<[title: string, given: Case, to: number | undefined]>([
    ["twice the target asks for twice the pods", { pods: same(3, { cpu: 1000 }) }, 6],
    ["within a tenth of the target nothing changes", { pods: same(3, { cpu: 545 }) }, undefined],
    ["a little more is one pod more", { pods: same(3, { cpu: 600 }) }, 4],
    ["much more is limited to twice as many", { pods: same(3, { cpu: 3000 }) }, 6],
    ["one pod may become four at once", { pods: [{ cpu: 5000 }] }, 4],
    ["maxReplicas is never exceeded", { pods: same(3, { cpu: 1000 }), spec: { maxReplicas: 5 } }, 5],
    [
      "a pod that starts counts as idle",
      { pods: [...same(2, { cpu: 1000 }), { cpu: 1000, age: 60, ready: false, changed: 60 }] },
      4,
    ],
    ["a pod that is Pending counts as idle", { pods: [...same(2, { cpu: 1000 }), { phase: "Pending" }] }, 4],
    [
      "pods that are being deleted do not count",
      { pods: [...same(2, { cpu: 1000 }), { cpu: 1, deleted: true }], replicas: 2 },
      4,
    ],
    ["a pod without a figure counts as idle where more is requested", { pods: [...same(3, { cpu: 1000 }), {}] }, 6],
    ["above maxReplicas the metrics are not read", { pods: same(12, { cpu: 500 }) }, 10],
    ["below minReplicas the metrics are not read", { pods: same(1, { cpu: 500 }), spec: { minReplicas: 3 } }, 3],
    ["a target of size zero is switched off", { replicas: 0, readings: [] }, undefined],
  ])("%s", (_title, given, to) => {
    expect(sizeOf(given)).toBe(to);
  });

  test("less use shrinks the target only after five minutes", () => {
    const pods = same(4, { cpu: 100 });
    const since = (seconds: number): Memory => ({
      ...NONE,
      recommendations: [{ at: NOW - seconds * 1000, replicas: 4 }],
    });
    expect(sizeOf({ pods, memory: since(299) })).toBeUndefined();
    expect(sizeOf({ pods, memory: since(301) })).toBe(1);
    // The first reconcile counts as a recommendation of the size that there is.
    expect(sizeOf({ pods })).toBeUndefined();
    expect(conditionsOf({ pods })).toContain("AbleToScale=True ScaleDownStabilized");
  });

  test("a pod without a request has no share of it", () => {
    const { status } = plan(observed({ pods: same(2, { cpu: 1000, request: "" }) }), NOW).status;
    const message = status.conditions?.find(({ type }) => type === "ScalingActive")?.message;
    expect(message).toBe(
      "the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container web of Pod web-0",
    );
  });

  test("a pod without a figure keeps the target from shrinking below what it may use", () => {
    const memory: Memory = { ...NONE, recommendations: [{ at: NOW - 301_000, replicas: 4 }] };
    expect(sizeOf({ pods: [...same(3, { cpu: 100 }), {}], memory })).toBe(3);
  });
});

describe("the status of an autoscaler", () => {
  const busy = same(3, { cpu: 1000 });
  test.each<[title: string, given: Case, conditions: string[]]>([
    [
      "grows",
      { pods: busy, scaledTo: 6 },
      [
        "AbleToScale=True SucceededRescale",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=False DesiredWithinRange",
      ],
    ],
    ["has no target", { scale: 'deployments.apps "web" not found' }, ["AbleToScale=False FailedGetScale"]],
    [
      "shares pods with another one",
      { pods: busy, rivals: ["other"] },
      ["AbleToScale=True SucceededGetScale", "ScalingActive=False AmbiguousSelector"],
    ],
    [
      "has a target without a selector",
      { pods: busy, scale: { selector: "" } },
      ["AbleToScale=True SucceededGetScale", "ScalingActive=False InvalidSelector"],
    ],
    [
      "has no metrics",
      { pods: busy, readings: [{ spec: byCpu(50), reading: { of: "nothing", why: "failed" } }] },
      ["AbleToScale=True SucceededGetScale", "ScalingActive=False FailedGetResourceMetric"],
    ],
    [
      "wants more than maxReplicas",
      { pods: busy, spec: { maxReplicas: 4 }, scaledTo: 4 },
      [
        "AbleToScale=True SucceededRescale",
        "ScalingActive=True ValidMetricFound",
        "ScalingLimited=True TooManyReplicas",
      ],
    ],
  ])("reports an autoscaler that %s", (_title, given, conditions) => {
    expect(conditionsOf(given)).toEqual(conditions);
  });

  test("comes with events that name the new size and the metric", () => {
    expect(plan(observed({ pods: busy, scaledTo: 6 }), NOW).events).toEqual([
      {
        type: "Normal",
        reason: "SuccessfulRescale",
        message: "New size: 6; reason: cpu resource utilization (percentage of request) above target",
      },
    ]);
  });

  test("lets the target grow, but not shrink, with one of two metrics missing", () => {
    const lost: MeasuredMetric = { spec: byCpu(50), reading: { of: "nothing", why: "away" } };
    const found = (cpu: number): MeasuredMetric => ({
      spec: byCpu(50),
      reading: { of: "pods", usage: usage(same(3, { cpu })) },
    });
    const old: Memory = { ...NONE, recommendations: [{ at: NOW - 301_000, replicas: 3 }] };
    expect(sizeOf({ pods: busy, readings: [lost, found(1000)] })).toBe(6);
    expect(sizeOf({ pods: busy, readings: [lost, found(100)], memory: old })).toBeUndefined();
    expect(sizeOf({ pods: busy, readings: [found(100)], memory: old })).toBe(1);
  });
});

describe("a metric of another kind decides the size:", () => {
  const external = (target: object): MetricSpec =>
    ({ type: "External", external: { metric: { name: "queue" }, target } }) as MetricSpec;
  const whole = (spec: MetricSpec, value: number): MeasuredMetric[] => [{ spec, reading: { of: "whole", value } }];
  test.each<[title: string, given: Case, to: number | undefined]>([
    [
      "a queue of 30 with 10 for each pod",
      { readings: whole(external({ type: "AverageValue", averageValue: "10" }), 30_000) },
      3,
    ],
    ["a value of twice the target", { readings: whole(external({ type: "Value", value: "100" }), 200_000) }, 4],
    [
      "requests of each pod",
      {
        readings: [
          {
            spec: {
              type: "Pods",
              pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "500m" } },
            },
            reading: { of: "pods", usage: usage(same(2, { cpu: 900 })) },
          },
        ],
      },
      4,
    ],
    [
      "a target of zero is no reason to change anything",
      { readings: whole(external({ type: "Value", value: "0" }), 0), spec: { minReplicas: 1 } },
      undefined,
    ],
  ])("%s", (_title, given, to) => {
    expect(sizeOf({ pods: same(2, { cpu: 1 }), ...given })).toBe(to);
  });

  test("from zero, where minReplicas is 0", () => {
    const readings = whole(external({ type: "AverageValue", averageValue: "10" }), 25_000);
    expect(sizeOf({ replicas: 0, spec: { minReplicas: 0 }, readings })).toBe(3);
  });
});

describe("the behavior of an autoscaler allows", () => {
  const rules = (policies: ScalingRules["policies"], rest: ScalingRules = {}): ScalingRules => ({
    ...rest,
    ...(policies ? { policies } : {}),
  });
  const wish = (spec: Autoscaler["spec"]["behavior"], memory: Memory, [current, desired]: [number, number]) => {
    const { autoscaler } = observed({ spec: { maxReplicas: 100, ...(spec ? { behavior: spec } : {}) } });
    return limited(autoscaler, memory, { current, desired, now: NOW });
  };
  test.each<
    [title: string, behavior: Autoscaler["spec"]["behavior"], memory: Memory, sizes: [number, number], to: number]
  >([
    ["two pods a minute", { scaleUp: rules([{ type: "Pods", value: 2, periodSeconds: 60 }]) }, NONE, [10, 50], 12],
    [
      "two pods a minute, one of which was added",
      { scaleUp: rules([{ type: "Pods", value: 2, periodSeconds: 60 }]) },
      { ...NONE, added: [{ at: NOW - 30_000, change: 1 }] },
      [11, 50],
      12,
    ],
    ["half as many more", { scaleUp: rules([{ type: "Percent", value: 50, periodSeconds: 60 }]) }, NONE, [10, 50], 15],
    [
      "the slower of two policies",
      {
        scaleUp: rules(
          [
            { type: "Pods", value: 2, periodSeconds: 60 },
            { type: "Percent", value: 50, periodSeconds: 60 },
          ],
          { selectPolicy: "Min" },
        ),
      },
      NONE,
      [10, 50],
      12,
    ],
    ["no growth with policy Disabled", { scaleUp: { selectPolicy: "Disabled" } }, NONE, [10, 50], 10],
    ["no shrinking with policy Disabled", { scaleDown: { selectPolicy: "Disabled" } }, NONE, [10, 1], 10],
    [
      "shrinking by a tenth at once",
      { scaleDown: rules([{ type: "Percent", value: 10, periodSeconds: 60 }], { stabilizationWindowSeconds: 0 }) },
      { ...NONE, recommendations: [{ at: NOW - 1000, replicas: 10 }] },
      [10, 1],
      9,
    ],
    [
      "growth only to what was requested during a minute",
      { scaleUp: rules([{ type: "Percent", value: 500, periodSeconds: 60 }], { stabilizationWindowSeconds: 60 }) },
      { ...NONE, recommendations: [{ at: NOW - 30_000, replicas: 12 }] },
      [10, 50],
      12,
    ],
  ])("%s", (_title, behavior, memory, sizes, to) => {
    expect(wish(behavior, memory, sizes).replicas).toBe(to);
  });

  test("only sizes between minReplicas and maxReplicas, whatever is measured, and no status that is not a number", () => {
    const pods = fc.array(
      fc.record({
        cpu: fc.option(fc.nat(10_000), { nil: undefined }),
        ready: fc.boolean(),
        phase: fc.constantFrom("Running", "Pending", "Failed"),
        age: fc.nat(1000),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(pods, fc.integer({ min: 0, max: 4 }), fc.integer({ min: 4, max: 9 }), (given, least, most) => {
        const before = observed({ pods: given, spec: { minReplicas: least, maxReplicas: most } });
        const { steps, status } = plan(before, NOW);
        const [step] = steps;
        if (step) {
          expect(step.to).toBeGreaterThanOrEqual(least);
          expect(step.to).toBeLessThanOrEqual(most);
          // Once performed, nothing is left to do.
          expect(plan({ ...before, scaledTo: step.to }, NOW).steps).toEqual([]);
        }
        expect(JSON.stringify(status)).not.toMatch(/NaN|Infinity|null,"value/);
      }),
      { numRuns: 300 },
    );
  });
});

test("quantities are written in their shortest decimal form", () => {
  expect([0, 1, 999, 1000, 1500, 2_000_000, 52_428_800_000].map(quantityText)).toEqual([
    "0",
    "1m",
    "999m",
    "1",
    "1500m",
    "2k",
    "52428800",
  ]);
});
