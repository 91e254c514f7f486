import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { csiClient, serveCsi, VolumeCapability_AccessMode_Mode as Mode, type CsiClient } from "@causeway/csi";
import { translate } from "@causeway/csi-openstack";
import type { Clock } from "@causeway/foundation";
import { IdleClock } from "@causeway/foundation/testing";
import {
  connectCloud,
  loadCloudsYaml,
  watchCloud,
  type Cloud,
  type CloudInformer,
  type Volume,
} from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { Clouds, type BlockStorageOptions } from "../clouds.ts";
import { createController, type ControllerOptions } from "../controller/controller.ts";
import { onlyOwn, onlyOwnGroups, type Ownership } from "../controller/ownership.ts";
import { createGroupController } from "../controller/group-controller.ts";
import { createIdentity } from "../identity.ts";

/** One controller process: its own token, informer and socket. */
export interface Driver {
  readonly client: CsiClient;
  readonly volumes: CloudInformer<Volume>;
  /** Its connection. */
  readonly cloud: Cloud;
  /** As `kill -9` leaves it: calls end without an answer, and what it knew is lost. */
  close(): Promise<void>;
}

export interface World {
  readonly simulator: Simulator;
  /** Of the project, not disturbed by faults of the drivers' calls. */
  readonly cloud: Cloud;
  readonly admin: Cloud;
  readonly clock: Clock;
  server(name: string): Promise<string>;
  /** Throws when the condition is not met after 200 s. */
  eventually(condition: () => Promise<boolean> | boolean): Promise<void>;
  driver(
    options?: Partial<ControllerOptions> & {
      readonly storage?: BlockStorageOptions;
      readonly owner?: Pick<Ownership, "hasServer">;
    },
  ): Promise<Driver>;
  close(): Promise<void>;
}

/** The user agent of drivers, so that faults can be limited to their calls. */
export const DRIVER_AGENT = "driver-under-test";

export interface WorldOptions {
  readonly delay?: number;
  /** IDs that the cloud gives; default: random ones. */
  readonly newId?: () => string;
}

/** A simulated cloud of its own. Its provisioning takes `delay` ms of a clock that moves when all are idle. */
export async function openWorld({ delay = 500, newId }: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), "cinder-csi-"));
  const names = ["server.attach", "server.detach", "volume.create", "volume.delete", "volume.extend"];
  const more = ["snapshot.create", "snapshot.delete", "backup.create", "backup.delete"];
  const delays = Object.fromEntries([...names, ...more].map((name) => [name, delay]));
  const clock = new IdleClock();
  const simulator = await startSimulator({ delays, clock, ...(newId && { newId }) });
  const path = join(dir, "clouds.yaml");
  writeFileSync(path, simulator.cloudsYaml, { mode: 0o600 });
  const connect = (name: string, userAgent: string) =>
    connectCloud(loadCloudsYaml({ cloud: name, path }), { clock, userAgent });
  const [cloud, admin] = [connect("simulator", "test"), connect("simulator-admin", "test")];
  const drivers = new Set<Driver>();
  let sockets = 0;
  const eventually: World["eventually"] = async (condition) => {
    for (let count = 0; count < 2_000; count += 1) {
      if (await condition()) return;
      await clock.sleep(100);
    }
    throw new Error("the condition is not met");
  };
  return {
    simulator,
    cloud,
    admin,
    clock,
    eventually,
    server: (name) => bootServer({ cloud, eventually }, name),
    async driver({ storage = {}, owner, ...options } = {}) {
      const own = connect("simulator", DRIVER_AGENT);
      const watch = watchCloud(own, { clock, intervals: { fast: 1_000, fastest: 1_000, slow: 30 * 60_000 } });
      const endpoint = `unix://${join(dir, `${(sockets += 1)}.sock`)}`;
      const clouds = new Clouds([{ name: "", cloud: own, volumes: watch.volumes, options: storage }]);
      const controller = createController({ clouds, clusterId: "test", clock, ...options });
      const groupController = createGroupController({ clouds, clusterId: "test", clock, ...options });
      const ownership = owner && { ...owner, clouds, cluster: options.clusterId ?? "" };
      const server = await serveCsi({
        endpoint,
        translate,
        clock,
        identity: createIdentity({ version: "0" }),
        groupController: ownership ? onlyOwnGroups(groupController, ownership) : groupController,
        controller: ownership ? onlyOwn(controller, ownership) : controller,
      });
      const client = csiClient(endpoint);
      const driver: Driver = {
        client,
        volumes: watch.volumes,
        cloud: own,
        async close() {
          if (!drivers.delete(driver)) return;
          client.close();
          await server.close();
          await watch.close();
          await own.close();
        },
      };
      drivers.add(driver);
      return driver;
    },
    async close() {
      simulator.setFaults(undefined);
      for (const driver of drivers) await driver.close();
      await Promise.all([cloud.close(), admin.close()]);
      await simulator.close();
      clock.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function bootServer({ cloud, eventually }: Pick<World, "cloud" | "eventually">, name: string): Promise<string> {
  const [flavor] = await cloud.compute.flavors.all();
  const [image] = await cloud.image.images.all();
  if (!flavor || !image) throw new Error("the simulated cloud has no flavor or image");
  const { id } = await cloud.compute.servers.create({
    name,
    flavorRef: flavor.id,
    imageRef: image.id,
    networks: "none",
  });
  await eventually(async () => (await cloud.compute.servers.get(id)).status === "ACTIVE");
  return id;
}

export const fileSystem = {
  accessType: { case: "mount" as const, value: { fsType: "ext4" } },
  accessMode: { mode: Mode.SINGLE_NODE_WRITER },
};
export const blockDevice = {
  accessType: { case: "block" as const, value: {} },
  accessMode: { mode: Mode.MULTI_NODE_MULTI_WRITER },
};
export const gib = (count: number) => ({ requiredBytes: BigInt(count) * 1024n ** 3n });
