/**
 * Plays the cloud controller and the Cinder CSI driver that Magnum's driver runs in its clusters: they name what they
 * make in the cloud by the cluster's UUID.
 */
import { Clouds, createController } from "@causeway/cinder-csi";
import { createCloudControllerManager, defaultCloudConfig } from "@causeway/cloud-controller-manager";
import { localController } from "@causeway/csi";
import { translate } from "@causeway/csi-openstack";
import { createSidecars } from "@causeway/csi-sidecars";
import { silentLog, systemClock } from "@causeway/foundation";
import { createEventRecorder, createInformers, type KubernetesClient } from "@causeway/kubernetes";
import { watchCloud, type Cloud } from "@causeway/openstack";
import { UUID } from "./names.ts";

export const CINDER = "cinder.csi.openstack.org";

export interface DriverCloud {
  /** Ends them; what they made remains. */
  stop(): Promise<void>;
}

export function startDriverCloud(client: KubernetesClient, cloud: Cloud): DriverCloud {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watch = watchCloud(cloud, { intervals: { fast: 200, fastest: 200 } });
  const informers = createInformers(client, {});
  const tools = { clock: systemClock, log: silentLog };
  const events = (component: string) => createEventRecorder(client, { component, clock: systemClock, signal });
  const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
  const controller = localController({ controller: createController({ clouds, clusterId: UUID }), translate });
  const parts = [
    informers,
    createCloudControllerManager({
      informers,
      cloud,
      watch,
      config: defaultCloudConfig(),
      clusterName: UUID,
      controllers: new Set(["service"]),
      events: events("service-controller"),
      ...tools,
    }),
    createSidecars({
      informers,
      driver: { name: CINDER, controller, withTopology: true, singleNodeMultiWriter: true, withSnapshots: false },
      events: events(CINDER),
      ...tools,
    }),
  ];
  const running = Promise.allSettled(parts.map((part) => part.run(signal)));
  return {
    async stop() {
      stopping.abort();
      await running;
      await watch.close();
    },
  };
}
