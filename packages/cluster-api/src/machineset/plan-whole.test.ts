import { describe, expect, test } from "vitest";
import { annotations, KubeadmConfig, OpenStackMachine, type Machine, type MachineSet } from "@causeway/api";
import { at, cluster, condition, machineSet, now, referred, template } from "../testing/objects.ts";
import { observed as observedSet, own, owned } from "../testing/machine-set-observed.ts";
import type { Observed } from "./observed.ts";
import { machineSetStepEvents, plan } from "./plan.ts";

const LABELS = {
  "cluster.x-k8s.io/cluster-name": "demo",
  "cluster.x-k8s.io/deployment-name": "workers",
  "cluster.x-k8s.io/set-name": "set",
};
const OWNER = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", name: "demo", uid: "uid-demo" };
const templateOf = (kind: "OpenStackMachineTemplate" | "KubeadmConfigTemplate", metadata: object = {}) => {
  const found = referred(kind, "workers", own);
  if (found.object) {
    Object.assign(found.object.metadata, {
      labels: { "cluster.x-k8s.io/cluster-name": "demo" },
      ownerReferences: [OWNER],
      ...metadata,
    });
  }
  return found;
};
const observed = (replicas: number, machines: readonly Machine[], fields: Partial<Observed> = {}): Observed => {
  const clones = new Set(machines.map(({ metadata }) => metadata.name));
  return observedSet(replicas, machines, {
    infrastructure: { ...templateOf("OpenStackMachineTemplate"), cloneKind: OpenStackMachine, clones },
    bootstrap: { ...templateOf("KubeadmConfigTemplate"), cloneKind: KubeadmConfig, clones },
    ...fields,
  });
};
const withMeta = (metadata: object, replicas = 1): MachineSet => {
  const set = machineSet("set", replicas);
  return { ...set, metadata: { ...set.metadata, ...metadata } };
};
const steps = (given: Observed): unknown[] =>
  plan(given, now).steps.map((s) =>
    s.type === "patch"
      ? [`${s.resource.kind} ${s.key.name}`, s.body]
      : s.type === "delete"
        ? `delete ${s.key.name}`
        : s.type === "create-machines"
          ? `create ${s.machines.length}`
          : s.type === "create-clones"
            ? `clone ${s.kind.kind} ${s.objects.map(({ metadata }) => metadata.name).join(",")}`
            : s.type,
  );
const lock = (name: string) => ({ uid: `uid-${name}`, resourceVersion: "1" });
const deletionTimestamp = at(now);

describe("a MachineSet", () => {
  test("that has what it wants does nothing", () => {
    expect(steps(observed(1, [owned("a")]))).toEqual([]);
    expect(plan(observed(1, [owned("a")]), now).wait).toEqual({ for: "changes" });
  });

  test("replaces a Machine that failed once that is leaving, and creates no other meanwhile", () => {
    const conditions = [condition("HealthCheckSucceeded", "False"), condition("OwnerRemediated", "False")];
    const failed = owned("b");
    const given = { ...failed, status: { ...failed.status, conditions } };
    expect(steps(observed(3, [owned("a"), given]))).toEqual(["delete b"]);
  });

  test("is left alone while it is paused", () => {
    const paused = withMeta({ annotations: { "cluster.x-k8s.io/paused": "" } }, 2);
    expect(plan(observed(2, [], { set: paused }), now)).toMatchObject({ steps: [], wait: { for: "unpausing" } });
  });

  test("that is deleted deletes its Machines, then loses its finalizer", () => {
    const set = withMeta({ deletionTimestamp });
    expect(steps(observed(1, [owned("a"), owned("b")], { set }))).toEqual(["delete a", "delete b"]);
    expect(steps(observed(1, [], { set }))).toEqual([
      ["MachineSet set", { metadata: { ...lock("set"), finalizers: [] } }],
    ]);
  });

  test.each<[string, Partial<Observed>]>([
    ["Cluster demo does not exist", { cluster: undefined }],
    ["Cluster demo is being deleted", { cluster: cluster({ metadata: { ...cluster().metadata, deletionTimestamp } }) }],
    [
      "OpenStackMachineTemplate workers does not exist",
      {
        infrastructure: {
          ...referred("OpenStackMachineTemplate", "workers"),
          cloneKind: OpenStackMachine,
          clones: new Set(),
        },
      },
    ],
    [
      "KubeadmConfigTemplate workers does not exist",
      { bootstrap: { ...referred("KubeadmConfigTemplate", "workers"), cloneKind: KubeadmConfig, clones: new Set() } },
    ],
    [
      "Machines of this MachineSet are not replaced any more",
      { set: withMeta({ annotations: { [annotations.disableMachineCreate]: "" } }) },
    ],
  ])("creates no Machine where %s", (why, more) => {
    const given = observed(1, [], more);
    expect(plan(given, now).wait?.for).toBe(why);
    expect(steps(given).filter((s) => typeof s === "string")).toEqual([]);
  });

  const ahead = machineSet("set", 1, {
    spec: { ...machineSet("set", 1).spec, template: { ...template, spec: { ...template.spec, version: "v1.35.0" } } },
  });
  test("waits for the version of its control plane while Machines are missing", () => {
    expect(plan(observed(1, [], { set: ahead }), now).wait?.until).toBe(now + 15_000);
    expect(plan(observed(1, [owned("a")], { set: ahead }), now).wait).not.toHaveProperty("until");
    const going = { ...ahead, metadata: { ...ahead.metadata, deletionTimestamp } };
    expect(plan(observed(1, [], { set: going }), now).wait).not.toHaveProperty("until");
    for (const skipped of ["All", "a, KubernetesVersionSkew,KubeadmVersionSkew"]) {
      const metadata = { ...ahead.metadata, annotations: { [annotations.skipPreflightChecks]: skipped } };
      expect(steps(observed(1, [], { set: { ...ahead, metadata } }))).toEqual(["create 1"]);
    }
  });

  test("gets its metadata, and gives its templates theirs", () => {
    const bare = withMeta({ labels: {}, finalizers: [] });
    const free = { labels: {}, ownerReferences: [] };
    const label = { "cluster.x-k8s.io/cluster-name": "demo" };
    const owners = [expect.objectContaining({ kind: "Cluster", name: "demo" }) as unknown];
    const given = observed(0, [], {
      set: { ...bare, spec: { ...bare.spec, replicas: 0 } },
      infrastructure: {
        ...templateOf("OpenStackMachineTemplate", free),
        cloneKind: OpenStackMachine,
        clones: new Set(),
      },
      bootstrap: { ...templateOf("KubeadmConfigTemplate", free), cloneKind: KubeadmConfig, clones: new Set() },
    });
    const adopted = { metadata: { ...lock("workers"), labels: label, ownerReferences: owners } };
    expect(steps(given)).toEqual([
      ["MachineSet set", { metadata: { ...lock("set"), labels: label, finalizers: ["cluster.x-k8s.io/machineset"] } }],
      ["OpenStackMachineTemplate workers", adopted],
      ["KubeadmConfigTemplate workers", adopted],
    ]);
    const gone = { ...free, deletionTimestamp };
    const alone = {
      infrastructure: {
        ...templateOf("OpenStackMachineTemplate", gone),
        cloneKind: OpenStackMachine,
        clones: new Set<string>(),
      },
      bootstrap: undefined,
    };
    expect(steps(observed(0, [], alone))).toEqual([]);
    const strange = { ...alone.infrastructure, ...templateOf("OpenStackMachineTemplate", free), kind: undefined };
    expect(steps(observed(0, [], { infrastructure: strange, bootstrap: undefined }))).toEqual([]);
  });

  test("is owned by the Cluster where no MachineDeployment has it", () => {
    const alone = observed(0, [], { deployment: undefined });
    const [[name, body]] = steps(alone) as [[string, { metadata: { ownerReferences: object[] } }]];
    expect(name).toBe("MachineSet set");
    expect(body.metadata.ownerReferences).toHaveLength(2);
  });

  test("adopts Machines without a controller", () => {
    const [[name, body]] = steps(observed(0, [], { orphans: [owned("o")] })) as [[string, object]];
    expect(name).toBe("Machine o");
    expect(body).toMatchObject({
      metadata: { ownerReferences: [{ kind: "MachineSet", name: "set", controller: true }] },
    });
  });

  const noted = (labels: object, notes: object, spec: object = {}): MachineSet => {
    const set = machineSet("set", 1);
    const metadata = {
      labels: { ...template.metadata.labels, ...labels },
      annotations: notes as Record<string, string>,
    };
    return { ...set, spec: { ...set.spec, template: { metadata, spec: { ...template.spec, ...spec } } } };
  };
  test.each<[string, MachineSet, object]>([
    ["labels", noted({ a: "b" }, {}), { metadata: { ...lock("m"), labels: { a: "b" } } }],
    ["annotations", noted({}, { c: "d" }), { metadata: { ...lock("m"), annotations: { c: "d" } } }],
    ["fields", noted({}, {}, { minReadySeconds: 7 }), { metadata: lock("m"), spec: { minReadySeconds: 7 } }],
  ])("gives its Machines %s in place, unless they are being deleted", (_what, set, body) => {
    expect(steps(observed(1, [owned("m")], { set }))).toStrictEqual([["Machine m", body]]);
    const leaving = observed(
      1,
      [owned("m", { deletionTimestamp }), owned("n", { labels: { ...LABELS, a: "b" }, annotations: { c: "d" } })],
      { set },
    );
    expect(steps(leaving).some((s) => Array.isArray(s) && s[0] === "Machine m")).toBe(false);
  });

  test("clones what its Machines lack, unless their hosts were there or they are being deleted", () => {
    const fresh = (name: string, metadata: object = {}): Machine => ({ ...owned(name, metadata), status: {} });
    const given = observed(3, [fresh("a"), fresh("b"), owned("c"), fresh("d", { deletionTimestamp })], {
      infrastructure: {
        ...templateOf("OpenStackMachineTemplate"),
        cloneKind: OpenStackMachine,
        clones: new Set(["b"]),
      },
      bootstrap: { ...templateOf("KubeadmConfigTemplate"), cloneKind: undefined, clones: new Set() },
    });
    expect(steps(given).filter((s) => typeof s === "string")).toEqual(["clone OpenStackMachine a"]);
  });
});

test("steps that were performed are events", () => {
  const machines = [{ metadata: { name: "a" } }, { metadata: { name: "b" } }];
  expect(machineSetStepEvents({ type: "create-machines", machines } as never)).toEqual([
    { type: "Normal", reason: "SuccessfulCreate", message: "Created machines a, b" },
  ]);
  expect(machineSetStepEvents({ type: "delete", key: { name: "a" } } as never)).toEqual([
    { type: "Normal", reason: "SuccessfulDelete", message: "Deleting machine a" },
  ]);
  expect(machineSetStepEvents({ type: "patch", key: { name: "a" } } as never)).toEqual([]);
});
