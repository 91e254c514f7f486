/**
 * cinder-csi with all its services on a socket, a simulated cloud, and a server of it whose devices are loop devices
 * here.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Clouds, createController, createGroupController, createIdentity, createNode } from "@causeway/cinder-csi";
import { serveCsi, type CallOutcome } from "@causeway/csi";
import { linuxHost, translate } from "@causeway/csi-openstack";
import { createLog } from "@causeway/foundation";
import { connectCloud, loadCloudsYaml, watchCloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { followDevices } from "./devices.ts";
import { unmountBelow } from "./mounted.ts";
import { bootServer } from "./server.ts";

export interface CsiPlace {
  readonly endpoint: string;
  readonly dir: string;
  readonly server: string;
  readonly simulator: Simulator;
  close(): Promise<void>;
}

export async function openCsiPlace(options: { onCall?: (outcome: CallOutcome) => void } = {}): Promise<CsiPlace> {
  const dir = mkdtempSync(join(tmpdir(), "csi-place-"));
  const simulator = await startSimulator({ delays: { "server.attach": 50, "server.detach": 50, "volume.create": 50 } });
  const path = join(dir, "clouds.yaml");
  writeFileSync(path, simulator.cloudsYaml, { mode: 0o600 });
  const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", path }));
  const server = await bootServer(cloud, "node");
  const watch = watchCloud(cloud, { intervals: { fast: 50, fastest: 50 } });
  await watch.volumes.start();
  mkdirSync(join(dir, "devices"));
  const devices = followDevices(watch.volumes, server, join(dir, "devices"));
  const clouds = new Clouds([{ name: "", cloud, volumes: watch.volumes, options: {} }]);
  const log = createLog({ level: process.env["CAUSEWAY_CSI_LOG"] === undefined ? "silent" : "debug" });
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const driver = await serveCsi({
    endpoint,
    log,
    translate,
    identity: createIdentity({ version: "test" }),
    controller: createController({ clouds, clusterId: "sanity", log }),
    groupController: createGroupController({ clouds, clusterId: "sanity", log }),
    node: createNode({
      host: linuxHost({ byId: devices.byId }),
      metadata: () => Promise.resolve({ uuid: server, zone: "nova", disks: [] }),
    }),
    ...(options.onCall && { onCall: options.onCall }),
  });
  return {
    endpoint,
    dir,
    server,
    simulator,
    async close() {
      await driver.close();
      await watch.close();
      await cloud.close();
      unmountBelow(dir);
      devices.close();
      await simulator.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
