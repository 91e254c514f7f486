import {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  type CSIDriver,
  type KubernetesClient,
  type Pod,
} from "@causeway/kubernetes";

interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly ephemeral?: unknown;
}

/** Names of the claims that a pod's volumes are. */
export function claimsOf({ metadata, spec }: Pod): readonly string[] {
  const volumes = (spec["volumes"] ?? []) as readonly PodVolume[];
  return volumes.flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim =
      persistentVolumeClaim?.claimName ?? (ephemeral === undefined ? undefined : `${metadata.name}-${name}`);
    return claim === undefined ? [] : [claim];
  });
}

/** The node whose pods' volumes are played. */
export interface PodVolumesOptions {
  readonly client: KubernetesClient;
  readonly nodeName: string;
  /** The CSIDriver of a name. */
  readonly driver: (name: string) => CSIDriver | undefined;
  readonly signal: AbortSignal;
}

const isOver = ({ status }: Pod) => status?.phase === "Succeeded" || status?.phase === "Failed";

/**
 * The volumes of a node's pods. A volume is in use from before its pod starts until its pod's object is gone, and the
 * node's status says so: what detaches volumes waits for it. Nothing is mounted.
 */
export class PodVolumes {
  readonly #options: PodVolumesOptions;
  /** Unique names of attached volumes, by the UID of the pod. */
  readonly #byPod = new Map<string, readonly string[]>();
  #reported: string | undefined;

  constructor(options: PodVolumesOptions) {
    this.#options = options;
  }

  /** The volumes that a pod waits for: names, or what is not known of them yet. Empty: all are attached. */
  async waiting(pod: Pod, node: Node): Promise<readonly string[]> {
    const claims = claimsOf(pod);
    if (claims.length === 0 || isOver(pod)) return [];
    const names = await this.#namesOf(pod, claims);
    if (names === undefined) return claims;
    const attached = new Set(volumesOf(node).volumesAttached?.map(({ name }) => name));
    return names.filter((name) => !attached.has(name));
  }

  /**
   * What CSI volumes the pod's claims are bound to; undefined: not all are bound. A claim that is bound remains bound
   * to its volume.
   */
  async #namesOf(pod: Pod, claims: readonly string[]): Promise<readonly string[] | undefined> {
    const { uid = "", namespace = "" } = pod.metadata;
    const known = this.#byPod.get(uid);
    if (known) return known;
    const { client, signal, driver } = this.#options;
    const names: string[] = [];
    for (const name of claims) {
      const claim = await client.find(PersistentVolumeClaim, { namespace, name }, { signal });
      const volumeName = claim?.spec.volumeName;
      const volume =
        volumeName === undefined
          ? undefined
          : await client.find(PersistentVolume, { namespace: "", name: volumeName }, { signal });
      if (!volume) return undefined;
      const { csi } = volume.spec;
      if (csi && driver(csi.driver)?.spec.attachRequired !== false)
        names.push(`kubernetes.io/csi/${csi.driver}^${csi.volumeHandle}`);
    }
    this.#byPod.set(uid, names);
    return names;
  }

  /** Reports what the pods use, if it changed. `pods`: all of the node. */
  async report(pods: readonly Pod[], node: Node): Promise<void> {
    const live = new Set(pods.filter((pod) => !isOver(pod)).map(({ metadata }) => metadata.uid ?? ""));
    for (const uid of [...this.#byPod.keys()].filter((each) => !live.has(each))) this.#byPod.delete(uid);
    const volumesInUse = [...new Set([...this.#byPod.values()].flat())].toSorted();
    const text = volumesInUse.join(" ");
    this.#reported ??= [...(volumesOf(node).volumesInUse ?? [])].toSorted().join(" ");
    if (text === this.#reported) return;
    const { client, nodeName, signal } = this.#options;
    const patch = { type: "merge" as const, body: { status: { volumesInUse } } };
    await client.patch(Node, { namespace: "", name: nodeName }, patch, { subresource: "status", signal });
    this.#reported = text;
  }
}

interface NodeVolumes {
  readonly volumesInUse?: readonly string[];
  readonly volumesAttached?: readonly { readonly name: string }[];
}

const volumesOf = ({ status }: Node): NodeVolumes => (status ?? {}) as NodeVolumes;
