import { describe, expect, test } from "vitest";
import { annotations, KubeadmConfig, OpenStackMachine, type Machine, type MachineDeployment } from "@causeway/api";
import { at, cluster, condition, deployment, machineSet, now, referred, servingMachine } from "../testing/objects.ts";
import { controlPlane } from "../testing/machine-set-observed.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

const failed = [condition("HealthCheckSucceeded", "False"), condition("OwnerRemediated", "False")];
const machine = (
  name: string,
  fields: { unhealthy?: boolean; age?: number; deleting?: boolean; marked?: boolean } = {},
) => {
  const base = servingMachine(name);
  const metadata: Machine["metadata"] = {
    ...base.metadata,
    creationTimestamp: at(now - (fields.age ?? 1) * 60_000),
    ...(fields.deleting ? { deletionTimestamp: at(now) } : {}),
    ...(fields.marked ? { annotations: { [annotations.remediateMachine]: "" } } : {}),
  };
  const conditions = [...(base.status?.conditions ?? []), ...(fields.unhealthy ? failed : [])];
  return { ...base, metadata, status: { ...base.status, conditions } };
};
const template = { spec: { template: { spec: {} } } };
const observed = (machines: readonly Machine[], spec: Partial<MachineDeployment["spec"]> = {}): Observed => {
  const names = new Set(machines.map(({ metadata }) => metadata.name));
  const living = machines.filter(({ metadata }) => !metadata.deletionTimestamp).length;
  return {
    set: machineSet("set", living),
    cluster: cluster(),
    deployment: deployment(living, spec),
    machines,
    orphans: [],
    taken: names,
    infrastructure: {
      ...referred("OpenStackMachineTemplate", "t", template),
      cloneKind: OpenStackMachine,
      clones: names,
    },
    bootstrap: { ...referred("KubeadmConfigTemplate", "t", template), cloneKind: KubeadmConfig, clones: names },
    controlPlane: controlPlane("v1.34.0"),
  };
};
const outcome = (given: Observed) => {
  const { steps } = plan(given, now);
  return {
    deleted: steps.flatMap((step) => (step.type === "delete" ? [step.key.name] : [])),
    waiting: steps.flatMap((step) =>
      step.type === "set-conditions"
        ? [`${step.machine.metadata.name}: ${step.conditions[0]?.reason ?? "removed"}`]
        : [],
    ),
    created: steps.some((step) => step.type === "create-machines"),
  };
};

describe("a MachineSet with unhealthy Machines", () => {
  test("deletes them, and replaces them once they are leaving", () => {
    const given = observed([machine("a", { unhealthy: true }), machine("b")]);
    expect(outcome(given)).toEqual({ deleted: ["a"], waiting: [], created: false });
    const leaving = observed([machine("a", { unhealthy: true, deleting: true }), machine("b")]);
    expect(outcome({ ...leaving, set: machineSet("set", 2) })).toEqual({ deleted: [], waiting: [], created: true });
  });
  test("deletes as many at once as maxInFlight allows: marked ones first, then the newest", () => {
    const machines = [
      machine("old", { unhealthy: true, age: 9 }),
      machine("new", { unhealthy: true, age: 2 }),
      machine("marked", { unhealthy: true, age: 30, marked: true }),
    ];
    expect(outcome(observed(machines, { remediation: { maxInFlight: 2 } }))).toEqual({
      deleted: ["marked", "new"],
      waiting: ["old: RemediationDeferred"],
      created: false,
    });
  });
  test("counts what is being remediated, and rounds a percentage up", () => {
    const machines = [
      machine("a", { unhealthy: true, deleting: true }),
      machine("b", { unhealthy: true }),
      machine("c"),
    ];
    const given = observed(machines, { remediation: { maxInFlight: "10%" } });
    expect(outcome({ ...given, set: machineSet("set", 2) })).toMatchObject({
      deleted: [],
      waiting: ["b: RemediationDeferred"],
    });
  });
  test("leaves them to the rollout when its template is out of date", () => {
    const spec = { ...deployment(1).spec.template.spec, version: "v1.35.0" };
    const given = observed([machine("a", { unhealthy: true })], { template: { ...deployment(1).spec.template, spec } });
    expect(outcome(given)).toMatchObject({ deleted: [], waiting: ["a: CannotBeRemediated"] });
  });
  test("waits while a new Machine could not be made", () => {
    const given = { ...observed([machine("a", { unhealthy: true })]), controlPlane: controlPlane("v1.33.0") };
    expect(outcome(given)).toMatchObject({ deleted: [], waiting: ["a: RemediationDeferred"] });
  });
  test("takes the condition back from a Machine that is healthy again", () => {
    const healthy = machine("a");
    const conditions = [condition("HealthCheckSucceeded"), condition("OwnerRemediated", "False")];
    expect(outcome(observed([{ ...healthy, status: { ...healthy.status, conditions } }])).waiting).toEqual([
      "a: removed",
    ]);
  });
});
