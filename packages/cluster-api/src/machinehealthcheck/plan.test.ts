import { describe, expect, test } from "vitest";
import { annotations, type Machine, type MachineHealthCheck } from "@causeway/api";
import type { Condition, Node } from "@causeway/kubernetes";
import { at, cluster, condition, node, now, servingMachine } from "../testing/objects.ts";
import type { Observed, Target } from "./observed.ts";
import { allowanceOf } from "./limit.ts";
import { healthCheckStepEvents, plan as planHealthCheck } from "./plan.ts";

const minute = 60_000;
const label = { "cluster.x-k8s.io/cluster-name": "demo" };
const check = (spec: Partial<MachineHealthCheck["spec"]> = {}): MachineHealthCheck => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineHealthCheck",
  metadata: {
    name: "workers",
    namespace: "default",
    generation: 1,
    labels: label,
    ownerReferences: [{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" }],
  },
  spec: {
    clusterName: "demo",
    selector: { matchLabels: label },
    checks: {
      unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 300 }],
      unhealthyMachineConditions: [{ type: "Disk", status: "False", timeoutSeconds: 60 }],
    },
    ...spec,
  },
});
const since = (status: string, time: number) => ({
  type: "Ready",
  status,
  reason: "Kubelet",
  lastTransitionTime: at(time),
});
const withReady = (name: string, status: string, time: number): Node =>
  node(name, { status: { conditions: [since(status, time)] as never } });
const healthyTarget = (name: string): Target => ({
  machine: servingMachine(name),
  node: withReady(name, "True", now - minute),
});
const noted = (machine: Machine, key: string): Machine => ({
  ...machine,
  metadata: { ...machine.metadata, annotations: { [key]: "" } },
});
const withConditions = (machine: Machine, ...conditions: Condition[]): Machine => ({
  ...machine,
  status: { ...machine.status, conditions: [...(machine.status?.conditions ?? []), ...conditions] },
});
const hourAgo = now - 60 * minute;
const ready = {
  status: {
    conditions: [
      condition("ControlPlaneInitialized", "True", hourAgo),
      condition("InfrastructureReady", "True", hourAgo),
    ],
  },
};
const observed = (targets: readonly Target[], fields: Partial<Observed> = {}): Observed => ({
  check: check(),
  cluster: cluster(ready),
  targets,
  connected: true,
  ...fields,
});
const marks = (given: Observed, time = now) =>
  planHealthCheck(given, time).steps.flatMap((step) =>
    step.type === "set-conditions"
      ? [
          [
            step.machine.metadata.name,
            ...step.conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`),
          ],
        ]
      : [],
  );
const waiting = ["HealthCheckSucceeded=False", "OwnerRemediated=False/WaitingForRemediation"];
const lost = (name: string): Target => ({
  machine: servingMachine(name),
  node: withReady(name, "Unknown", now - 6 * minute),
});
const unborn: Target = {
  machine: {
    ...servingMachine("b"),
    metadata: { ...servingMachine("b").metadata, creationTimestamp: at(now - 11 * minute) },
    status: {},
  },
  node: undefined,
};

describe("a MachineHealthCheck", () => {
  test.each<[string, Target, string | undefined]>([
    [
      "takes a Node that reports Ready for healthy",
      healthyTarget("a"),
      "HealthCheckSucceeded=True/HealthCheckSucceeded",
    ],
    [
      "reports a Node condition that lasts longer than its timeout",
      lost("a"),
      "HealthCheckSucceeded=False/UnhealthyNode",
    ],
    [
      "waits for a Node condition within its timeout",
      { ...lost("a"), node: withReady("a", "Unknown", now - 4 * minute) },
      undefined,
    ],
    [
      "reports a Node that was deleted",
      { ...healthyTarget("a"), node: undefined },
      "HealthCheckSucceeded=False/NodeDeleted",
    ],
    ["reports a Node that does not come in ten minutes", unborn, "HealthCheckSucceeded=False/NodeStartupTimeout"],
    [
      "reports a condition of a Machine",
      {
        ...healthyTarget("a"),
        machine: withConditions(servingMachine("a"), condition("Disk", "False", now - 2 * minute)),
      },
      "HealthCheckSucceeded=False/UnhealthyMachine",
    ],
    [
      "reports a Machine that a person marked",
      { ...healthyTarget("a"), machine: noted(servingMachine("a"), annotations.remediateMachine) },
      "HealthCheckSucceeded=False/HasRemediateAnnotation",
    ],
    [
      "leaves a Machine with skip-remediation alone",
      { ...lost("a"), machine: noted(servingMachine("a"), annotations.skipRemediation) },
      undefined,
    ],
    [
      "leaves a paused Machine alone",
      { ...lost("a"), machine: noted(servingMachine("a"), annotations.paused) },
      undefined,
    ],
  ])("%s", (_, target, expected) => {
    expect(marks(observed([target]))[0]?.[1]).toBe(expected);
  });

  test("does not judge before the control plane is initialized", () => {
    const given = observed([unborn], {
      cluster: cluster({ status: { conditions: [condition("InfrastructureReady")] } }),
    });
    expect(marks(given)).toEqual([]);
  });
  test("does not judge while the workload cluster cannot be reached", () => {
    const plan = planHealthCheck(observed([lost("a")], { connected: false }), now);
    expect([plan.steps, plan.wait?.for]).toEqual([[], "the connection to the workload cluster"]);
  });
  test("checks again when the earliest timeout ends", () => {
    const soon = { ...lost("a"), node: withReady("a", "Unknown", now - 4 * minute) };
    expect(planHealthCheck(observed([soon, healthyTarget("b")]), now).wait?.until).toBe(now + minute + 1000);
  });
  test("does not wait for Nodes with a startup timeout of 0", () => {
    const given = observed([unborn], { check: check({ checks: { nodeStartupTimeoutSeconds: 0 } }) });
    expect(marks(given)).toEqual([]);
  });
});

describe("remediation by a MachineHealthCheck", () => {
  test("is left to the owner, which sees OwnerRemediated", () => {
    expect(marks(observed([lost("a"), healthyTarget("b")]))[0]).toEqual([
      "a",
      `${waiting[0]}/UnhealthyNode`,
      waiting[1],
    ]);
  });
  test("writes nothing again while nothing changes", () => {
    const first = planHealthCheck(observed([lost("a")]), now).steps;
    const written = first.flatMap((step) => (step.type === "set-conditions" ? step.conditions : []));
    const after = { ...lost("a"), machine: withConditions(servingMachine("a"), ...written) };
    expect(marks(observed([after]), now + 1000)).toEqual([]);
  });
  test("keeps what the owner says of a remediation that waits", () => {
    const deferred = { ...condition("OwnerRemediated", "False"), reason: "RemediationDeferred" };
    const machine = withConditions(servingMachine("a"), deferred);
    expect(marks(observed([{ ...lost("a"), machine }]))[0]).toContain("OwnerRemediated=False/RemediationDeferred");
  });
  test("a Machine that recovers has OwnerRemediated no more", () => {
    const machine = withConditions(
      servingMachine("a"),
      condition("HealthCheckSucceeded", "False"),
      condition("OwnerRemediated", "False"),
    );
    expect(marks(observed([{ ...healthyTarget("a"), machine }]))).toEqual([
      ["a", "HealthCheckSucceeded=True/HealthCheckSucceeded"],
    ]);
  });
  test("stops above the limit, with an event and without OwnerRemediated", () => {
    const spec = { remediation: { triggerIf: { unhealthyLessThanOrEqualTo: 1 } } };
    const plan = planHealthCheck(observed([lost("a"), lost("b"), healthyTarget("c")], { check: check(spec) }), now);
    expect(plan.events?.map(({ reason }) => reason)).toEqual(["RemediationRestricted"]);
    expect(plan.status).toMatchObject({ expectedMachines: 3, currentHealthy: 1, remediationsAllowed: 0 });
    const given = observed([lost("a"), lost("b"), healthyTarget("c")], { check: check(spec) });
    expect(marks(given)[0]).toEqual(["a", "HealthCheckSucceeded=False/UnhealthyNode"]);
  });
  test("refuses an external remediation in words", () => {
    const templateRef = { apiVersion: "a/v1", kind: "RebootTemplate", name: "reboot" };
    const plan = planHealthCheck(observed([lost("a")], { check: check({ remediation: { templateRef } }) }), now);
    expect(plan.status.conditions?.[0]).toMatchObject({ status: "False", reason: "ExternalRemediationNotSupported" });
  });

  test.each([
    [undefined, 3, 3, true, 0],
    [{ unhealthyLessThanOrEqualTo: "40%" }, 5, 2, true, 0],
    [{ unhealthyLessThanOrEqualTo: "40%" }, 4, 2, false, 0],
    [{ unhealthyLessThanOrEqualTo: 2 }, 9, 1, true, 1],
    [{ unhealthyLessThanOrEqualTo: "many" }, 9, 0, false, 0],
    [{ unhealthyInRange: "[1-3]" }, 9, 0, false, 0],
    [{ unhealthyInRange: "[1-3]" }, 9, 2, true, 1],
    [{ unhealthyInRange: "[1-3]" }, 9, 4, false, 0],
  ])(
    "with the limit %j of %i machines with %i unhealthy is allowed or stopped",
    (trigger, total, unhealthy, allowed, more) => {
      expect(allowanceOf(trigger, { total, unhealthy })).toMatchObject({ allowed, more });
    },
  );
});

describe("the plan of a MachineHealthCheck", () => {
  const planned = (given: Observed) => planHealthCheck(given, now);
  const conditionsOf = ({ status }: ReturnType<typeof planned>) =>
    status.conditions?.map(({ type, status: value, reason, message }) =>
      `${type} ${value} ${reason} ${message}`.trim(),
    );
  const judging = observed([healthyTarget("b"), healthyTarget("a"), lost("c")]);

  test("counts the Machines that are checked, by name, and waits for changes", () => {
    const { events, wait, ...result } = planned(judging);
    expect(result.status).toMatchObject({
      expectedMachines: 3,
      currentHealthy: 2,
      remediationsAllowed: 2,
      targets: ["a", "b", "c"],
      observedGeneration: 1,
    });
    expect(conditionsOf(result)).toEqual(["RemediationAllowed True RemediationAllowed", "Paused False NotPaused"]);
    expect([events, wait]).toEqual([[], { for: "changes" }]);
  });

  test("has no list of Machines where none is checked, and no generation where the check has none", () => {
    const bare = check();
    const { generation: _none, ...metadata } = bare.metadata;
    const { status } = planned(observed([], { check: { ...bare, metadata } }));
    expect([Object.hasOwn(status, "targets"), Object.hasOwn(status, "observedGeneration")]).toEqual([false, false]);
    expect(status).toMatchObject({ expectedMachines: 0, currentHealthy: 0 });
  });

  test("does not count Machines that are left alone", () => {
    const skipped = { ...lost("c"), machine: noted(servingMachine("c"), annotations.skipRemediation) };
    expect(planned(observed([healthyTarget("a"), skipped])).status).toMatchObject({
      expectedMachines: 1,
      targets: ["a"],
    });
  });

  test("keeps the status of before without a Cluster, and while the workload cluster cannot be reached", () => {
    const status = { expectedMachines: 7 };
    const known = { ...check(), status };
    expect(planned(observed([lost("a")], { check: known, cluster: undefined }))).toEqual({
      steps: [],
      status,
      wait: { for: "Cluster demo" },
    });
    expect(planned(observed([lost("a")], { check: known, connected: false })).status).toEqual(status);
    expect(planned(observed([], { cluster: undefined })).status).toEqual({});
  });

  test("judges the Machines of a control plane that is not initialized without a connection", () => {
    const born = { status: { conditions: [condition("InfrastructureReady")] } };
    const { wait } = planned(observed([unborn], { connected: false, cluster: cluster(born) }));
    expect(wait).toEqual({ for: "changes" });
  });

  test("gives the check its Cluster as an owner, and the Cluster's label", () => {
    const bare = check();
    const { labels: _none, ownerReferences, ...metadata } = bare.metadata;
    const step = { type: "patch", key: { name: "workers" }, body: { metadata: { labels: label, ownerReferences } } };
    expect(planned(observed([], { check: { ...bare, metadata } })).steps).toMatchObject([step]);
    expect(planned(observed([], { check: { ...bare, metadata }, connected: false })).steps).toMatchObject([step]);
    expect(planned(observed([])).steps).toEqual([]);
  });

  test("does nothing while it or its Cluster is paused", () => {
    const paused = cluster({ ...ready, spec: { paused: true } });
    expect(planned(observed([lost("a")], { cluster: paused }))).toMatchObject({
      steps: [],
      wait: { for: "unpausing" },
    });
  });

  const limited = check({ remediation: { triggerIf: { unhealthyLessThanOrEqualTo: 0 } } });
  const message =
    "Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (total: 1, unhealthy: 1, maxUnhealthy: 0)";
  test("warns of a limit once, with the numbers, and again when they change", () => {
    const first = planned(observed([lost("a")], { check: limited }));
    expect(first.events).toEqual([{ type: "Warning", reason: "RemediationRestricted", message }]);
    expect(conditionsOf(first)?.[0]).toBe(`RemediationAllowed False TooManyUnhealthy ${message}`);
    const known = { ...limited, status: first.status };
    expect(planned(observed([lost("a")], { check: known })).events).toEqual([]);
    expect(planned(observed([lost("a"), lost("b")], { check: known })).events).toHaveLength(1);
  });

  test("does not warn of a limit while no Machine is unhealthy", () => {
    const pending = { ...healthyTarget("a"), node: withReady("a", "Unknown", now - minute) };
    const result = planned(observed([pending], { check: limited }));
    expect([result.events, result.steps]).toEqual([[], []]);
    expect(result.wait).toEqual({ for: "changes", until: now + 4 * minute + 1000 });
  });

  test("names the template of an external remediation", () => {
    const templateRef = { apiVersion: "a/v1", kind: "RebootTemplate", name: "reboot" };
    const result = planned(observed([lost("a")], { check: check({ remediation: { templateRef } }) }));
    expect(conditionsOf(result)?.[0]).toBe(
      "RemediationAllowed False ExternalRemediationNotSupported External remediation by RebootTemplate reboot is not supported: remove spec.remediation.templateRef, so that the owner of a Machine replaces it",
    );
    const two = observed([lost("a"), healthyTarget("b")], { check: check({ remediation: { templateRef } }) });
    expect(planned(two).status.remediationsAllowed).toBe(0);
    expect(marks(observed([lost("a")], { check: check({ remediation: { templateRef } }) }))).toEqual([
      ["a", "HealthCheckSucceeded=False/UnhealthyNode"],
    ]);
  });

  const failedBefore = condition("HealthCheckSucceeded", "False");
  test.each<[string, Machine, Target, true | undefined]>([
    ["that was healthy", servingMachine("a"), lost("a"), true],
    [
      "that was healthy, and says so",
      withConditions(servingMachine("a"), condition("HealthCheckSucceeded")),
      lost("a"),
      true,
    ],
    ["that had failed before", withConditions(servingMachine("a"), failedBefore), lost("a"), undefined],
    ["that is healthy again", withConditions(servingMachine("a"), failedBefore), healthyTarget("a"), undefined],
  ])("has an event for a Machine that fails its check: one %s", (_, machine, target, failed) => {
    const [step] = planned(observed([{ ...target, machine }])).steps;
    if (step?.type !== "set-conditions") throw new Error("no conditions are set");
    expect(step.failed).toBe(failed);
    const text = "Machine a has been marked as unhealthy by workers";
    const event = { type: "Normal", reason: "MachineMarkedUnhealthy", message: text };
    expect(healthCheckStepEvents(step, check())).toEqual(failed ? [event] : []);
  });

  test("has no event for its own metadata", () => {
    const step = { type: "patch", resource: {} as never, key: { namespace: "", name: "" }, body: {} } as const;
    expect(healthCheckStepEvents(step, check())).toEqual([]);
  });

  test.each<[string, Partial<Condition>, boolean]>([
    ["nothing", {}, false],
    ["the reason", { reason: "Other" }, true],
    ["the message", { message: "other" }, true],
  ])("writes the condition of a healthy Machine again where %s differs", (_, change, writes) => {
    const known = { ...condition("HealthCheckSucceeded"), ...change };
    const machine = withConditions(servingMachine("a"), known);
    expect(planned(observed([{ ...healthyTarget("a"), machine }])).steps).toHaveLength(writes ? 1 : 0);
  });

  test("leaves the conditions of others out of what it writes, and removes its own that are not so any more", () => {
    const machine = withConditions(
      servingMachine("a"),
      condition("HealthCheckSucceeded"),
      condition("OwnerRemediated"),
    );
    expect(marks(observed([{ ...healthyTarget("a"), machine }]))).toEqual([
      ["a", "HealthCheckSucceeded=True/HealthCheckSucceeded"],
    ]);
    expect(marks(observed([{ ...lost("a"), machine }]))).toEqual([["a", `${waiting[0]}/UnhealthyNode`, waiting[1]]]);
  });
});
