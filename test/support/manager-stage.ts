/**
 * `causeway run cloud-controller-manager` as a process of its own, between an API server of ours and the simulated
 * cloud.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer, type ApiServer, type ApiServerOptions } from "@causeway/apiserver";
import { World } from "@causeway/cloud-controller-manager/testing";
import { loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { causeway, type Started } from "./processes.ts";

/** A cloud.conf for the simulated cloud, with two keys that upstream dropped and still takes. */
export function cloudConf(config: CloudConfig, password?: string): string {
  const { auth, scope } = config;
  if (auth.type !== "password") throw new Error("the simulated cloud has passwords");
  return `[Global]
auth-url=${config.authUrl}
username=${auth.username}
password=${password ?? auth.password}
tenant-name=${scope?.projectName}
domain-name=${auth.userDomain?.name ?? "Default"}
region=RegionOne
[LoadBalancer]
lb-provider=ovn
use-octavia=true
[BlockStorage]
bs-version=v2
`;
}

export interface ManagerStage {
  readonly w: World;
  readonly server: ApiServer;
  readonly simulator: Simulator;
  /** Of the test alone, and gone with the stage. */
  readonly folder: string;
  /** Of the cloud.conf that the manager reads. */
  readonly conf: string;
  readonly config: CloudConfig;
  readonly start: (...flags: string[]) => Started;
  /** Ends every process that was started, then the worlds. */
  close(): Promise<void>;
}

/** Who the manager is; by default an administrator. */
export type Identity = NonNullable<Parameters<ApiServer["management"]["kubeconfig"]>[0]>;

export async function stageManager(
  folder: string,
  options: { readonly server?: ApiServerOptions; readonly identity?: Identity } = {},
): Promise<ManagerStage> {
  const simulator = await startSimulator({ profile: "instant" });
  const config = loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" });
  const server = await startApiServer(options.server);
  const w = await World.start({ server, config, prefix: "run", servers: 1 });
  const kubeconfig = join(folder, "admin.conf");
  const conf = join(folder, "cloud.conf");
  writeFileSync(kubeconfig, await server.management.kubeconfig(options.identity), { mode: 0o600 });
  writeFileSync(conf, cloudConf(config), { mode: 0o600 });
  const base = ["run", "cloud-controller-manager", "--cloud-config", conf, "--kubeconfig", kubeconfig];
  const processes: Started[] = [];
  return {
    w,
    server,
    simulator,
    folder,
    conf,
    config,
    start(...flags) {
      const started = causeway([...base, "--cluster-name=run", ...flags]);
      processes.push(started);
      return started;
    },
    async close() {
      for (const one of processes) await one.stop("SIGTERM");
      await w.close();
      await simulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const stageFolder = (): string => mkdtempSync(join(tmpdir(), "causeway-run-"));
