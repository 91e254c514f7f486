/**
 * The fleet's volumes in a process of its own: `node fleet-child.ts CLOUDS_YAML KUBECONFIG…`. The driver's controller
 * service and what its sidecars do, for each cluster, all with one connection to the cloud: as
 * packages/causeway/src/fleet runs them.
 */
import { readFileSync } from "node:fs";
import {
  Clouds,
  createController,
  IN_TREE_PROVISIONER,
  translateStorageClass,
  translateVolume,
} from "@causeway/cinder-csi";
import { localController } from "@causeway/csi";
import { translate } from "@causeway/csi-openstack";
import { createSidecars } from "@causeway/csi-sidecars";
import { createLog, systemClock } from "@causeway/foundation";
import { createClient, createEventRecorder, createInformers, loadKubeconfig } from "@causeway/kubernetes";
import { createCloudPool, loadCloudsYaml } from "@causeway/openstack";

export const FLEET_CHILD = import.meta.filename;

function run([cloudsYaml = "", ...kubeconfigs]: readonly string[]): void {
  const clock = systemClock;
  const log = createLog({ level: "warn" });
  const config = loadCloudsYaml({ text: readFileSync(cloudsYaml, "utf8"), cloud: "simulator" });
  const pool = createCloudPool({ clock, log });
  const { signal } = new AbortController();
  for (const [i, path] of kubeconfigs.entries()) {
    const { cloud, watch } = pool.get(config);
    const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
    const client = createClient(loadKubeconfig({ path }));
    const informers = createInformers(client, { clock, log });
    const controller = createController({ clouds, clusterId: `bench-${i}`, clock, log });
    const sidecars = createSidecars({
      informers,
      driver: {
        name: "cinder.csi.openstack.org",
        controller: localController({ controller, translate, clock, log }),
        withTopology: true,
        singleNodeMultiWriter: true,
        migration: { provisioner: IN_TREE_PROVISIONER, storageClass: translateStorageClass, volume: translateVolume },
      },
      clock,
      log,
      events: createEventRecorder(client, { component: "cinder.csi.openstack.org", clock }),
    });
    void informers.run(signal);
    void sidecars.run(signal);
  }
}

if (import.meta.main) run(process.argv.slice(2));
