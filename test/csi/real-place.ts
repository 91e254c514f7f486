/**
 * cinder-csi on a real cloud, as a node of a server that is started for it. On tools/devcloud of this machine the
 * server's disks are loop devices here, and the node service formats and mounts them. On another cloud the node service
 * only returns which server it is.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Clouds, createController, createGroupController, createIdentity, createNode } from "@causeway/cinder-csi";
import { csiClient, serveCsi, type CsiClient } from "@causeway/csi";
import { linuxHost, translate } from "@causeway/csi-openstack";
import { createLog } from "@causeway/foundation";
import { connectCloud, loadCloudsYaml, watchCloud, type Cloud } from "@causeway/openstack";
import { unmountBelow } from "./mounted.ts";
import { bootServer } from "./server.ts";

/** Where tools/devcloud links the disks of its servers. */
const DISKS = "/run/devcloud";

export interface RealPlace {
  readonly endpoint: string;
  readonly dir: string;
  readonly cloud: Cloud;
  readonly client: CsiClient;
  /** The server's ID. */
  readonly server: string;
  readonly isControllerOnly: boolean;
  close(): Promise<void>;
}

export async function openRealPlace(entry: string): Promise<RealPlace> {
  const dir = mkdtempSync(join(tmpdir(), "csi-real-"));
  const cloud = connectCloud(loadCloudsYaml({ cloud: entry }));
  const server = await bootServer(cloud, "csi-sanity-node");
  const watch = watchCloud(cloud, { intervals: { fast: 500, fastest: 500 } });
  const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const isControllerOnly = !existsSync(DISKS);
  const log = createLog({ level: process.env["CAUSEWAY_CSI_LOG"] === undefined ? "silent" : "debug" });
  const driver = await serveCsi({
    endpoint,
    translate,
    log,
    identity: createIdentity({ version: "test" }),
    controller: createController({ clouds, clusterId: "csi-sanity", log }),
    groupController: createGroupController({ clouds, clusterId: "csi-sanity", log }),
    node: isControllerOnly
      ? serverOnly(server)
      : createNode({
          host: linuxHost({ byId: join(DISKS, server, "by-id") }),
          metadata: () => Promise.resolve({ uuid: server, zone: "nova", disks: [] }),
        }),
  });
  const client = csiClient(endpoint);
  return {
    endpoint,
    dir,
    cloud,
    client,
    server,
    isControllerOnly,
    async close() {
      client.close();
      await driver.close();
      unmountBelow(dir);
      await watch.close();
      await cloud.compute.servers.delete(server);
      await cloud.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const serverOnly = (server: string) => ({
  nodeGetCapabilities: () => ({ capabilities: [] }),
  // csi-sanity calls it for each volume that it removes.
  nodeUnpublishVolume: () => ({}),
  nodeGetInfo: () => ({
    nodeId: server,
    accessibleTopology: { segments: { "topology.cinder.csi.openstack.org/zone": "nova" } },
  }),
});
