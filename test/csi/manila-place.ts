/** manila-csi with all its services on a socket, a simulated cloud, and a stand-in for the protocol's own driver. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog, systemClock, type Clock } from "@causeway/foundation";
import { startDriver } from "@causeway/manila-csi";
import { startRecordingDriver } from "@causeway/manila-csi/testing";
import { startSimulator } from "@causeway/simulator";
import { stringify } from "yaml";

/** The keys of csi-sanity's file: one Secret for each call that takes one. */
const CALLS = [
  "CreateVolumeSecret",
  "DeleteVolumeSecret",
  "ControllerPublishVolumeSecret",
  "ControllerUnpublishVolumeSecret",
  "ControllerValidateVolumeCapabilitiesSecret",
  "ControllerExpandVolumeSecret",
  "NodeStageVolumeSecret",
  "NodePublishVolumeSecret",
  "CreateSnapshotSecret",
  "DeleteSnapshotSecret",
  "ListSnapshotsSecret",
];

/** Ten times as fast as the wall's, for the cloud and the driver: the driver reads a share at most once in a second. */
function fastClock(): Clock {
  const start = Date.now();
  return {
    now: () => start + (Date.now() - start) * 10,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / 10, signal),
  };
}

export async function openManilaPlace(protocol: "NFS" | "CEPHFS") {
  const dir = mkdtempSync(join(tmpdir(), "manila-place-"));
  const clock = fastClock();
  const delays = { "share.create": 500, "share.delete": 500, "share.access": 200, "share.snapshot": 500 };
  const simulator = await startSimulator({ delays, clock });
  const credentials = {
    "os-authURL": simulator.authUrl,
    "os-userName": "demo",
    "os-password": "devcloud",
    "os-projectName": "demo",
    "os-domainName": "Default",
    "os-region": "RegionOne",
  };
  const secrets = join(dir, "secrets.yaml");
  writeFileSync(secrets, stringify(Object.fromEntries(CALLS.map((call) => [call, credentials]))), { mode: 0o600 });
  const proxiedEndpoint = `unix://${join(dir, "proxied.sock")}`;
  const proxied = await startRecordingDriver({ endpoint: proxiedEndpoint, stages: protocol === "CEPHFS" });
  const endpoint = `unix://${join(dir, "csi.sock")}`;
  const driver = await startDriver({
    endpoint,
    version: "test",
    protocol,
    proxiedEndpoint,
    services: ["controller", "node"],
    clusterId: "sanity",
    clock,
    metadata: () => Promise.resolve({ uuid: "node-1", zone: "nova" }),
    log: createLog({ level: process.env["CAUSEWAY_CSI_LOG"] === undefined ? "silent" : "debug" }),
  });
  return {
    endpoint,
    dir,
    secrets,
    async close() {
      await driver.close();
      await proxied.close();
      await simulator.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
