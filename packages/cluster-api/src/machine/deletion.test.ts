import { describe, expect, test } from "vitest";
import type { Machine, MachineDrainRule } from "@causeway/api";
import type { PersistentVolume, Pod, VolumeAttachment } from "@causeway/kubernetes";
import { observed as observedMachine } from "../testing/machine-observed.ts";
import { at, cluster, node, noDrain, now, podOn, referred, servingMachine } from "../testing/objects.ts";
import { nodeAwaitingVolumes, planDeletion } from "./deletion.ts";
import type { Observed } from "./observed.ts";

const base = servingMachine("w-1");
const leaving = (fields: Partial<Machine["metadata"]> = {}, spec: Partial<Machine["spec"]> = {}): Machine => ({
  ...base,
  metadata: { ...base.metadata, deletionTimestamp: at(now), finalizers: ["machine.cluster.x-k8s.io"], ...fields },
  spec: { ...base.spec, ...spec },
});
/** A rule that gives pods with the label "order" that order. */
const ordering = (order: number): MachineDrainRule => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "MachineDrainRule",
  metadata: { name: `order${order}`, namespace: "default" },
  spec: {
    drain: { behavior: "Drain", order },
    pods: [{ selector: { matchLabels: { order: String(order) } } }],
  },
});
const ordered = (name: string, order: number, fields: Partial<Pod["metadata"]> = {}): Pod =>
  podOn(name, { labels: { order: String(order) }, ...fields });
const completing = (name: string): Pod => podOn(name, { labels: { "cluster.x-k8s.io/drain": "wait-completed" } });
const on = (pods: readonly Pod[], of = node("w-1", { unschedulable: true })) =>
  ({
    reach: "connected",
    nodes: [of],
    drain: {
      pods,
      rules: [ordering(10), ordering(-1)],
      namespaces: new Map(),
      volumes: { attachments: [], persistentVolumes: [] },
    },
  }) as const;
const observed = (fields: Partial<Observed> = {}): Observed =>
  observedMachine({ machine: leaving(), workload: on([]), ...fields });
const host = { type: "delete", key: { namespace: "default", name: "w-1" }, uid: "uid-w-1" };
const cordoned = node("w-1", { unschedulable: true });
const unreachable = { status: { conditions: [{ type: "Ready", status: "Unknown" as const }] }, unschedulable: true };
const gone = { infrastructure: referred("OpenStackMachine", "w-1"), bootstrap: referred("KubeadmConfig", "w-1") };
const attached = { status: { conditions: [], volumesAttached: [{ name: "vol-1" }] } as object, unschedulable: true };
const hook = { "pre-drain.delete.hook.machine.cluster.x-k8s.io/a": "" };
const daemonSet = { apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "1", controller: true };
const lastHook = { "pre-terminate.delete.hook.machine.cluster.x-k8s.io/a": "" };

describe("a drain by rules", () => {
  const drained = (...pods: Pod[]) => {
    const { steps, message } = planDeletion(observed({ workload: on(pods) }), now);
    return [steps.flatMap((step) => (step.type === "drain" ? step.pods.map(({ name }) => name) : [])), message];
  };
  test("evicts pods of the lowest order, and others once those have gone", () => {
    const [names] = drained(ordered("late", 10), ordered("first", -1), podOn("second"));
    expect(names).toEqual(["first"]);
    expect(drained(ordered("late", 10), ordered("first", -1, { deletionTimestamp: at(now) }))[0]).toEqual([]);
    expect(drained(ordered("late", 10))[0]).toEqual(["late"]);
  });
  test("waits for pods that are to complete, and says so", () => {
    const [names, message] = drained(completing("job"), podOn("web"));
    expect(names).toEqual(["web"]);
    expect(message).toContain("default/job (waiting for its completion)");
    expect(drained(completing("job"))[0]).toEqual([]);
  });
});

describe("volumes of a Node", () => {
  const timeout = { deletion: { nodeDrainTimeoutSeconds: 60 } };
  const draining = (fields: Partial<Observed> = {}): Observed => {
    const machine = leaving({}, timeout);
    const status = { ...machine.status, deletion: { nodeDrainStartTime: at(now) } };
    return observed({ machine: { ...machine, status }, workload: on([podOn("web")]), ...fields });
  };
  test.each<[string, Observed, number, boolean]>([
    ["are not read during a drain that has a timeout", draining(), now + 59_000, false],
    ["are read once its timeout is over", draining(), now + 60_000, true],
    ["are read once nothing is left to drain", draining({ workload: on([]) }), now, true],
    ["are not read before its hooks have gone", observed({ machine: leaving({ annotations: hook }) }), now, false],
    ["are not read of an unreachable Node", observed({ workload: on([], node("w-1", unreachable)) }), now, false],
    ["are not read of a Machine that remains", observed({ machine: base, workload: on([podOn("web")]) }), now, false],
    [
      "are not read while the host goes",
      observed({ infrastructure: referred("OpenStackMachine", "w-1", { deleting: true }) }),
      now,
      false,
    ],
  ])("%s", (_, seen, when, isRead) => {
    expect(nodeAwaitingVolumes(seen, when) !== undefined).toBe(isRead);
  });
  test("keep the host until they have been read, when the drain ends between the reading and the plan", () => {
    const { workload, ...seen } = draining();
    if (workload.reach !== "connected") throw new Error("the Node is not seen");
    const { volumes: _, ...drain } = workload.drain;
    const planned = planDeletion({ ...seen, workload: { ...workload, drain } }, now + 60_000);
    expect(planned).toMatchObject({ steps: [], reason: "WaitingForVolumeDetach", until: now + 60_000 });
  });
});

describe("volumes that a deletion waits for", () => {
  const csi = (name: string, claim?: string, driver = "cinder.csi.openstack.org"): PersistentVolume =>
    ({
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name },
      spec: {
        csi: { driver, volumeHandle: `handle-${name}` },
        ...(claim === undefined ? {} : { claimRef: { namespace: "default", name: claim } }),
      },
    }) as PersistentVolume;
  const attachment = (name: string, volume: string | undefined, more: { node?: string; attached?: boolean } = {}) =>
    ({
      apiVersion: "storage.k8s.io/v1",
      kind: "VolumeAttachment",
      metadata: { name },
      spec: {
        attacher: "cinder.csi.openstack.org",
        nodeName: more.node ?? "w-1",
        source: volume === undefined ? {} : { persistentVolumeName: volume },
      },
      status: { attached: more.attached ?? true },
    }) as VolumeAttachment;
  const using = (name: string, claimName: string, metadata: Partial<Pod["metadata"]> = {}): Pod => {
    const pod = podOn(name, metadata);
    return { ...pod, spec: { ...pod.spec, volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] } } as Pod;
  };
  const skipped = using("agent", "cache", { ownerReferences: [daemonSet] });
  const reported = (...names: string[]) =>
    node("w-1", {
      status: { conditions: [], volumesAttached: names.map((name) => ({ name })) } as object,
      unschedulable: true,
    });
  const waited = (
    pods: readonly Pod[],
    volumes: { attachments?: VolumeAttachment[]; persistentVolumes?: PersistentVolume[] },
    of = node("w-1", { unschedulable: true }),
  ) => {
    const workload = on(pods, of);
    const all = { attachments: [], persistentVolumes: [], ...volumes };
    return planDeletion(observed({ workload: { ...workload, drain: { ...workload.drain, volumes: all } } }), now);
  };

  test.each<[string, ReturnType<typeof waited>, readonly string[]]>([
    [
      "a claim by its VolumeAttachment, although the kubelet reports nothing",
      waited([], { attachments: [attachment("a", "pv-1")], persistentVolumes: [csi("pv-1", "data")] }),
      ["PersistentVolumeClaim default/data"],
    ],
    [
      "a claim that both report, once",
      waited(
        [],
        { attachments: [attachment("a", "pv-1")], persistentVolumes: [csi("pv-1", "data")] },
        reported("kubernetes.io/csi/cinder.csi.openstack.org^handle-pv-1"),
      ),
      ["PersistentVolumeClaim default/data"],
    ],
    [
      "a volume without a claim, and names that no PersistentVolume explains",
      waited(
        [],
        {
          attachments: [attachment("a", "pv-1"), attachment("b", undefined)],
          persistentVolumes: [csi("pv-1")],
        },
        reported("kubernetes.io/csi/other^x"),
      ),
      ["PersistentVolume pv-1", "VolumeAttachment b", "kubernetes.io/csi/other^x"],
    ],
    [
      "all but what a skipped pod uses",
      waited([skipped], {
        attachments: [attachment("a", "pv-1"), attachment("b", "pv-2")],
        persistentVolumes: [csi("pv-1", "cache"), csi("pv-2", "data")],
      }),
      ["PersistentVolumeClaim default/data"],
    ],
  ])("are %s", (_, { reason, message }, names) => {
    expect(reason).toBe("WaitingForVolumeDetach");
    for (const name of names) expect(message).toContain(name);
    expect(message.split("\n")).toHaveLength(names.length + 1);
  });
  test.each<[string, ReturnType<typeof waited>]>([
    [
      "of pods that the drain skips",
      waited(
        [skipped],
        { attachments: [attachment("a", "pv-1")], persistentVolumes: [csi("pv-1", "cache")] },
        reported("kubernetes.io/csi/cinder.csi.openstack.org^handle-pv-1"),
      ),
    ],
    ["of other Nodes", waited([], { attachments: [attachment("a", "pv-1", { node: "w-2" })] })],
    ["that are not attached yet", waited([], { attachments: [attachment("a", "pv-1", { attached: false })] })],
    ["of a lost Node", waited([], { attachments: [attachment("a", "pv-1")] }, node("w-1", unreachable))],
  ])("are not those %s", (_, { reason }) => expect(reason).toBe("WaitingForInfrastructureDeletion"));
});

describe("the deletion of a Machine", () => {
  test.each<[string, Observed, string, object[]]>([
    [
      "is held by hooks before the drain",
      observed({ machine: leaving({ annotations: hook }) }),
      "WaitingForPreDrainHook",
      [],
    ],
    [
      "cordons the Node, and takes it out of load balancers",
      observed({ workload: on([], node("w-1")) }),
      "DrainingNode",
      [
        {
          type: "patch-node",
          body: {
            metadata: { labels: { "node.kubernetes.io/exclude-from-external-load-balancers": "" } },
            spec: { unschedulable: true },
          },
        },
      ],
    ],
    [
      "takes a Node that a user has cordoned out of load balancers",
      observed({ workload: on([], { ...cordoned, metadata: { name: "w-1" } }) }),
      "DrainingNode",
      [{ type: "patch-node" }],
    ],
    [
      "evicts the pods",
      observed({ workload: on([podOn("a")]) }),
      "DrainingNode",
      [{ type: "drain", pods: [{ name: "a" }] }],
    ],
    [
      "waits for pods on their way out",
      observed({ workload: on([podOn("a", { deletionTimestamp: at(now) })]) }),
      "DrainingNode",
      [],
    ],
    [
      "leaves pods of DaemonSets",
      observed({ workload: on([podOn("a", { ownerReferences: [daemonSet] })]) }),
      "WaitingForInfrastructureDeletion",
      [host],
    ],
    [
      "gives pods on a lost Node one second",
      observed({ workload: on([podOn("a")], node("w-1", unreachable)) }),
      "DrainingNode",
      [{ type: "drain", graceSeconds: 1 }],
    ],
    [
      "leaves pods that cannot end on a lost Node",
      observed({ workload: on([podOn("a", { deletionTimestamp: at(now - 2000) })], node("w-1", unreachable)) }),
      "WaitingForInfrastructureDeletion",
      [host],
    ],
    ["waits for volumes", observed({ workload: on([], node("w-1", attached)) }), "WaitingForVolumeDetach", []],
    [
      "is held by hooks before the host goes",
      observed({ machine: leaving({ annotations: lastHook }) }),
      "WaitingForPreTerminateHook",
      [],
    ],
    ["deletes the host after the drain", observed(), "WaitingForInfrastructureDeletion", [host]],
    [
      "waits for the host",
      observed({ infrastructure: referred("OpenStackMachine", "w-1", { deleting: true }), workload: on([podOn("a")]) }),
      "WaitingForInfrastructureDeletion",
      [],
    ],
    [
      "deletes the bootstrap configuration after the host",
      observed({ infrastructure: gone.infrastructure }),
      "WaitingForBootstrapDeletion",
      [host],
    ],
    [
      "deletes the Node after the bootstrap configuration",
      observed(gone),
      "DeletingNode",
      [{ type: "delete-node", name: "w-1" }],
    ],
    [
      "removes the finalizer last",
      observed({ ...gone, workload: { reach: "connected", nodes: [], drain: noDrain } }),
      "DeletionCompleted",
      [{ type: "patch" }],
    ],
    [
      "leaves the Node of a cluster that goes",
      observed({ ...gone, cluster: cluster({ metadata: { name: "demo", deletionTimestamp: at(now) } }) }),
      "DeletionCompleted",
      [{ type: "patch" }],
    ],
    [
      "waits with the drain for a cluster out of reach",
      observed({ workload: { reach: "unreachable" } }),
      "DrainingNode",
      [],
    ],
    [
      "does not report a host of a kind without a provider as deleted",
      observed({ workload: on([]), infrastructure: { ...gone.infrastructure, kind: undefined } }),
      "WaitingForInfrastructureDeletion",
      [],
    ],
  ])("%s", (_, given, reason, steps) => {
    const plan = planDeletion(given, now);
    expect(plan.reason).toBe(reason);
    expect(plan.steps).toMatchObject(steps);
    expect(plan.steps).toHaveLength(steps.length);
  });
});

describe("the time limits of a Machine's deletion", () => {
  const since = (seconds: number) => ({
    ...leaving(),
    status: { ...base.status, deletion: { nodeDrainStartTime: at(now - seconds * 1000) } },
  });
  test("let a drain without a limit continue", () => {
    const machine = since(100_000);
    expect(planDeletion(observed({ machine, workload: on([podOn("a")]) }), now).reason).toBe("DrainingNode");
  });
  test("end a drain past its limit", () => {
    const machine = { ...since(61), spec: { ...base.spec, deletion: { nodeDrainTimeoutSeconds: 60 } } };
    expect(planDeletion(observed({ machine, workload: on([podOn("a")]) }), now).reason).toBe(
      "WaitingForInfrastructureDeletion",
    );
  });
  test("give up a Node that cannot be reached after ten seconds", () => {
    const late = planDeletion(observed({ ...gone, workload: { reach: "unreachable" } }), now + 11_000);
    expect(late.reason).toBe("DeletionCompleted");
  });
  test("count from the recorded beginning of a drain", () => {
    expect(planDeletion(observed({ workload: on([podOn("a")]) }), now).times.nodeDrainStartTime).toBe(
      "2026-01-01T00:00:00Z",
    );
  });
});
