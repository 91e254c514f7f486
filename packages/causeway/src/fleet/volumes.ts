import {
  Clouds,
  createController,
  createGroupController,
  IN_TREE_PROVISIONER,
  onlyOwn,
  onlyOwnGroups,
  translateStorageClass,
  translateVolume,
} from "@causeway/cinder-csi";
import { localController, localGroupController } from "@causeway/csi";
import { translate } from "@causeway/csi-openstack";
import { createSidecars, type Context, type Sidecars } from "@causeway/csi-sidecars";
import type { Clock, Log } from "@causeway/foundation";
import { createEventRecorder, type RemoteCluster } from "@causeway/kubernetes";
import type { CloudClient } from "@causeway/openstack";
import { installVolumeObjects } from "./volume-objects.ts";

/** A workload cluster, and the cloud with the cluster's credentials. */
export interface VolumesOptions extends CloudClient {
  readonly remote: RemoteCluster;
  /** Recorded in the metadata of volumes. */
  readonly clusterName: string;
  /** Whether the server is a machine of the cluster. */
  readonly hasServer: (id: string) => boolean;
  /** Of the driver's node plugin; undefined: the cluster's users install it, and simulated nodes play it. */
  readonly csiImage?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The controller part of the Cinder CSI driver and what its sidecars do, for one workload cluster and outside it: only
 * the driver's node plugin runs there, without credentials. The cloud is not called before the cluster has a claim for
 * the driver. Clusters may share a project: each one's users reach its own volumes, snapshots and servers only.
 */
export function memberVolumes(options: VolumesOptions): Sidecars {
  const { cloud, watch, remote, clusterName, hasServer, csiImage, clock, log } = options;
  const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
  const owner = { clouds, cluster: clusterName, hasServer };
  const parts = { clouds, clusterId: clusterName, clock, log };
  const controller = localController({ controller: onlyOwn(createController(parts), owner), translate, clock, log });
  const groupController = localGroupController({
    groupController: onlyOwnGroups(createGroupController(parts), owner),
    translate,
    clock,
    log,
  });
  const context = (): Context => ({
    informers: remote.informers,
    driver: {
      name: "cinder.csi.openstack.org",
      controller,
      withTopology: true,
      singleNodeMultiWriter: true,
      withSnapshots: true,
      groupController,
      migration: { provisioner: IN_TREE_PROVISIONER, storageClass: translateStorageClass, volume: translateVolume },
    },
    clock,
    log,
    events: createEventRecorder(remote.client, { component: "cinder.csi.openstack.org", clock }),
  });
  return {
    async run(signal) {
      try {
        await installVolumeObjects({ client: remote.client, csiImage, clock, log }, signal);
      } catch (error) {
        if (signal.aborted) return;
        throw error;
      }
      // Their informers watch what was installed.
      await createSidecars(context()).run(signal);
    },
  };
}
