import { describe, expect, test } from "vitest";
import { annotations, type MachineDeployment, type MachineSet } from "@causeway/api";
import { at, cluster, deployment, machineSet, now, servingMachine, template } from "../testing/objects.ts";
import { newer, observed } from "../testing/machine-deployment-observed.ts";
import type { Observed } from "./observed.ts";
import { deploymentStepEvents, divide, limitsOf, plan } from "./plan.ts";

const named = (name: string, replicas: number | undefined, metadata: object = {}, spec: object = {}): MachineSet => {
  const base = machineSet(name, 0);
  return {
    ...base,
    metadata: { ...base.metadata, ...metadata },
    spec: { ...base.spec, replicas, ...spec },
  } as MachineSet;
};
/** What is created, deleted, or in the patch. */
const steps = (given: Observed, instant = now): unknown[] =>
  plan(given, instant).steps.map((s) =>
    s.type === "create"
      ? s.object
      : s.type === "delete"
        ? `delete ${s.key.name}`
        : [`${s.resource.kind} ${s.key.name}`, s.body],
  );
const lock = (name: string) => ({ uid: `uid-${name}`, resourceVersion: "1" });
const deleting = (of: MachineDeployment): MachineDeployment => ({
  ...of,
  metadata: { ...of.metadata, deletionTimestamp: at(now) },
});

describe("the MachineSets of a MachineDeployment", () => {
  const names = (of: MachineDeployment, ...sets: MachineSet[]) => {
    const { fresh, old } = divide(observed(of, sets), now);
    return [fresh?.metadata.name, ...old.map(({ metadata }) => metadata.name)];
  };
  const [a, b] = [named("a", 1), named("b", 1)];
  test("are the current one, and the others by age and name", () => {
    const later = named("b", 1, { creationTimestamp: at(now) });
    expect(names(deployment(1, { template: newer }), b, a)).toEqual([undefined, "a", "b"]);
    expect(names(deployment(1, { template: newer }), later, named("c", 1))).toEqual([undefined, "c", "b"]);
    expect(names(deployment(1, { template: newer }), named("a", 1, { creationTimestamp: at(now) }), b)).toEqual([
      undefined,
      "b",
      "a",
    ]);
    expect(names(deployment(1), b, a)).toEqual(["a", "b"]);
    expect(names(deployment(1), later, named("a", 1))).toEqual(["a", "b"]);
  });

  test("are current by the most replicas, of which one is the default", () => {
    expect(names(deployment(1), a, named("b", 2))).toEqual(["b", "a"]);
    expect(names(deployment(1), named("a", 0), named("b", undefined))).toEqual(["b", "a"]);
    expect(names(deployment(1), named("a", undefined), named("b", 2))).toEqual(["b", "a"]);
  });

  test("are not those that are being deleted", () => {
    expect(names(deployment(1), named("a", 1, { deletionTimestamp: at(now) }))).toEqual([undefined]);
  });
});

describe("a MachineDeployment", () => {
  test("that is deleted deletes its MachineSets, then loses its finalizer", () => {
    expect(steps(observed(deleting(deployment(1)), [named("a", 1), named("b", 1)]))).toEqual(["delete a", "delete b"]);
    expect(steps(observed(deleting(deployment(1))))).toEqual([
      ["MachineDeployment workers", { metadata: { ...lock("workers"), finalizers: [] } }],
    ]);
  });

  test("does nothing while it is paused", () => {
    const base = deployment(1);
    const paused = { ...base, metadata: { ...base.metadata, annotations: { "cluster.x-k8s.io/paused": "" } } };
    expect(plan(observed(paused), now)).toMatchObject({ steps: [], wait: { for: "unpausing" } });
  });

  test("does nothing without a Cluster, or with one that is deleted", () => {
    expect(steps(observed(deployment(1), [], { cluster: undefined }))).toEqual([]);
    const going = cluster({ metadata: { ...cluster().metadata, deletionTimestamp: at(now) } });
    expect(steps(observed(deployment(1), [], { cluster: going }))).toEqual([]);
  });

  test("gives its template the labels of its selector", () => {
    const selector = { matchLabels: { team: "a" } };
    expect(steps(observed(deployment(1, { selector })))).toEqual([
      [
        "MachineDeployment workers",
        { metadata: lock("workers"), spec: { template: { metadata: { labels: { team: "a" } } } } },
      ],
    ]);
  });

  test("gets a label, without more", () => {
    const of = deployment(1);
    const bare = { ...of, metadata: { ...of.metadata, labels: {} } };
    const label = { "cluster.x-k8s.io/cluster-name": "demo" };
    expect(steps(observed(bare))).toEqual([
      ["MachineDeployment workers", { metadata: { ...lock("workers"), labels: label } }],
    ]);
  });

  test("adopts MachineSets without a controller, before all else", () => {
    const orphan = named("o", 1, { ownerReferences: [] });
    expect(steps(observed(deployment(1), [], { orphans: [orphan] }))).toEqual([
      [
        "MachineSet o",
        {
          metadata: {
            ...lock("o"),
            ownerReferences: [expect.objectContaining({ name: "workers", controller: true }) as unknown],
          },
        },
      ],
    ]);
  });

  test("creates a whole MachineSet", () => {
    const deletion = { order: "Oldest" } as const;
    const machineNaming = { template: "x-{{ .random }}" };
    const of = deployment(2, { deletion, machineNaming, template: newer });
    const [set] = steps(observed(of, [named("old", 0, { annotations: { [annotations.revision]: "x" } })])) as [
      MachineSet,
    ];
    const marker = set.metadata.labels?.["machine-template-hash"];
    expect(marker).toMatch(/^.+-[a-z0-9]{5}$/);
    const marked = { "machine-template-hash": marker };
    expect(set).toEqual({
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineSet",
      metadata: {
        name: `workers-${String(marker).split("-").at(-1) ?? ""}`,
        namespace: "default",
        labels: { ...template.metadata.labels, ...marked },
        annotations: { [annotations.revision]: "1" },
        finalizers: ["cluster.x-k8s.io/machineset"],
        ownerReferences: [
          expect.objectContaining({ kind: "MachineDeployment", name: "workers", controller: true }) as unknown,
        ],
      },
      spec: {
        clusterName: "demo",
        replicas: 2,
        selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "workers", ...marked } },
        template: { ...newer, metadata: { labels: { ...template.metadata.labels, ...marked } } },
        deletion,
        machineNaming,
      },
    });
  });

  test("names no namespace and no more than it has in a new MachineSet", () => {
    const of = deployment(1);
    const bare = { ...of, metadata: { ...of.metadata, namespace: undefined } } as never;
    const [set] = steps(observed(bare)) as [MachineSet];
    expect(Object.hasOwn(set.metadata, "namespace")).toBe(false);
    expect(set.spec).not.toHaveProperty("deletion");
    expect(set.spec).not.toHaveProperty("machineNaming");
  });

  test("that is paused creates none, and scales what there is", () => {
    expect(steps(observed(deployment(2, { paused: true })))).toEqual([]);
    const old = named("old", 2);
    expect(steps(observed(deployment(4, { paused: true, template: newer }), [old]))).toEqual([
      ["MachineSet old", { metadata: lock("old"), spec: { replicas: 4 } }],
    ]);
    expect(steps(observed(deployment(4, { paused: true }), [old]))).toEqual([
      ["MachineSet old", { metadata: lock("old"), spec: { replicas: 4 } }],
    ]);
  });

  const changed = (spec: Partial<MachineDeployment["spec"]>, set = named("a", 1)) =>
    steps(observed(deployment(1, spec), [set]));
  const patch = (spec: object) => [["MachineSet a", { metadata: lock("a"), spec }]];
  test.each<[string, Partial<MachineDeployment["spec"]>, unknown]>([
    ["the order of deletion", { deletion: { order: "Newest" } }, patch({ deletion: { order: "Newest" } })],
    ["the names of machines", { machineNaming: { template: "t" } }, patch({ machineNaming: { template: "t" } })],
    [
      "labels",
      { template: { ...template, metadata: { labels: { ...template.metadata.labels, a: "b" } } } },
      patch({ template: { metadata: { labels: { a: "b" } } } }),
    ],
    [
      "annotations",
      { template: { ...template, metadata: { ...template.metadata, annotations: { c: "d" } } } },
      patch({ template: { metadata: { annotations: { c: "d" } } } }),
    ],
    [
      "what machines take over in place",
      { template: { ...template, spec: { ...template.spec, minReadySeconds: 7 } } },
      patch({ template: { spec: { minReadySeconds: 7 } } }),
    ],
    ["nothing", {}, []],
  ])("gives its MachineSet in place %s", (_what, spec, expected) => {
    expect(changed(spec)).toEqual(expected);
  });

  test("takes from its MachineSet in place what it has no more", () => {
    const set = named("a", 1, {}, { deletion: { order: "Newest" }, machineNaming: { template: "t" } });
    expect(changed({}, set)).toEqual(patch({ deletion: { order: null }, machineNaming: { template: null } }));
  });

  test("deletes no old MachineSet while its own changes, and has too few, or it has machines", () => {
    const [old, fresh] = [named("old", 0), named("new", 2, {}, { template: newer })];
    const of = (more: Partial<MachineDeployment["spec"]> = {}) => deployment(2, { template: newer, ...more });
    expect(steps(observed(of(), [old, fresh]))).toEqual(["delete old"]);
    expect(steps(observed(of({ deletion: { order: "Newest" } }), [old, fresh]))).toHaveLength(1);
    expect(steps(observed(of({ deletion: { order: "Newest" } }), [old, fresh]))).not.toContain("delete old");
    const late = new Map([["uid-new", [servingMachine("m")]]]);
    expect(steps(observed(of(), [old, fresh], { machinesOf: late }))).not.toContain("delete old");
    const left = new Map([
      ["uid-new", [servingMachine("m"), servingMachine("n")]],
      ["uid-old", [servingMachine("o")]],
    ]);
    expect(steps(observed(of(), [old, fresh], { machinesOf: left }))).not.toContain("delete old");
    expect(
      steps(observed(of({ replicas: undefined } as never), [old, named("new", 1, {}, { template: newer })])),
    ).toEqual(["delete old"]);
  });

  test("replaces machines only as they are deleted, on request", () => {
    const of = deployment(2, { template: newer, rollout: { strategy: { type: "OnDelete" } } } as never);
    const fresh = named("new", 0, {}, { template: newer });
    expect(steps(observed(of, [named("old", 2), fresh]))).toEqual([
      ["MachineSet old", { metadata: { ...lock("old"), annotations: { [annotations.disableMachineCreate]: "true" } } }],
    ]);
    const marked = named("old", 2, { annotations: { [annotations.disableMachineCreate]: "true" } });
    expect(steps(observed(of, [marked, fresh]))).toEqual([]);
  });

  test("waits for the time of a rollout", () => {
    const due = deployment(1, { rollout: { after: at(now + 5000) } } as never);
    expect(plan(observed(due), now).wait).toEqual({ for: "changes", until: now + 5000 });
    expect(plan(observed(due), now + 5000).wait).toEqual({ for: "changes" });
    expect(plan(observed(deployment(1)), now).wait).toEqual({ for: "changes" });
  });
});

test.each<[object | undefined, number | undefined, object]>([
  [undefined, 4, { desired: 4, maxSurge: 1, maxUnavailable: 0 }],
  [undefined, undefined, { desired: 1, maxSurge: 1, maxUnavailable: 0 }],
  [{ maxSurge: 0, maxUnavailable: 0 }, 4, { desired: 4, maxSurge: 0, maxUnavailable: 1 }],
  [{ maxSurge: 0, maxUnavailable: 2 }, 4, { desired: 4, maxSurge: 0, maxUnavailable: 2 }],
  [{ maxSurge: 2, maxUnavailable: 0 }, 4, { desired: 4, maxSurge: 2, maxUnavailable: 0 }],
  [{ maxSurge: "30%", maxUnavailable: "30%" }, 4, { desired: 4, maxSurge: 2, maxUnavailable: 1 }],
])("the limits of %j with %j replicas are %j", (rollingUpdate, replicas, expected) => {
  const rollout = { strategy: { type: "RollingUpdate", ...(rollingUpdate && { rollingUpdate }) } };
  expect(limitsOf(deployment(1, { replicas, rollout } as never))).toEqual(expected);
});

test("steps that were performed are events", () => {
  const normal = (reason: string, message: string) => [{ type: "Normal", reason, message }];
  const resource = { kind: "MachineSet" };
  const key = { name: "a" };
  expect(deploymentStepEvents({ type: "create", resource, object: { metadata: key } } as never)).toEqual(
    normal("SuccessfulCreate", "Created MachineSet a"),
  );
  expect(deploymentStepEvents({ type: "delete", resource, key } as never)).toEqual(
    normal("SuccessfulDelete", "Deleting MachineSet a"),
  );
  const patched = (body: object, kind = "MachineSet") =>
    deploymentStepEvents({ type: "patch", resource: { kind }, key, body } as never);
  expect(patched({ spec: { replicas: 0 } })).toEqual(normal("ScalingMachineSet", "Scaling MachineSet a to 0"));
  expect([
    ...patched({}),
    ...patched({ spec: {} }),
    ...patched({ spec: { replicas: 1 } }, "MachineDeployment"),
  ]).toEqual([]);
});
