import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectCloud, loadCloudsYaml, type Cloud, type Server } from "@causeway/openstack";
import { startSimulator, type CallRecord, type Simulator } from "@causeway/simulator";
import { inParallel } from "../in-parallel.ts";

/** A simulated cloud with recorded delays, and the cloud.conf that both drivers read. */
export interface BenchCloud {
  readonly simulator: Simulator;
  /** Its calls are not counted. */
  readonly cloud: Cloud;
  readonly cloudConf: string;
  readonly cloudsYaml: string;
  /** New servers, ACTIVE, without a network. */
  addServers(count: number): Promise<readonly Server[]>;
  /** Further volumes of the project that no cluster uses. */
  addVolumes(count: number): Promise<void>;
  /** The calls of others since the last time, in order. */
  callsSince(): readonly CallRecord[];
  /** Of the last call of others, in milliseconds since the epoch; 0 when there was none. */
  lastCallAt(): number;
  close(): Promise<void>;
}

const OWN = "bench";
const UNLIMITED = ["instances", "cores", "ram", "volumes", "gigabytes", "snapshots"] as const;

export async function startCloud(files: string): Promise<BenchCloud> {
  const simulator = await startSimulator({ profile: "real" });
  for (const resource of UNLIMITED) simulator.setQuota("demo", resource, -1);
  const config = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
  const cloud = connectCloud(config, { userAgent: OWN });
  const keep = (file: string, text: string): string => {
    const path = join(files, file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const isOther = ({ userAgent }: CallRecord) => !userAgent.startsWith(OWN);
  let seen = 0;
  return {
    simulator,
    cloud,
    cloudConf: keep("cloud.conf", confOf(simulator)),
    cloudsYaml: keep("clouds.yaml", simulator.cloudsYaml),
    addServers: (count) => makeServers(cloud, count),
    addVolumes: (count) =>
      inParallel(
        Array.from({ length: count }, (_, i) => `other-${i}`),
        (name) => cloud.blockStorage.volumes.create({ name, size: 1 }),
      ),
    callsSince() {
      const fresh = simulator.calls.filter((call) => call.sequence > seen);
      seen = simulator.calls.at(-1)?.sequence ?? seen;
      return fresh.filter(isOther);
    },
    lastCallAt: () => simulator.calls.findLast(isOther)?.at ?? 0,
    async close() {
      await cloud.close();
      await simulator.close();
    },
  };
}

/** The simulator's demo account is no secret: its password is in its own clouds.yaml. */
function confOf(simulator: Simulator): string {
  const password = /password: (\S+)/.exec(simulator.cloudsYaml)?.[1] ?? "";
  return `[Global]
auth-url=${simulator.authUrl}
username=demo
password=${password}
tenant-name=demo
user-domain-name=Default
tenant-domain-name=Default
region=RegionOne
`;
}

async function makeServers(cloud: Cloud, count: number): Promise<readonly Server[]> {
  const [flavor] = (await cloud.compute.flavors.all()).toSorted((a, b) => a.ram - b.ram);
  const [image] = await cloud.image.images.all({ name: "cirros" });
  const names = new Set(Array.from({ length: count }, (_, i) => `node-${String(i).padStart(2, "0")}`));
  await inParallel([...names], (name) =>
    cloud.compute.servers.create({
      name,
      flavorRef: flavor?.id ?? "",
      imageRef: image?.id ?? "",
      networks: "none",
    }),
  );
  for (;;) {
    const mine = (await cloud.compute.servers.all()).filter((server) => names.has(server.name));
    if (mine.every(({ status }) => status === "ACTIVE")) return mine.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    await new Promise((done) => setTimeout(done, 200));
  }
}
