import {
  isAlreadyExists,
  isNotFound,
  keyOf,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
  VolumeAttachment,
  type Informer,
  type Informers,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { annotation, claimsUsedBy } from "../objects/storage.ts";

export const driver = "csi.example.com";
export const storageClass = "played";

interface NodeVolumes {
  readonly volumesAttached?: readonly { readonly name: string }[];
  readonly volumesInUse?: readonly string[];
}

/**
 * Plays a CSI driver's provisioner and attacher, and what kubelets report of volumes. `problems` has what no schedule
 * may lead to: a volume that is attached to two nodes, and one that is detached while a node uses it.
 */
export class PlayedStorage {
  readonly problems = new Set<string>();
  readonly #client: KubernetesClient;
  readonly #claims: Informer<PersistentVolumeClaim>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #attachments: Informer<VolumeAttachment>;
  readonly #nodes: Informer<Node>;
  readonly #pods: Informer<Pod>;
  /** By node, what it mounts: names of volumes. */
  readonly #inUse = new Map<string, string>();
  /** "VOLUME NODE" of what a pod runs with, until its node reports that it is not in use. */
  readonly #mounted = new Set<string>();
  /** By node: reports are written one after the other. */
  readonly #reports = new Map<string, Promise<void>>();

  constructor(client: KubernetesClient, informers: Informers) {
    this.#client = client;
    this.#claims = informers.for(PersistentVolumeClaim);
    this.#volumes = informers.for(PersistentVolume);
    this.#attachments = informers.for(VolumeAttachment);
    this.#nodes = informers.for(Node);
    this.#pods = informers.for(Pod);
    this.#claims.onChange(({ type, object }) => {
      if (type !== "deleted") void this.#provision(object).catch(() => {});
    });
    this.#attachments.onChange(({ type, object }) => {
      if (type !== "deleted") void this.#attach(object).catch(() => {});
      this.#judge(type === "deleted", object);
    });
    this.#pods.onChange(({ object: { spec } }) => {
      if (spec.nodeName) void this.#report(spec.nodeName);
    });
  }

  /** The class that the claims of a schedule name. */
  async createClass(): Promise<void> {
    await this.#client.create(StorageClass, {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: storageClass },
      provisioner: driver,
    });
  }

  /** Calls `retry` whenever a pod that waits for its volumes may continue. */
  onChange(retry: (pod: Pod) => void): void {
    const all = () => {
      for (const pod of this.#pods.list()) if (claimsUsedBy(pod).length > 0) retry(pod);
    };
    this.#claims.onChange(all);
    this.#nodes.onChange(all);
  }

  /** All claims of the pod have volumes. */
  isBound(pod: Pod): boolean {
    return this.#volumesOf(pod) !== undefined;
  }

  /** The node lists every volume of the pod as attached, and knows that the pod uses it. */
  isAttached(pod: Pod): boolean {
    const names = this.#volumesOf(pod);
    const node = this.#nodes.get({ namespace: "", name: pod.spec.nodeName ?? "" });
    const { volumesAttached = [], volumesInUse = [] } = (node?.status ?? {}) as NodeVolumes;
    const all = names?.map(uniqueName) ?? [];
    const isReported = all.every((name) => volumesInUse.includes(name));
    if (!names || !isReported || !all.every((name) => volumesAttached.some((each) => each.name === name))) return false;
    for (const name of names) this.#mounted.add(`${name} ${pod.spec.nodeName}`);
    return true;
  }

  #volumesOf(pod: Pod): string[] | undefined {
    const names = claimsUsedBy(pod).map((id) => {
      const [namespace = "", name = ""] = id.split("/");
      const claim = this.#claims.get({ namespace, name });
      return claim?.metadata.annotations?.[annotation.bindCompleted] === undefined ? undefined : claim.spec.volumeName;
    });
    return names.every((name) => name !== undefined) ? names : undefined;
  }

  /** As an external provisioner: one volume for each claim, with a name that follows from the claim's uid. */
  async #provision({ metadata, spec }: PersistentVolumeClaim): Promise<void> {
    const { uid = "", name, namespace, annotations = {}, deletionTimestamp } = metadata;
    if (spec.volumeName || deletionTimestamp !== undefined || annotations[annotation.provisioner] !== driver) return;
    const volume = `pvc-${uid}`;
    await this.#client
      .create(PersistentVolume, {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name: volume, annotations: { [annotation.provisionedBy]: driver } },
        spec: {
          accessModes: spec.accessModes ?? [],
          capacity: { storage: "1Gi" },
          storageClassName: storageClass,
          persistentVolumeReclaimPolicy: "Delete",
          claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace: namespace ?? "", uid },
          csi: { driver, volumeHandle: volume },
        },
      })
      .catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
  }

  async #attach(attachment: VolumeAttachment): Promise<void> {
    if (attachment.status?.attached === true || attachment.metadata.deletionTimestamp !== undefined) return;
    const body = { status: { attached: true } };
    await this.#client.patch(VolumeAttachment, keyOf(attachment), { type: "merge", body }, { subresource: "status" });
  }

  /** A kubelet reports what its pods use before they run, and until they are gone. */
  #report(node: string): Promise<void> {
    const next = (this.#reports.get(node) ?? Promise.resolve()).then(async () => {
      const using = this.#pods.list().filter(({ spec }) => spec.nodeName === node);
      const names = [...new Set(using.flatMap((pod) => this.#volumesOf(pod) ?? []))].toSorted((a, b) =>
        a < b ? -1 : 1,
      );
      if (this.#inUse.get(node) === names.join()) return;
      this.#inUse.set(node, names.join());
      for (const each of this.#mounted) {
        const [volume = "", at = ""] = each.split(" ");
        if (at === node && !names.includes(volume)) this.#mounted.delete(each);
      }
      const body = { status: { volumesInUse: names.map(uniqueName) } };
      const key = { namespace: "", name: node };
      await this.#client
        .patch(Node, key, { type: "merge", body }, { subresource: "status" })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
    });
    this.#reports.set(
      node,
      next.catch(() => {}),
    );
    return next;
  }

  #judge(isDetached: boolean, { spec }: VolumeAttachment): void {
    const volume = spec.source.persistentVolumeName ?? "";
    const nodes = this.#attachments.list().filter((each) => each.spec.source.persistentVolumeName === volume);
    if (nodes.length > 1) {
      const names = nodes.map((each) => each.spec.nodeName);
      this.problems.add(`volume ${volume} is attached to ${names.join(" and ")} at once`);
    }
    // What the kubelet mounts, whatever the caches show of its pods.
    const isUsed = this.#inUse.get(spec.nodeName)?.split(",").includes(volume) === true;
    if (isDetached && isUsed && this.#mounted.has(`${volume} ${spec.nodeName}`))
      this.problems.add(`volume ${volume} was detached from ${spec.nodeName} while in use`);
  }

  /** What is wrong once nothing changes any more; `claims`: names of those that there are to be. */
  judgeEnd(claims: readonly string[]): string[] {
    const found = this.#claims.list();
    const names = found.map(({ metadata }) => metadata.name).toSorted((a, b) => (a < b ? -1 : 1));
    const problems = [...this.problems];
    if (names.join() !== claims.join()) problems.push(`claims ${names.join()} in place of ${claims.join()}`);
    const volumes = this.#volumes.list();
    if (volumes.length !== found.length) problems.push(`${volumes.length} volumes for ${found.length} claims`);
    for (const { metadata, spec, status } of found) {
      const volume = volumes.find(({ metadata: { name } }) => name === spec.volumeName);
      const isBound = status?.phase === "Bound" && volume?.spec.claimRef?.uid === metadata.uid;
      if (!isBound) problems.push(`claim ${metadata.name} is not bound to a volume of its own`);
    }
    const pods = this.#pods.list();
    const wanted = pods.flatMap((pod) =>
      (this.#volumesOf(pod) ?? []).map((volume) => `${volume} on ${pod.spec.nodeName}`),
    );
    const attached = this.#attachments
      .list()
      .map(({ spec }) => `${spec.source.persistentVolumeName} on ${spec.nodeName}`);
    const [want, have] = [wanted, attached].map((each) => each.toSorted((a, b) => (a < b ? -1 : 1)).join());
    if (want !== have) problems.push(`attached are ${have} in place of ${want}`);
    return problems;
  }
}

function uniqueName(volume: string): string {
  return `kubernetes.io/csi/${driver}^${volume}`;
}
