/**
 * cinder-csi on a real cloud: OS_CLOUD names the entry. Its controller service is tested; the node service only says which server it is, as the
 * servers' devices are not on this machine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Clouds, createController, createIdentity } from "@causeway/cinder-csi";
import { serveCsi } from "@causeway/csi";
import { translate } from "@causeway/csi-openstack";
import { connectCloud, loadCloudsYaml, watchCloud } from "@causeway/openstack";
import { bootServer } from "./server.ts";

export async function openRealPlace(entry: string) {
  const dir = mkdtempSync(join(tmpdir(), "csi-real-"));
  const cloud = connectCloud(loadCloudsYaml({ cloud: entry }));
  const server = await bootServer(cloud, "csi-sanity-node");
  const watch = watchCloud(cloud, { intervals: { fast: 500, fastest: 500 } });
  const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const driver = await serveCsi({
    endpoint,
    translate,
    identity: createIdentity({ version: "test" }),
    controller: createController({ clouds, clusterId: "csi-sanity" }),
    node: {
      nodeGetCapabilities: () => ({ capabilities: [] }),
      // csi-sanity calls it for each volume that it removes.
      nodeUnpublishVolume: () => ({}),
      nodeGetInfo: () => ({
        nodeId: server,
        accessibleTopology: { segments: { "topology.cinder.csi.openstack.org/zone": "nova" } },
      }),
    },
  });
  return {
    endpoint,
    dir,
    async close() {
      await driver.close();
      await watch.close();
      await cloud.compute.servers.delete(server);
      await cloud.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
