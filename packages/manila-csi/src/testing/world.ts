import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csiClient, VolumeCapability_AccessMode_Mode as Mode, type CsiClient } from "@causeway/csi";
import type { Clock } from "@causeway/foundation";
import { IdleClock } from "@causeway/foundation/testing";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { startDriver, type DriverOptions } from "../driver.ts";
import { startRecordingDriver, type RecordingDriver } from "./recording-driver.ts";

/** One driver process with its own socket. */
export interface Driver {
  readonly client: CsiClient;
  /** As `kill -9` leaves it: calls end without an answer, and what it knew is lost. */
  close(): Promise<void>;
}

export interface World {
  readonly dir: string;
  readonly simulator: Simulator;
  /** Of the project, not disturbed by faults of the drivers' calls. */
  readonly cloud: Cloud;
  readonly clock: Clock;
  /** A Secret for the user and project of this name. */
  secrets(name?: string): Record<string, string>;
  proxied(stages: boolean): Promise<RecordingDriver>;
  driver(options?: Partial<DriverOptions>): Promise<Driver>;
  close(): Promise<void>;
}

/** The user agent of drivers, so that faults can be limited to their calls. */
export const DRIVER_AGENT = "manila-csi-plugin";

export interface WorldOptions {
  readonly delay?: number;
  /** IDs that the cloud gives; default: random ones. */
  readonly newId?: () => string;
}

/** A simulated cloud of its own. Its provisioning takes `delay` ms of a clock that moves when all are idle. */
export async function openWorld({ delay = 500, newId }: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), "manila-csi-"));
  const names = ["share.create", "share.delete", "share.extend", "share.access", "share.snapshot"];
  const clock = new IdleClock();
  const delays = Object.fromEntries(names.map((name) => [name, delay]));
  const simulator = await startSimulator({ delays, clock, ...(newId && { newId }) });
  const path = join(dir, "clouds.yaml");
  writeFileSync(path, simulator.cloudsYaml, { mode: 0o600 });
  const cloud = connectCloud(loadCloudsYaml({ cloud: "simulator", path }), { clock, userAgent: "test" });
  const open = new Set<{ close(): Promise<void> }>();
  const proxiedEndpoint = `unix://${join(dir, "proxied.sock")}`;
  let sockets = 0;
  return {
    dir,
    simulator,
    cloud,
    clock,
    secrets: (name = "demo") => ({
      "os-authURL": simulator.authUrl,
      "os-userName": name,
      "os-password": "devcloud",
      "os-projectName": name,
      "os-domainName": "Default",
      "os-region": "RegionOne",
    }),
    async proxied(stages) {
      const driver = await startRecordingDriver({ endpoint: proxiedEndpoint, stages });
      open.add(driver);
      return driver;
    },
    async driver(options = {}) {
      const endpoint = `unix://${join(dir, `${(sockets += 1)}.sock`)}`;
      const running = await startDriver({
        endpoint,
        version: "0",
        protocol: "NFS",
        services: ["controller"],
        clusterId: "test",
        proxiedEndpoint,
        metadata: () => Promise.resolve({ uuid: "server-1", zone: "nova" }),
        clock,
        ...options,
      });
      const client = csiClient(endpoint);
      const driver: Driver = {
        client,
        async close() {
          if (!open.delete(driver)) return;
          client.close();
          await running.close();
        },
      };
      open.add(driver);
      return driver;
    },
    async close() {
      simulator.setFaults(undefined);
      for (const each of open) await each.close();
      await cloud.close();
      await simulator.close();
      clock.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export const gib = (required: number, limit = 0) => ({
  requiredBytes: BigInt(required) * 1024n ** 3n,
  limitBytes: BigInt(limit) * 1024n ** 3n,
});

export const fileSystem = {
  accessType: { case: "mount" as const, value: {} },
  accessMode: { mode: Mode.MULTI_NODE_MULTI_WRITER },
};
