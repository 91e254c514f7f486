import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  CSIDriver,
  CSINode,
  CustomResourceDefinition,
  loadKubeconfig,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ServiceAccount,
  StorageClass,
  VolumeAttachment,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";
import type { Server } from "@causeway/openstack";
import { createWorkloadControllers } from "@causeway/workload-controllers";
import { parse } from "yaml";
import { inParallel } from "../in-parallel.ts";

export const DRIVER = "cinder.csi.openstack.org";
const ZONE = "topology.cinder.csi.openstack.org/zone";
const NAMESPACE = "bench";

interface Snapshot extends KubeObject {
  readonly status?: { readonly readyToUse?: boolean };
}
const snapshotGroup = { group: "snapshot.storage.k8s.io", version: "v1" };
const VolumeSnapshot: ResourceType<Snapshot> = {
  ...snapshotGroup,
  kind: "VolumeSnapshot",
  plural: "volumesnapshots",
  namespaced: true,
};
const VolumeSnapshotClass: ResourceType<KubeObject> = {
  ...snapshotGroup,
  kind: "VolumeSnapshotClass",
  plural: "volumesnapshotclasses",
  namespaced: false,
};

/**
 * A Kubernetes API with nodes, claims, pods and snapshots. Claims are bound and VolumeAttachments are made by the
 * controllers of packages/workload-controllers, in this process. No kubelet runs: a pod is its claim's user and nothing
 * else.
 */
export class StorageCluster {
  readonly client: KubernetesClient;
  /** Where claims, pods and snapshots are. */
  readonly namespace = NAMESPACE;
  readonly #stop = new AbortController();
  #running: Promise<unknown> | undefined;

  constructor(kubeconfig: string) {
    this.client = createClient(loadKubeconfig({ path: kubeconfig }));
  }

  /** What an administrator installs. `crds`: the folder of the snapshot CRDs. */
  async install(crds: string): Promise<void> {
    for (const name of ["default", NAMESPACE]) await this.#create(Namespace, name, {}).catch(unlessExisting);
    await this.#create(ServiceAccount, "default", {}).catch(unlessExisting);
    await this.#create(CSIDriver, DRIVER, { spec: { attachRequired: true, podInfoOnMount: true } });
    await this.#create(StorageClass, "cinder", {
      provisioner: DRIVER,
      reclaimPolicy: "Delete",
      allowVolumeExpansion: true,
      volumeBindingMode: "Immediate",
    });
    await this.#installSnapshots(crds);
  }

  /** Binds claims, and makes VolumeAttachments for pods. */
  startControllers(): void {
    const { signal } = this.#stop;
    const informers = createInformers(this.client);
    const events = createEventRecorder(this.client, { component: "bench", clock: systemClock, signal });
    const context = { informers, clock: systemClock, log: silentLog, events };
    this.#running = Promise.all([
      informers.run(signal),
      createWorkloadControllers(context, { nodes: false }).run(signal),
    ]);
  }

  async #installSnapshots(crds: string): Promise<void> {
    const files = readdirSync(crds).filter((name) => name.startsWith("snapshot.storage.k8s.io_"));
    for (const file of files) {
      await this.client.create(
        CustomResourceDefinition,
        parse(readFileSync(join(crds, file), "utf8")) as CustomResourceDefinition,
      );
    }
    await this.#until(
      () =>
        this.client.list(VolumeSnapshotClass).then(
          () => true,
          () => false,
        ),
      60,
    );
    // Cinder takes no snapshot of an attached volume otherwise.
    const parameters = { "force-create": "true" };
    await this.#create(VolumeSnapshotClass, "cinder", { driver: DRIVER, deletionPolicy: "Delete", parameters });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running?.catch(() => {});
    await this.client.close();
  }

  /** Nodes on which the driver's node service has registered. */
  async addNodes(servers: readonly Server[]): Promise<void> {
    await inParallel(servers, async ({ id, name }) => {
      await this.#create(
        Node,
        name,
        { spec: { providerID: `openstack:///${id}` } },
        {
          labels: { [ZONE]: "nova", "topology.kubernetes.io/zone": "nova" },
          annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
        },
      );
      await this.#create(CSINode, name, { spec: { drivers: [{ name: DRIVER, nodeID: id, topologyKeys: [ZONE] }] } });
    });
  }

  /** `more`: further fields of the spec. */
  addClaims(names: readonly string[], more: object = {}): Promise<void> {
    return inParallel(names, (name) =>
      this.#create(PersistentVolumeClaim, name, {
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "cinder",
          resources: { requests: { storage: "1Gi" } },
          ...more,
        },
      }),
    );
  }

  /**
   * A claim that is provisioned and attached to the node without the cluster's own controllers: what they write is
   * written here.
   */
  async addAttachedClaim(name: string, node: string): Promise<void> {
    const spec = {
      accessModes: ["ReadWriteOnce"],
      storageClassName: "cinder",
      resources: { requests: { storage: "1Gi" } },
    };
    const annotations = { "volume.kubernetes.io/storage-provisioner": DRIVER };
    await this.#create(PersistentVolumeClaim, name, { spec }, { annotations });
    await this.#until(async () => (await this.volumes()) > 0, 120);
    const [volume] = (await this.client.list(PersistentVolume)).items;
    const source = { persistentVolumeName: volume?.metadata.name ?? "" };
    await this.#create(VolumeAttachment, name, { spec: { attacher: DRIVER, nodeName: node, source } });
    await this.#until(async () => (await this.attached()).get(node) === 1, 120);
  }

  removeClaims(names: readonly string[]): Promise<void> {
    return this.#remove(PersistentVolumeClaim, names);
  }

  /** A pod for each claim, on that node. */
  addPods(pods: readonly { readonly name: string; readonly claim: string; readonly node: string }[]): Promise<void> {
    return inParallel(pods, ({ name, claim, node }) =>
      this.#create(Pod, name, {
        spec: {
          nodeName: node,
          automountServiceAccountToken: false,
          containers: [{ name: "main", image: "busybox" }],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim } }],
        },
      }),
    );
  }

  removePods(names: readonly string[]): Promise<void> {
    return inParallel(names, (name) =>
      this.client.delete(Pod, { namespace: NAMESPACE, name }, { gracePeriodSeconds: 0 }),
    );
  }

  addSnapshots(claims: readonly string[]): Promise<void> {
    return inParallel(claims, (claim) =>
      this.#create(VolumeSnapshot, claim, {
        spec: { volumeSnapshotClassName: "cinder", source: { persistentVolumeClaimName: claim } },
      }),
    );
  }

  removeSnapshots(claims: readonly string[]): Promise<void> {
    return this.#remove(VolumeSnapshot, claims);
  }

  /** By node, how many volumes are attached; "": attachments that are not complete, or are being removed. */
  async attached(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { metadata, spec, status } of (await this.client.list(VolumeAttachment)).items) {
      const isWhole = status?.attached === true && metadata.deletionTimestamp === undefined;
      const at = isWhole ? spec.nodeName : "";
      counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    return counts;
  }

  async readySnapshots(): Promise<number> {
    return (await this.client.list(VolumeSnapshot)).items.filter(({ status }) => status?.readyToUse === true).length;
  }

  async volumes(): Promise<number> {
    return (await this.client.list(PersistentVolume)).items.length;
  }

  async snapshots(): Promise<number> {
    return (await this.client.list(VolumeSnapshot)).items.length;
  }

  #remove<T extends KubeObject>(type: ResourceType<T>, names: readonly string[]): Promise<void> {
    return inParallel(names, (name) => this.client.delete(type, { namespace: NAMESPACE, name }));
  }

  #create<T extends KubeObject>(type: ResourceType<T>, name: string, fields: object, more: object = {}): Promise<T> {
    const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
    const metadata = { name, ...(type.namespaced ? { namespace: NAMESPACE } : {}), ...more };
    return this.client.create(type, { apiVersion, kind: type.kind, metadata, ...fields } as unknown as T);
  }

  async #until(test: () => Promise<boolean>, seconds: number): Promise<void> {
    for (const end = Date.now() + seconds * 1000; !(await test());) {
      if (Date.now() > end) throw new Error(`not reached in ${seconds} s`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

function unlessExisting(error: unknown): void {
  if (!/already exists/.test(String(error))) throw error;
}
