/**
 * A cluster of Magnum's Heat driver on the simulated cloud with real masters, and everything that `causeway up` runs
 * next to it.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import {
  phases,
  planPhase,
  readRecord,
  runPhase,
  type PhasePlan,
  type RunnablePhase,
  type Step,
  type Tools,
} from "@causeway/magnum-migration";
import { makeHeatCluster, type HeatCluster } from "@causeway/magnum-migration/testing";
import { connectCloud, loadCloudsYaml, renderCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { openCommand, type CommandOptions, type Ended } from "./command.ts";
import { startLaps } from "./laps.ts";
import { UUID, VERSION } from "./names.ts";
import { startSystem } from "./system.ts";
import { createAuthorities, startMasters, type Masters } from "./masters.ts";

export interface Stage {
  readonly simulator: Simulator;
  readonly cloud: Cloud;
  readonly management: KubernetesClient;
  /** By the load balancer. */
  readonly source: KubernetesClient;
  readonly sourceConfig: ReturnType<typeof loadKubeconfig>;
  readonly heat: HeatCluster;
  readonly masters: Masters;
  readonly lines: string[];
  /** `causeway migrate magnum PHASE` as a process of its own, which gets SIGKILL after so many printed steps. */
  readonly command: (phase: string, options?: CommandOptions) => Promise<Ended>;
  /** Rows that the old Magnum's database has of the cluster: of cluster, nodegroup and x509keypair; and its trustee. */
  readonly old: () => Promise<{ rows: readonly number[]; hasTrustee: boolean }>;
  deny(uuids: readonly string[]): Promise<void>;
  /** Where members of load balancers are on this machine, in addition to the masters. */
  readonly setMembers: (more: Readonly<Record<string, string>>) => void;
  /** Runs a phase to its end; with `steps`, a run that ends after so many steps, as kill -9 ends one. */
  run(name: RunnablePhase, steps?: number): Promise<readonly string[]>;
  plan(name: RunnablePhase): Promise<PhasePlan<Step>>;
  close(): Promise<void>;
}

export interface StageOptions {
  /** Whether Causeway serves the cluster's volumes. Default: no. */
  readonly withVolumes?: boolean;
}

export async function startStage(programs: string, { withVolumes = false }: StageOptions = {}): Promise<Stage> {
  const dir = mkdtempSync(join(tmpdir(), "magnum-migration-"));
  const folder = join(dir, "programs");
  mkdirSync(folder);
  symlinkSync(programs, join(folder, VERSION));
  const simulator = await startSimulator({ heatMagnum: true, dataPath: true });
  const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  const origin = new URL(simulator.authUrl).origin;
  const endpointOverrides = { "container-infrastructure-management": `${origin}/container-infra/v1` };
  const cloud = connectCloud({ ...config, endpointOverrides });
  const heat = await makeHeatCluster(cloud, { uuid: UUID, name: "web", masters: 3, workers: [3, 2], version: VERSION });
  const door = await openDoor(simulator, heat.vip);
  const authorities = await createAuthorities();
  const masters = await startMasters(join(dir, "masters"), programs, {
    addresses: heat.masters,
    workers: heat.workers.map(({ address }) => address),
    names: [heat.vip],
    authorities,
  });
  const hosts = masters.apis.map(({ address, port }) => [`${address}:6443`, `127.0.0.1:${port}`]);
  const setMembers = (more: Readonly<Record<string, string>>): void =>
    simulator.dataPath?.setMembers({
      ...(Object.fromEntries(hosts) as Record<string, string>),
      "127.0.0.1": "127.0.0.1",
      ...more,
    });
  setMembers({});
  const server = `https://localhost:${door.port}`;
  const post = (path: string, body: unknown) =>
    fetch(`${origin}/_control/magnum${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const master = { api_address: server };
  await post("/clusters", { ...heat.rows, cluster: { ...heat.rows.cluster, ...master }, authorities });
  const system = await startSystem(join(dir, "state"), simulator, { programs: folder, withVolumes });
  const sourceText = await masters.kubeconfig(server);
  const source = createClient(loadKubeconfig({ text: sourceText }));
  const own = await openCommand(dir, { simulator, masters, kubeconfig: system.kubeconfig, source: sourceText });
  const lines: string[] = [];
  const tools = (left: { steps: number }): Tools => ({
    management: system.client,
    source,
    cloud,
    ...own.magnum,
    shell: masters,
    clock: systemClock,
    cloudsYaml: renderCloudsYaml({ ...config, name: "magnum" }),
    keystone: { authUrl: config.authUrl },
    peerHost: "127.0.0.1",
    etcdUrls: masters.etcdUrls,
    report(line) {
      lines.push(line);
      if (line.startsWith("waiting")) return;
      left.steps -= 1;
      if (left.steps < 0) throw new Error("killed");
    },
    checked: new Set(),
  });
  const signal = AbortSignal.timeout(600_000);
  return {
    simulator,
    cloud,
    management: system.client,
    source,
    sourceConfig: loadKubeconfig({ text: sourceText }),
    heat,
    masters,
    lines,
    command: own.command,
    old: own.old,
    setMembers,
    deny: async (denied) => void (await post("/policy", { denied })),
    async run(name, steps = Number.POSITIVE_INFINITY) {
      const record = await readRecord(system.client, UUID, signal);
      const lap = startLaps();
      const { report, ...rest } = tools({ steps });
      const shown = (line: string): void => {
        lap.line(line);
        report(line);
      };
      try {
        return (await runPhase(phases[name], { ...rest, report: shown }, record, signal)).proof;
      } finally {
        lap.end(name);
      }
    },
    async plan(name) {
      return planPhase(phases[name], tools({ steps: 0 }), await readRecord(system.client, UUID, signal), signal);
    },
    async close() {
      await system.stop();
      await masters.close();
      own.close();
      door.close();
      await Promise.all([source.close(), cloud.close()]);
      await simulator.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The load balancer's address as this machine reaches it: the simulated cloud serves it at an address of loopback. */
async function openDoor(simulator: Simulator, vip: string): Promise<{ port: number; close(): void }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => client.destroy());
    void simulator.dataPath?.listeners().then((listeners) => {
      const at = listeners.find((one) => one.address === vip && one.port === 6443)?.at;
      const [host = "", port = ""] = (at ?? "").split(":");
      if (at === null || at === undefined) return client.destroy();
      const there = connect({ host, port: Number(port) });
      sockets.add(there);
      there.on("error", () => client.destroy());
      there.on("close", () => client.destroy());
      client.on("close", () => there.destroy());
      client.pipe(there).pipe(client);
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
