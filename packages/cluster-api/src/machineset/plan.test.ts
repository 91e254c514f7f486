import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { annotations, OpenStackMachine, type Machine } from "@causeway/api";
import { getCondition } from "@causeway/kubernetes";
import { at, cluster, deployment, machineSet, now, referred, template } from "../testing/objects.ts";
import { chooseForDeletion } from "./deletion-order.ts";
import { nextNames } from "./clone.ts";
import { controlPlane, observed, owned } from "../testing/machine-set-observed.ts";
import type { Observed } from "./observed.ts";
import { plan } from "./plan.ts";

const scaling = (given: Observed) => plan(given, now).steps.filter((step) => step.type !== "patch");

describe("a MachineSet", () => {
  test("makes all missing machines at once", () => {
    const [step, ...rest] = scaling(observed(50, []));
    expect(rest).toEqual([]);
    expect(step?.type === "create-machines" && step.machines).toHaveLength(50);
  });
  test("plans the same names again after a crash", () => {
    const names = (given: Observed) =>
      scaling(given).flatMap((s) => (s.type === "create-machines" ? s.machines.map((m) => m.metadata.name) : []));
    const all = names(observed(4, []));
    const made = all.slice(0, 2).map((name) => owned(name));
    expect([...made.map((m) => m.metadata.name), ...names(observed(4, made))]).toEqual(all);
  });
  test("gives no machine the name of one that is gone", () => {
    const names = (given: Observed) =>
      scaling(given).flatMap((s) => (s.type === "create-machines" ? s.machines.map((m) => m.metadata.name) : []));
    const [one = "", two = ""] = names(observed(2, []));
    const leaving = observed(2, [owned(one, { deletionTimestamp: at(now) }), owned(two)]);
    const [step] = plan(leaving, now).steps;
    expect(step).toMatchObject({
      key: { name: "set" },
      body: { metadata: { annotations: { [annotations.machineNamesGiven]: "2" } } },
    });
    const { set } = leaving;
    const recorded = { ...set, metadata: { ...set.metadata, annotations: { [annotations.machineNamesGiven]: "2" } } };
    const [third] = names({ ...leaving, set: recorded });
    expect(names(observed(2, [owned(two)], { set: recorded }))).toEqual([third]);
    expect([one, two]).not.toContain(third);
  });
  test("records the names it has given before it deletes a machine", () => {
    const record = { metadata: { annotations: { [annotations.machineNamesGiven]: "2" } } };
    const names = scaling(observed(2, [])).flatMap((s) =>
      s.type === "create-machines" ? s.machines.map((m) => m.metadata.name) : [],
    );
    const machines = names.map((name) => owned(name));
    const untouched = plan(observed(2, machines), now).steps.filter((s) => s.type === "patch" && s.key.name === "set");
    expect(untouched).toEqual([]);
    // A set that is paused after the deletion of a machine records nothing more.
    const smaller = plan(observed(1, machines), now).steps;
    expect(smaller[0]).toMatchObject({ type: "patch", body: record });
    expect(smaller.at(-1)).toMatchObject({ type: "delete" });
  });
  test("gives every machine its provider objects, with their origin", () => {
    const young = { ...owned("m"), status: {} };
    const given = observed(1, [young]);
    const none = new Set<string>();
    const steps = scaling({
      ...given,
      infrastructure: { ...given.infrastructure, clones: none },
      bootstrap: given.bootstrap && { ...given.bootstrap, clones: none },
    });
    expect(steps.map((s) => s.type === "create-clones" && s.kind.kind)).toEqual(["KubeadmConfig", "OpenStackMachine"]);
    const [clone] = steps.flatMap((s) =>
      s.type === "create-clones" && s.kind.kind === "OpenStackMachine" ? s.objects : [],
    );
    expect(clone).toMatchObject({
      metadata: {
        name: "m",
        annotations: {
          [annotations.clonedFromName]: "workers",
          [annotations.clonedFromGroupKind]: "OpenStackMachineTemplate.infrastructure.cluster.x-k8s.io",
        },
        ownerReferences: [{ kind: "Machine", name: "m", controller: true }],
      },
      spec: { flavor: "small" },
    });
  });
  test("does not replace the host object of a machine that has run", () => {
    const given = observed(1, [owned("m")]);
    expect(scaling({ ...given, infrastructure: { ...given.infrastructure, clones: new Set() } })).toEqual([]);
  });
  test("deletes superfluous machines", () => {
    expect(scaling(observed(1, [owned("a"), owned("b"), owned("c")])).map((s) => s.type)).toEqual(["delete", "delete"]);
  });
  test("replaces a machine that is being deleted, and does not delete another for it", () => {
    const given = observed(2, [owned("a"), owned("b", { deletionTimestamp: at(now) })]);
    expect(scaling(given).map((s) => s.type)).toEqual(["create-machines"]);
  });
  test("carries taints and timeouts over to its machines in place", () => {
    const set = machineSet("set", 1);
    const template = { ...set.spec.template, spec: { ...set.spec.template.spec, minReadySeconds: 10 } };
    const given = observed(1, [owned("a")], { set: { ...set, spec: { ...set.spec, template } } });
    expect(plan(given, now).steps).toContainEqual(
      expect.objectContaining({ type: "patch", body: expect.objectContaining({ spec: { minReadySeconds: 10 } }) }),
    );
  });

  const scalingUp = (given: Observed) => getCondition(plan(given, now).status.conditions, "ScalingUp")?.message;
  test.each<[string, Partial<Observed>, string]>([
    [
      "without its template",
      {
        infrastructure: {
          ...referred("OpenStackMachineTemplate", "workers"),
          cloneKind: OpenStackMachine,
          clones: new Set(),
        },
      },
      "OpenStackMachineTemplate workers does not exist",
    ],
    ["newer than the control plane", { controlPlane: controlPlane("v1.33.0") }, "newer than the control plane"],
    ["without a cluster", { cluster: undefined }, "Cluster demo does not exist"],
  ])("makes no machine %s, and says so", (_, fields, message) => {
    const given = observed(1, [], fields);
    expect(scaling(given)).toEqual([]);
    expect(scalingUp(given)).toContain(message);
  });
  test.each<[string, number]>([
    ["All", 1],
    ["KubeadmVersionSkew, KubernetesVersionSkew", 1],
    ["ControlPlaneIsStable", 0],
    ["", 0],
  ])("with the checks %j skipped makes machines newer than the control plane: %i", (skipped, made) => {
    const set = machineSet("set", 1);
    const note = { "machineset.cluster.x-k8s.io/skip-preflight-checks": skipped };
    const given = observed(1, [], {
      set: { ...set, metadata: { ...set.metadata, annotations: note } },
      controlPlane: controlPlane("v1.33.0"),
    });
    expect(scaling(given)).toHaveLength(made);
  });
  const topology = (version: string, step?: string) => {
    const { metadata, ...rest } = cluster({ spec: { topology: { classRef: { name: "class" }, version } } });
    return {
      ...rest,
      metadata: { ...metadata, ...(step ? { annotations: { [annotations.upgradeStep]: step } } : {}) },
    };
  };
  const provisioning = { kind: "KubeadmControlPlane", name: "control", requested: "v1.34.0", reached: undefined };
  test.each<[string, Partial<Observed>, string]>([
    ["is made for the first time", { controlPlane: provisioning }, "is provisioning (check ControlPlaneIsStable)"],
    [
      "is upgraded",
      { controlPlane: controlPlane("v1.35.0", "v1.34.0") },
      "is upgrading to v1.35.0 (check ControlPlaneIsStable)\n* kubeadm of v1.34.0 cannot join",
    ],
    ["is upgraded by a patch", { controlPlane: controlPlane("v1.34.1", "v1.34.0") }, "is upgrading to v1.34.1"],
    ["is about to be upgraded", { cluster: topology("v1.34.1") }, "has a pending version upgrade to v1.34.1"],
    [
      "is about to be upgraded by a step",
      { cluster: topology("v1.36.0", "v1.35.0") },
      "pending version upgrade to v1.35.0",
    ],
    [
      "of kubeadm is of another minor",
      { controlPlane: controlPlane("v1.35.0") },
      "kubeadm of v1.34.0 cannot join a control plane that kubeadm of v1.35.0 made (check KubeadmVersionSkew)",
    ],
    [
      "has a version that its workers are still to get",
      { cluster: topology("v1.34.2"), controlPlane: controlPlane("v1.34.2") },
      "wait for the version v1.34.2 of KubeadmControlPlane control (check ControlPlaneVersionSkew)",
    ],
  ])("makes no machine while the control plane %s, and says so", (_, fields, message) => {
    const given = observed(1, [], fields);
    expect(scaling(given)).toEqual([]);
    expect(scalingUp(given)).toContain(message);
    expect(plan(given, now).wait?.until).toBe(now + 15_000);
    const names = "ControlPlaneIsStable,KubeadmVersionSkew,ControlPlaneVersionSkew";
    const set = {
      ...given.set,
      metadata: { ...given.set.metadata, annotations: { [annotations.skipPreflightChecks]: names } },
    };
    expect(scaling({ ...given, set })).toHaveLength(1);
  });
  test.each<[string, Partial<Observed>]>([
    ["has no version", { controlPlane: undefined }],
    ["is at the step of an upgrade", { cluster: topology("v1.36.0", "v1.34.0") }],
    ["has an older version than it has reached", { controlPlane: controlPlane("v1.34.0", "v1.34.2") }],
    ["is hosted, and of a newer minor", { controlPlane: { ...controlPlane("v1.35.0"), kind: "HostedControlPlane" } }],
  ])("makes machines while the control plane %s", (_, fields) => {
    expect(scaling(observed(1, [], fields))).toHaveLength(1);
  });
  test("reads the version of its control plane again while machines wait for it, and only then", () => {
    const waits = (count: number, version: string) =>
      plan(
        observed(
          1,
          Array.from({ length: count }, (_, i) => owned(`m${i}`)),
          { controlPlane: controlPlane(version) },
        ),
        now,
      ).wait?.until;
    expect(waits(0, "v1.33.0")).toBe(now + 15_000);
    expect(waits(1, "v1.33.0")).toBeUndefined();
    expect(waits(0, "v1.34.0")).toBeUndefined();
  });
  test("counts what its machines say", () => {
    const { status } = plan(observed(3, [owned("a"), { ...owned("b"), status: {} }]), now);
    expect(status).toMatchObject({
      replicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      upToDateReplicas: 1,
      selector: "a=b",
    });
  });
});

test("a MachineSet of an earlier template has no machine that is up to date, whatever they say of themselves", () => {
  const newer = deployment(2, { template: { ...template, spec: { ...template.spec, version: "v1.34.1" } } });
  const { status } = plan(observed(2, [owned("a"), owned("b")], { deployment: newer }), now);
  expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, upToDateReplicas: 0 });
});

describe("the order in which a MachineSet deletes Machines", () => {
  const old = owned("old", { creationTimestamp: at(now - 1e9) });
  const young = owned("young", { creationTimestamp: at(now - 1e6) });
  const marked = owned("marked", { annotations: { [annotations.deleteMachine]: "" } });
  const lame = { ...owned("lame"), status: {} };
  const going = owned("going", { deletionTimestamp: at(now) });
  const names = (order: "Random" | "Newest" | "Oldest", machines: Machine[]) =>
    chooseForDeletion(machines, machines.length, { order, now }).map(({ metadata }) => metadata.name);
  test("is those being deleted, those marked, those without a Node, then the rest", () => {
    expect(names("Random", [old, lame, marked, young, going])).toEqual(["going", "marked", "lame", "old", "young"]);
  });
  test("begins with the newest by policy Newest", () =>
    expect(names("Newest", [old, young])).toEqual(["young", "old"]));
  test("begins with the oldest by policy Oldest", () =>
    expect(names("Oldest", [young, old])).toEqual(["old", "young"]));
});

describe("names of a MachineSet's Machines", () => {
  test("are distinct, never in use, and fit into a label", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 200, unit: fc.constantFrom("a", "b", "-", "1") }),
        fc.integer({ min: 1, max: 60 }),
        (name, count) => {
          const set = machineSet(name, 1);
          const taken = new Set(nextNames(set, new Set(), 7));
          const names = nextNames(set, taken, count);
          return new Set(names).size === count && names.every((n) => !taken.has(n) && n.length <= 63);
        },
      ),
      { numRuns: 30 },
    );
  });
  test("follow a naming template", () => {
    const set = machineSet("set", 1);
    const machineNaming = { template: "{{ .cluster.name }}-{{ .machineSet.name }}-{{ .random }}" };
    const [name] = nextNames({ ...set, spec: { ...set.spec, machineNaming } }, new Set(), 1);
    expect(name).toMatch(/^demo-set-[a-z0-9]{5}$/);
  });
  test.each([
    ["names no random part", "worker", /^worker-[a-z0-9]{5}$/],
    ["has its random part beyond what a label may have", `${"a".repeat(70)}{{ .random }}-x`, /^a{57}-[a-z0-9]{5}$/],
    ["pipes its random part", "w-{{ .random | lower }}", /-[a-z0-9]{5}$/],
  ])("are distinct although the naming template %s", (_, template, pattern) => {
    const set = machineSet("set", 3);
    const names = nextNames({ ...set, spec: { ...set.spec, machineNaming: { template } } }, new Set(), 3);
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(pattern);
  });
});
