import { describe, expect, test } from "vitest";
import { annotations, type MachineDeployment, type MachineSet } from "@causeway/api";
import { at, deployment, machineSet, now, servingMachine, template } from "../testing/objects.ts";
import { machinesOf, newer, observed as observedDeployment } from "../testing/machine-deployment-observed.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

const observed = (of: MachineDeployment, sets: readonly MachineSet[] = [], serving = true): Observed =>
  observedDeployment(of, sets, { machinesOf: machinesOf(sets, serving) });
const steps = (given: Observed, instant = now) =>
  plan(given, instant).steps.map((step) => {
    if (step.type === "create") return `create with ${(step.object as MachineSet).spec.replicas}`;
    if (step.type === "delete") return `delete ${step.key.name}`;
    return `${step.key.name} ${JSON.stringify(step.body["spec"] ?? {})}`;
  });

describe("a MachineDeployment", () => {
  test("fills in selector, labels, owner and finalizer before anything else", () => {
    const { metadata, spec } = deployment(3);
    const bare: MachineDeployment = {
      ...deployment(3),
      metadata: { ...metadata, labels: {}, finalizers: [], ownerReferences: [] },
      spec: { ...spec, selector: {}, template: { spec: template.spec } },
    };
    const [step, ...rest] = plan(observed(bare), now).steps;
    expect(rest).toEqual([]);
    expect(step).toMatchObject({
      type: "patch",
      body: {
        metadata: { finalizers: ["cluster.x-k8s.io/machinedeployment"], ownerReferences: [{ kind: "Cluster" }] },
        spec: {
          selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "workers" } },
          template: { metadata: { labels: { "cluster.x-k8s.io/deployment-name": "workers" } } },
        },
      },
    });
  });
  test("makes one MachineSet with all replicas", () =>
    expect(steps(observed(deployment(3)))).toEqual(["create with 3"]));
  test("names it after its template, so that a second create finds the first", () => {
    const name = () =>
      plan(observed(deployment(3)), now).steps.map((s) => s.type === "create" && s.object.metadata.name);
    expect(name()).toEqual(name());
    expect(name()[0]).toMatch(/^workers-[a-z0-9]{5}$/);
  });
  test("numbers its revisions", () => {
    const old = machineSet("old", 3);
    old.metadata.annotations = { [annotations.revision]: "4" };
    const [step] = plan(observed(deployment(3, { template: newer }), [old]), now).steps;
    expect(step?.type === "create" && step.object.metadata.annotations).toMatchObject({ [annotations.revision]: "5" });
  });
  test("gives its annotations to its MachineSet, at first and later, but for those about itself", () => {
    const given = deployment(3);
    const mine = { [annotations.revision]: "9", "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    given.metadata.annotations = { [annotations.skipPreflightChecks]: "All", ...mine };
    const [made] = plan(observed(given), now).steps;
    expect(made?.type === "create" && made.object.metadata.annotations).toEqual({
      [annotations.skipPreflightChecks]: "All",
      [annotations.revision]: "1",
    });
    const [changed] = plan(observed(given, [machineSet("set", 3)]), now).steps;
    expect(changed).toMatchObject({
      body: { metadata: { annotations: { [annotations.skipPreflightChecks]: "All" } } },
    });
    const standing = machineSet("set", 3);
    standing.metadata.annotations = { [annotations.skipPreflightChecks]: "All", [annotations.revision]: "1" };
    expect(plan(observed(given, [standing]), now).steps).toEqual([]);
  });
  test("scales its MachineSet", () =>
    expect(steps(observed(deployment(5), [machineSet("set", 3)]))).toEqual(['set {"replicas":5}']));
  test("does nothing when it is reconciled", () =>
    expect(steps(observed(deployment(3), [machineSet("set", 3)]))).toEqual([]));
  test("starts a rollout with the surge alone", () => {
    expect(steps(observed(deployment(3, { template: newer }), [machineSet("old", 3)]))).toEqual(["create with 1"]);
  });
  test("takes over the MachineSet that a template came back to", () => {
    const fresh = machineSet("new", 0, { spec: { ...machineSet("new", 0).spec, template: newer } });
    expect(steps(observed(deployment(3, { template: newer }), [machineSet("old", 3), fresh]))).toEqual([
      'new {"replicas":1}',
    ]);
  });
  test("removes empty old MachineSets once all replicas serve", () => {
    const fresh = machineSet("new", 3, { spec: { ...machineSet("new", 3).spec, template: newer } });
    expect(steps(observed(deployment(3, { template: newer }), [machineSet("old", 0), fresh]))).toEqual(["delete old"]);
  });
  test("keeps them until then", () => {
    const fresh = machineSet("new", 3, { spec: { ...machineSet("new", 3).spec, template: newer } });
    expect(steps(observed(deployment(3, { template: newer }), [machineSet("old", 0), fresh], false))).toEqual([]);
  });
  test("changes taints and timeouts in place, without a rollout", () => {
    const gentle = { ...template, spec: { ...template.spec, deletion: { nodeDrainTimeoutSeconds: 60 } } };
    expect(steps(observed(deployment(3, { template: gentle }), [machineSet("set", 3)]))).toEqual([
      'set {"template":{"spec":{"deletion":{"nodeDrainTimeoutSeconds":60}}}}',
    ]);
  });
  test("does not roll out while paused", () => {
    expect(steps(observed(deployment(3, { template: newer, paused: true }), [machineSet("old", 3)]))).toEqual([]);
  });
  test("forces one rollout when rollout.after has passed", () => {
    const of = deployment(3, { rollout: { after: at(now) } });
    expect(steps(observed(of, [machineSet("old", 3)]), now - 1)).toEqual([]);
    expect(plan(observed(of, [machineSet("old", 3)]), now - 1).wait?.until).toBe(now);
    expect(steps(observed(of, [machineSet("old", 3)]))).toEqual(["create with 1"]);
    const renewed = machineSet("renewed", 3);
    renewed.metadata.creationTimestamp = at(now + 1);
    expect(steps(observed(of, [renewed]), now + 2)).toEqual([]);
  });
  test("takes a MachineSet for new that was created in the second in which rollout.after passed", () => {
    const of = deployment(3, { rollout: { after: new Date(now + 381).toISOString() } });
    const renewed = machineSet("renewed", 3);
    renewed.metadata.creationTimestamp = at(now);
    expect(steps(observed(of, [renewed]), now + 2000)).toEqual([]);
  });
  test.each<[string, Parameters<typeof deployment>[1], number]>([
    ["of another template", { template: newer }, 0],
    ["from before a rollout that is due", { rollout: { after: at(now) } }, 0],
    ["from before a rollout that is not due yet", { rollout: { after: at(now + 1) } }, 3],
  ])("counts machines %s by its own template, whatever they say of themselves", (_, spec, upToDateReplicas) => {
    const { status } = plan(observed(deployment(3, spec), [machineSet("old", 3)]), now);
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3, upToDateReplicas, observedGeneration: 1 });
    const rolling = upToDateReplicas === 3 ? "False" : "True";
    expect(status?.conditions?.find(({ type }) => type === "RollingOut")?.status).toBe(rolling);
    expect(status?.conditions?.find(({ type }) => type === "MachinesUpToDate")?.status).not.toBe(rolling);
  });
  test("counts machines of its template only once they say that they are up to date", () => {
    const fresh = machineSet("new", 2, { spec: { ...machineSet("new", 2).spec, template: newer } });
    const of = observed(deployment(3, { template: newer }), [machineSet("old", 1), fresh]);
    const [one = servingMachine("new-0")] = of.machinesOf.get("uid-new") ?? [];
    const machinesOf = new Map([...of.machinesOf, ["uid-new", [one, servingMachine("new-1", { status: {} })]]]);
    expect(plan({ ...of, machinesOf }, now).status).toMatchObject({ replicas: 3, upToDateReplicas: 1 });
  });
  test("with OnDelete waits for machines to be deleted, and stops old sets from replacing them", () => {
    const of = deployment(3, { template: newer, rollout: { strategy: { type: "OnDelete" } } });
    const fresh = machineSet("new", 0, { spec: { ...machineSet("new", 0).spec, template: newer } });
    const [step, ...rest] = plan(observed(of, [machineSet("old", 3), fresh]), now).steps;
    expect(rest).toEqual([]);
    expect(step).toMatchObject({
      key: { name: "old" },
      body: { metadata: { annotations: { [annotations.disableMachineCreate]: "true" } } },
    });
  });
  test("is deleted after its MachineSets", () => {
    const of = deployment(3);
    of.metadata.deletionTimestamp = at(now);
    expect(steps(observed(of, [machineSet("set", 3)]))).toEqual(["delete set"]);
    expect(plan(observed(of), now).steps).toMatchObject([{ type: "patch", body: { metadata: { finalizers: [] } } }]);
  });
});
