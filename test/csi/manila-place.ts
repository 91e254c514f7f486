/**
 * manila-csi with all its services on a socket, a simulated or real cloud, and a stand-in for the protocol's own
 * driver.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog, systemClock, type Clock } from "@causeway/foundation";
import { startDriver } from "@causeway/manila-csi";
import { startRecordingDriver } from "@causeway/manila-csi/testing";
import { startSimulator } from "@causeway/simulator";
import { parse, stringify } from "yaml";

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

type Protocol = "NFS" | "CEPHFS";

/** The cloud that a driver uses. */
interface Stage {
  readonly credentials: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly close: () => Promise<void>;
}

export async function openManilaPlace(protocol: Protocol) {
  const clock = fastClock();
  const delays = { "share.create": 500, "share.delete": 500, "share.access": 200, "share.snapshot": 500 };
  const simulator = await startSimulator({ delays, clock });
  const credentials = credentialsOf(simulator.authUrl, "demo", "devcloud");
  return openPlace(protocol, { credentials, clock, close: () => simulator.close() });
}

/** On the cloud of an entry of OS_CLIENT_CONFIG_FILE with a user's name and password. */
export async function openRealManilaPlace(protocol: Protocol, entry: string) {
  const file = process.env["OS_CLIENT_CONFIG_FILE"] ?? "clouds.yaml";
  const { clouds } = parse(readFileSync(file, "utf8")) as { clouds: Record<string, { auth: Record<string, string> }> };
  const { auth_url: url = "", username: user = "", password = "" } = clouds[entry]?.auth ?? {};
  if (url === "" || user === "" || password === "") throw new Error(`${file}: ${entry} has no user with a password`);
  const project = clouds[entry]?.auth["project_name"] ?? user;
  const credentials = { ...credentialsOf(url, user, password), "os-projectName": project };
  return openPlace(protocol, { credentials, clock: systemClock, close: () => Promise.resolve() });
}

const credentialsOf = (url: string, user: string, password: string) => ({
  "os-authURL": url,
  "os-userName": user,
  "os-password": password,
  "os-projectName": user,
  "os-domainName": "Default",
  "os-region": "RegionOne",
});

async function openPlace(protocol: Protocol, { credentials, clock, close }: Stage) {
  const dir = mkdtempSync(join(tmpdir(), "manila-place-"));
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
      await close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
