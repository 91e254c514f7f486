/** A workload cluster's kubelets and scheduler, played: servers of Machines become Nodes, pods are bound to them. */
import { systemClock } from "@causeway/foundation";
import { Machine } from "@causeway/api";
import { Node, Pod, type KubernetesClient, type Taint } from "@causeway/kubernetes";
import type { Simulator } from "@causeway/simulator";

export interface PlayedWorkload {
  readonly management: KubernetesClient;
  readonly workload: KubernetesClient;
  readonly simulator: Simulator;
  /** What the kubelets of workers register with. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
}

/** Plays until the returned function is called; that rejects with what went wrong meanwhile. */
export function playWorkload(played: PlayedWorkload): () => Promise<void> {
  const ended = new AbortController();
  const work = (async () => {
    while (!ended.signal.aborted) {
      await registerNodes(played);
      await schedule(played.workload);
      await systemClock.sleep(200, ended.signal).catch(() => {});
    }
  })();
  // It is awaited at the end; until then it must not end the process.
  work.catch(() => {});
  return () => {
    ended.abort();
    return work;
  };
}

async function registerNodes({ management, workload, simulator, labels, taints = [] }: PlayedWorkload): Promise<void> {
  const [machines, nodes] = await Promise.all([management.list(Machine), workload.list(Node)]);
  const known = new Set(nodes.items.map(({ spec }) => spec?.providerID));
  const running = new Map(simulator.machines().map((machine) => [machine.id, machine]));
  for (const { metadata, spec } of machines.items) {
    const server = running.get(spec.providerID?.split("/").at(-1) ?? "");
    if (spec.providerID === undefined || server?.running !== true || metadata.deletionTimestamp !== undefined) continue;
    if (known.has(spec.providerID)) continue;
    const isWorker = metadata.labels?.["cluster.x-k8s.io/control-plane"] === undefined;
    const role = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" as const };
    const own = isWorker ? [...taints] : [role];
    const name = server.name;
    await workload.create(Node, {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        name,
        labels: {
          "kubernetes.io/hostname": name,
          "kubernetes.io/os": "linux",
          "kubernetes.io/arch": "amd64",
          ...(isWorker ? labels : {}),
        },
      },
      spec: { providerID: spec.providerID, taints: own },
    });
    const { cpu, memoryMiB, diskGiB } = server.resources;
    const capacity = {
      cpu: String(cpu),
      memory: `${memoryMiB}Mi`,
      "ephemeral-storage": `${diskGiB}Gi`,
      pods: "110",
    };
    const condition = (type: string, status: string) => ({
      type,
      status,
      reason: "Played",
      message: "",
      lastHeartbeatTime: new Date().toISOString(),
      lastTransitionTime: new Date().toISOString(),
    });
    const pressures = ["MemoryPressure", "DiskPressure", "PIDPressure"].map((type) => condition(type, "False"));
    const status = { capacity, allocatable: capacity, conditions: [condition("Ready", "True"), ...pressures] };
    await workload.patch(Node, { namespace: "", name }, { type: "merge", body: { status } }, { subresource: "status" });
    // A new Node is tainted as not ready at admission, which a controller of the workload cluster would take back.
    await workload.patch(Node, { namespace: "", name }, { type: "merge", body: { spec: { taints: own } } });
  }
}

/** One pod for each Node, by selector and taints: those of the tests take more than half of a Node. */
async function schedule(workload: KubernetesClient): Promise<void> {
  const [nodes, pods] = await Promise.all([workload.list(Node), workload.list(Pod)]);
  const taken = new Set(pods.items.map(({ spec }) => spec.nodeName));
  for (const pod of pods.items) {
    if (pod.spec.nodeName !== undefined) continue;
    const { name, namespace = "" } = pod.metadata;
    const node = nodes.items.find((one) => !taken.has(one.metadata.name) && fits(pod, one));
    const now = new Date().toISOString();
    if (node === undefined) {
      if (pod.status?.conditions?.some(({ type, status }) => type === "PodScheduled" && status === "False")) continue;
      const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", lastTransitionTime: now }];
      const body = { status: { conditions } };
      await workload.patch(Pod, { namespace, name }, { type: "merge", body }, { subresource: "status" });
      continue;
    }
    taken.add(node.metadata.name);
    const target = { apiVersion: "v1", kind: "Node", name: node.metadata.name };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace }, target };
    await workload.request("POST", `/api/v1/namespaces/${namespace}/pods/${name}/binding`, { body: binding });
    const conditions = ["PodScheduled", "Ready"].map((type) => ({ type, status: "True", lastTransitionTime: now }));
    const body = { status: { phase: "Running", conditions } };
    await workload.patch(Pod, { namespace, name }, { type: "merge", body }, { subresource: "status" });
  }
}

function fits({ spec }: Pod, { metadata, spec: of, status }: Node): boolean {
  const ready = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
  if (!ready || of?.unschedulable === true || metadata.deletionTimestamp !== undefined) return false;
  const wanted = Object.entries((spec as { nodeSelector?: Record<string, string> }).nodeSelector ?? {});
  const tolerations = (spec as { tolerations?: { key?: string }[] }).tolerations ?? [];
  const tolerated = (of?.taints ?? [])
    .filter(({ effect }) => effect !== "PreferNoSchedule")
    .every((taint) => tolerations.some(({ key }) => key === taint.key));
  return tolerated && wanted.every(([key, value]) => metadata.labels?.[key] === value);
}
