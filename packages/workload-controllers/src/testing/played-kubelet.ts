import { timestamp, Pod, type Informers, type KubernetesClient } from "@causeway/kubernetes";
import type { Clock } from "@causeway/foundation";
import type { PlayedStorage } from "./played-storage.ts";

export const annotations = {
  /** The pod remains Pending. */
  pending: "test/pending",
  /** The phase in which the pod ends as soon as it runs. */
  finish: "test/finish",
};

/**
 * Binds each pod to a node, sets it Running and Ready, and removes it once it is deleted. With storage, a pod waits for
 * its volumes.
 */
export function playKubelet(
  {
    client,
    informers,
    clock,
    storage,
  }: { client: KubernetesClient; informers: Informers; clock: Clock; storage?: PlayedStorage },
  nodes: readonly string[],
): void {
  let next = 0;
  informers.for(Pod).onChange(({ type, object }) => {
    if (type !== "deleted") void step(object).catch(() => {});
  });
  storage?.onChange((pod) => void step(pod).catch(() => {}));
  async function step(pod: Pod): Promise<void> {
    const { metadata, spec } = pod;
    const key = { namespace: metadata.namespace ?? "", name: metadata.name };
    if (metadata.deletionTimestamp !== undefined) return client.delete(Pod, key, { gracePeriodSeconds: 0 });
    if (metadata.annotations?.[annotations.pending] !== undefined || spec.schedulingGates !== undefined) return;
    if (!spec.nodeName) return storage?.isBound(pod) === false ? undefined : bind(pod);
    if (storage?.isAttached(pod) === false) return;
    if (pod.status?.phase !== "Pending") return;
    const number = next++;
    const finish = metadata.annotations?.[annotations.finish];
    const at = timestamp(clock.now());
    const ready = finish === undefined ? "True" : "False";
    const ip = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
    const state =
      finish === undefined
        ? { running: { startedAt: at } }
        : { terminated: { exitCode: finish === "Failed" ? 1 : 0, finishedAt: at, startedAt: at } };
    const status = {
      phase: finish ?? "Running",
      podIP: ip,
      podIPs: [{ ip }],
      startTime: at,
      conditions: [
        { type: "PodScheduled", status: "True", lastTransitionTime: at },
        { type: "Ready", status: ready, lastTransitionTime: at },
      ],
      containerStatuses: spec.containers.map(({ name, image = "" }) => ({
        name,
        image,
        imageID: image,
        restartCount: 0,
        ready: finish === undefined,
        state,
      })),
    };
    await client.patch(Pod, key, { type: "merge", body: { status } }, { subresource: "status" });
  }
  async function bind({ metadata, spec }: Pod): Promise<void> {
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/binding`;
    const name = wantedNode(spec) ?? nodes[next++ % nodes.length] ?? "";
    const body = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name: metadata.name },
      target: { kind: "Node", name },
    };
    await client.request("POST", path, { body });
  }
}

/** The node of a DaemonSet's pod. */
function wantedNode(spec: Pod["spec"]): string | undefined {
  const terms = (
    spec["affinity"] as {
      nodeAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: {
          nodeSelectorTerms?: { matchFields?: { key: string; values?: string[] }[] }[];
        };
      };
    }
  )?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.find(({ key }) => key === "metadata.name")?.values?.[0];
}
