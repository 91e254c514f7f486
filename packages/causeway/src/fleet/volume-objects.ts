import { VolumeSnapshotClass, groupSnapshotDefinitions, snapshotDefinitions } from "@causeway/csi-sidecars";
import { messageOf, type Clock, type Log } from "@causeway/foundation";
import {
  CSIDriver,
  CustomResourceDefinition,
  isAlreadyExists,
  StorageClass,
  type KubeObject,
  type KubernetesClient,
  type ResourceType,
} from "@causeway/kubernetes";

import { installNodePlugin } from "./node-plugin.ts";

const DRIVER = "cinder.csi.openstack.org";
const DEFAULT = { "storageclass.kubernetes.io/is-default-class": "true" };

const storageClass = (name: string, reclaimPolicy: string, annotations?: Readonly<Record<string, string>>) => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name, ...(annotations && { annotations: { ...annotations } }) },
  provisioner: DRIVER,
  reclaimPolicy,
  allowVolumeExpansion: true,
  volumeBindingMode: "WaitForFirstConsumer",
});

type Install = (client: KubernetesClient, signal: AbortSignal) => Promise<void>;

/** Creates the object where it is missing. One that is there is its users' and is not changed. */
function missing<T extends KubeObject>(type: ResourceType<T>, object: T): Install {
  return async (client, signal) => {
    if (await client.find(type, { namespace: "", name: object.metadata.name }, { signal })) return;
    try {
      await client.create(type, object, { fieldManager: "causeway-fleet", signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
}

/** A default class of the users' own remains the only one. */
const storageClasses: Install = async (client, signal) => {
  const { items } = await client.list(StorageClass, { signal });
  const isDefault = ({ metadata }: StorageClass) =>
    Object.entries(DEFAULT).every(([key, value]) => metadata.annotations?.[key] === value);
  const annotations = items.some(isDefault) ? undefined : DEFAULT;
  await missing<StorageClass>(StorageClass, storageClass("csi-cinder-sc-delete", "Delete", annotations))(
    client,
    signal,
  );
  await missing<StorageClass>(StorageClass, storageClass("csi-cinder-sc-retain", "Retain"))(client, signal);
};

/** What a workload cluster needs for the driver: nothing in it has a credential. The snapshot class follows its CRD. */
const objects: readonly Install[] = [
  ...[...snapshotDefinitions, ...groupSnapshotDefinitions].map((each) => missing(CustomResourceDefinition, each)),
  missing<CSIDriver>(CSIDriver, {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: DRIVER },
    spec: { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ["Persistent"] },
  }),
  storageClasses,
  missing<VolumeSnapshotClass>(VolumeSnapshotClass, {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotClass",
    metadata: {
      name: "csi-cinder-snapclass",
      annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" },
    },
    driver: DRIVER,
    deletionPolicy: "Delete",
    parameters: { "force-create": "true" },
  }),
];

const AGAIN = 5_000;
const LONGEST_PAUSE = 60_000;

/** Where objects are installed, and whether the node plugin is among them. */
export interface InstallOptions {
  /** An image of Causeway: the node plugin is installed with it. */
  readonly csiImage?: string | undefined;
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Until all are there: a CRD is served a moment after it is created, and the cluster may be unreachable for a while.
 */
export async function installVolumeObjects(
  { client, csiImage, clock, log }: InstallOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      for (const install of objects) await install(client, signal);
      if (csiImage !== undefined) await installNodePlugin(client, csiImage, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (failures > 0) log.warn("the objects of the volume driver are not installed yet", { error: messageOf(error) });
      await clock.sleep(Math.min(LONGEST_PAUSE, AGAIN * 2 ** failures), signal);
    }
  }
}
