import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BudgetStatus, PodDisruptionBudget } from "../objects/budget.ts";
import { at, now, pod, type PodFacts } from "../testing/objects.ts";
import type { Observed, Scale } from "./gather.ts";
import { plan } from "./plan.ts";

const owner = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "web", namespace: "default", uid: "set" },
};
const budget = (spec: PodDisruptionBudget["spec"], status?: BudgetStatus): PodDisruptionBudget => ({
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { name: "web", namespace: "default", uid: "budget", generation: 2 },
  spec: { selector: { matchLabels: { app: "web" } }, ...spec },
  ...(status ? { status } : {}),
});
const pods = (count: number, facts: PodFacts = {}) =>
  Array.from({ length: count }, (_, i) => pod(`web-${i}`, { owner, ...facts }));
const observed = (
  object: PodDisruptionBudget,
  found: Observed["pods"],
  scale: Scale | string = { uid: "set", replicas: 4 },
) => ({
  budget: object,
  pods: found,
  scales: new Map([["set", scale]]),
});
const written = (seen: Observed): BudgetStatus => {
  const [step] = plan(seen, now).steps;
  if (!step) throw new Error("nothing is written");
  return step.status;
};
const counts = ({ expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed }: BudgetStatus) => [
  expectedPods,
  desiredHealthy,
  currentHealthy,
  disruptionsAllowed,
];

describe("a PodDisruptionBudget", () => {
  const unready = { ready: undefined };
  const rows: [string, PodDisruptionBudget["spec"], Observed["pods"], number[]][] = [
    ["minAvailable 2 of 4 healthy pods", { minAvailable: 2 }, pods(4), [4, 2, 4, 2]],
    ["an absolute minAvailable counts the pods that are there", { minAvailable: 2 }, pods(3), [3, 2, 3, 1]],
    ["minAvailable in percent of the scale, rounded up", { minAvailable: "60%" }, pods(4), [4, 3, 4, 1]],
    ["maxUnavailable 1 of 4", { maxUnavailable: 1 }, pods(4), [4, 3, 4, 1]],
    ["maxUnavailable counts pods that are missing", { maxUnavailable: 1 }, pods(3), [4, 3, 3, 0]],
    ["maxUnavailable in percent, rounded up", { maxUnavailable: "30%" }, pods(4), [4, 2, 4, 2]],
    ["more than all", { maxUnavailable: 9 }, pods(4), [4, 0, 4, 4]],
    ["pods that are not ready", { minAvailable: 1 }, [...pods(2), pod("web-9", { owner, ...unready })], [3, 1, 2, 1]],
    [
      "pods that are being deleted",
      { minAvailable: 1 },
      [...pods(2), pod("x", { owner, deleted: true })],
      [3, 1, 2, 1],
    ],
    ["fewer than it needs", { minAvailable: 5 }, pods(4), [4, 5, 4, 0]],
    ["no pods", { maxUnavailable: 1 }, [], [0, 0, 0, 0]],
    ["neither of the two", {}, pods(2), [2, 0, 2, 2]],
  ];
  test.each(rows)("allows as many disruptions as remain: %s", (_title, spec, found, expected) => {
    expect(counts(written(observed(budget(spec), found)))).toEqual(expected);
  });

  test("says whether disruptions are allowed, and since when", () => {
    const spec = { minAvailable: 1 };
    const before = { type: "DisruptionAllowed", status: "True" as const, lastTransitionTime: at(99) };
    const condition = (found: Observed["pods"]) =>
      written(observed(budget(spec, { conditions: [before] }), found)).conditions?.[0];
    expect(condition(pods(2))).toEqual({ ...before, reason: "SufficientPods", message: "", observedGeneration: 2 });
    expect(condition(pods(1))).toMatchObject({ status: "False", reason: "InsufficientPods" });
    expect(condition(pods(1))?.lastTransitionTime).toBe("2026-01-01T12:00:00Z");
  });

  test("writes nothing when nothing changed", () => {
    const status = written(observed(budget({ minAvailable: 1 }), pods(2)));
    expect(plan(observed(budget({ minAvailable: 1 }, status), pods(2)), now).steps).toEqual([]);
  });

  test("does not count a pod whose eviction was accepted, for two minutes", () => {
    const spec = { minAvailable: 1 };
    const evicted = (secondsAgo: number) =>
      observed(budget(spec, { disruptedPods: { "web-0": at(secondsAgo), gone: at(1) } }), pods(3));
    expect(written(evicted(30))).toMatchObject({ currentHealthy: 2, disruptedPods: { "web-0": at(30) } });
    expect(plan(evicted(30), now).wait?.until).toBe(now + 90_001);
    const late = plan(evicted(121), now);
    expect(late.steps[0]?.status).toMatchObject({ currentHealthy: 3 });
    expect(late.steps[0]?.status.disruptedPods).toBeUndefined();
    expect(late.steps[0]?.undeleted.map(({ metadata }) => metadata.name)).toEqual(["web-0"]);
  });

  test("allows nothing where the scale of a controller is not known", () => {
    const why = "widgets.example.com does not implement the scale subresource";
    const seen = observed(budget({ maxUnavailable: 1 }, { currentHealthy: 3, disruptionsAllowed: 2 }), pods(2), why);
    expect(written(seen)).toMatchObject({
      currentHealthy: 3,
      disruptionsAllowed: 0,
      conditions: [{ type: "DisruptionAllowed", status: "False", reason: "SyncFailed", message: why }],
    });
    expect(plan(seen, now).events?.map(({ reason }) => reason)).toEqual(["CalculateExpectedPodCountFailed"]);
  });

  test("says what it cannot count, and what to do", () => {
    const eventsOf = (object: PodDisruptionBudget, found: Observed["pods"], scale?: string) =>
      plan(observed(object, found, scale), now).events;
    const spec = { maxUnavailable: 1 };
    const unmanaged =
      'Pods selected by this PodDisruptionBudget (selector: {"matchLabels":{"app":"web"}}) were found to be unmanaged. ' +
      "As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. " +
      'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
    expect(eventsOf(budget(spec), [...pods(1), pod("alone")])).toEqual([
      { type: "Warning", reason: "UnmanagedPods", message: unmanaged },
    ]);
    expect(eventsOf(budget(spec), [])).toEqual([
      { type: "Normal", reason: "NoPods", message: "No matching pods found" },
    ]);
    expect(eventsOf(budget(spec), pods(1), "no scale")).toEqual([
      {
        type: "Warning",
        reason: "CalculateExpectedPodCountFailed",
        message: "Failed to calculate the number of expected pods: no scale",
      },
    ]);
    expect(eventsOf(budget(spec), pods(1))).toEqual([]);
  });

  test("counts each controller once, and the pods of none not at all", () => {
    const other = { ...owner, metadata: { ...owner.metadata, uid: "other" } };
    const found = [...pods(3), pod("other-1", { owner: other }), pod("alone")];
    const scales = new Map([
      ["set", { uid: "set", replicas: 4 }],
      ["other", { uid: "other", replicas: 2 }],
    ]);
    expect(counts(written({ budget: budget({ maxUnavailable: 1 }), pods: found, scales }))).toEqual([6, 5, 5, 0]);
  });

  test("that is being deleted is left as it is", () => {
    const object = budget({ minAvailable: 1 });
    const leaving = { ...object, metadata: { ...object.metadata, deletionTimestamp: at(1) } };
    expect(plan(observed(leaving, pods(2)), now)).toEqual({ steps: [], status: undefined });
  });

  test("writes its status without what it does not have, and leaves the conditions of others", () => {
    const { generation: _, ...metadata } = budget({}).metadata;
    const others = { type: "Other", status: "True" as const, lastTransitionTime: at(9) };
    const bare = { ...budget({ minAvailable: 1 }, { conditions: [others] }), metadata };
    const status = written(observed(bare, pods(2)));
    expect(status).not.toHaveProperty("observedGeneration");
    expect(status).not.toHaveProperty("disruptedPods");
    expect(status.conditions).toEqual([
      others,
      {
        type: "DisruptionAllowed",
        status: "True",
        reason: "SufficientPods",
        message: "",
        lastTransitionTime: "2026-01-01T12:00:00Z",
      },
    ]);
    const again = { ...bare, status: { conditions: status.conditions ?? [] } };
    expect(written(observed(again, pods(1))).conditions?.map(({ type }) => type)).toEqual([
      "Other",
      "DisruptionAllowed",
    ]);
  });

  test.each([
    [119, now + 1_001, true],
    [120, now + 1, true],
    [121, undefined, false],
  ])("waits for a pod whose eviction was accepted %i s ago until two minutes are over", (seconds, until, isOut) => {
    const found = plan(
      observed(budget({ minAvailable: 1 }, { disruptedPods: { "web-0": at(seconds) } }), pods(2)),
      now,
    );
    const wait = { for: "pods whose eviction was accepted to be deleted", until };
    expect(found.wait).toEqual(until === undefined ? undefined : wait);
    expect(found.steps[0]?.status.currentHealthy).toBe(isOut ? 1 : 2);
  });

  test("reports pods without a controller, and that there are none", () => {
    const reasons = (seen: Observed) => plan(seen, now).events?.map(({ reason }) => reason);
    expect(reasons(observed(budget({ maxUnavailable: 1 }), [pod("alone")]))).toEqual(["UnmanagedPods"]);
    expect(reasons(observed(budget({ minAvailable: 1 }), [pod("alone")]))).toEqual([]);
    expect(reasons(observed(budget({ minAvailable: 1 }), []))).toEqual(["NoPods"]);
  });

  test("never allows more disruptions than healthy pods beyond those that it needs", () => {
    const share = fc.oneof(
      fc.nat(9),
      fc.nat(100).map((percent) => `${percent}%`),
    );
    const specs = fc.oneof(fc.record({ minAvailable: share }), fc.record({ maxUnavailable: share }));
    fc.assert(
      fc.property(specs, fc.nat(8), fc.nat(8), fc.nat(8), (spec, ready, waiting, replicas) => {
        const found = [
          ...pods(ready),
          ...Array.from({ length: waiting }, (_, i) => pod(`w${i}`, { owner, ready: undefined })),
        ];
        const status = written(observed(budget(spec), found, { uid: "set", replicas }));
        const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0 } = status;
        expect(currentHealthy).toBe(ready);
        expect(disruptionsAllowed).toBeLessThanOrEqual(Math.max(0, currentHealthy - desiredHealthy));
        expect(disruptionsAllowed).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
