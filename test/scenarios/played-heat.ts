/** A cluster of Heat's after the phase switch: an embedded control plane, played machines, the real controllers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";
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
import { makeHeatCluster, makeSwitched, type HeatCluster } from "@causeway/magnum-migration/testing";
import { connectCloud, loadCloudsYaml, renderCloudsYaml, type Cloud } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { UUID, VERSION } from "../programs/magnum-migration/names.ts";
import { startSystem, type System } from "../programs/magnum-migration/system.ts";
import { playWorkers } from "../programs/magnum-migration/workers.ts";

const TIMEOUT = 300_000;

interface PlayedOf {
  /** Workers of default-worker, and of a second node group. */
  readonly workers: readonly [number, number];
  /** Name of the image of Heat's servers. Default "cirros". */
  readonly image?: string;
  /** GiB of the volume for docker of each node of the second node group. Default: none. */
  readonly dockerVolume?: number;
  /** While the cluster is Heat's alone. */
  readonly discovered?: (simulator: Simulator, heat: HeatCluster) => Promise<void>;
}

export interface Played {
  readonly dir: string;
  readonly simulator: Simulator;
  readonly cloud: Cloud;
  readonly heat: HeatCluster;
  readonly system: System;
  /** The cluster itself. */
  readonly source: KubernetesClient;
  /** Runs a phase to its end; its proof. */
  run(name: RunnablePhase, more?: Partial<Tools>): Promise<readonly string[]>;
  plan(name: RunnablePhase, more?: Partial<Tools>): Promise<PhasePlan<Step>>;
  close(): Promise<void>;
}

export async function openPlayed({ workers, image = "cirros", dockerVolume, discovered }: PlayedOf): Promise<Played> {
  const dir = mkdtempSync(join(tmpdir(), "played-heat-"));
  const simulator = await startSimulator({ heatMagnum: true });
  const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  const { origin } = new URL(simulator.authUrl);
  const endpointOverrides = { "container-infrastructure-management": `${origin}/container-infra/v1` };
  const cloud = connectCloud({ ...config, endpointOverrides });
  const cloudsYaml = renderCloudsYaml({ ...config, name: "magnum" });
  const heat = await makeHeatCluster(cloud, { uuid: UUID, name: "web", masters: 3, workers, version: VERSION, image });
  await fillMagnum(origin, heat, { workers: workers[0] + workers[1], dockerVolume });
  await discovered?.(simulator, heat);
  const system = await startSystem(join(dir, "state"), simulator);
  const { namespace, name } = await makeSwitched({ cloud, management: system.client, cloudsYaml }, UUID);
  let text: string | undefined;
  while (text === undefined) {
    text = secretText(await system.client.find(Secret, { namespace, name: `${name}-kubeconfig` }), "value");
    await systemClock.sleep(100);
  }
  const source = createClient(loadKubeconfig({ text }));
  const kubelets = await playWorkers(source, simulator, heat.workers);
  const tools: Tools = {
    management: system.client,
    source,
    cloud,
    shell: { run: async () => "" },
    clock: systemClock,
    cloudsYaml,
    keystone: { authUrl: config.authUrl },
    peerHost: "127.0.0.1",
    report: () => {},
    checked: new Set<string>(),
  };
  const within = () => AbortSignal.timeout(TIMEOUT);
  return {
    dir,
    simulator,
    cloud,
    heat,
    system,
    source,
    async run(phase, more = {}) {
      const record = await readRecord(system.client, UUID, within());
      const own = { ...tools, checked: new Set<string>(), ...more };
      return (await runPhase(phases[phase], own, record, within())).proof;
    },
    async plan(phase, more = {}) {
      const record = await readRecord(system.client, UUID, within());
      return planPhase(phases[phase], { ...tools, ...more }, record, within());
    },
    async close() {
      await kubelets.stop();
      await system.stop();
      await Promise.all([source.close(), cloud.close()]);
      await simulator.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The rows of the old Magnum. */
async function fillMagnum(
  origin: string,
  heat: HeatCluster,
  { workers, dockerVolume }: { readonly workers: number; readonly dockerVolume: number | undefined },
): Promise<void> {
  const of = (commonName: string) => createAuthority({ commonName, lifetime: 86_400_000 });
  const authorities = { kubernetes: await of("a"), etcd: await of("b"), frontProxy: await of("c") };
  await fetch(`${origin}/_control/magnum/clusters`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...heat.rows,
      // As Magnum counts: the workers of all node groups.
      cluster: { ...heat.rows.cluster, api_address: `https://${heat.vip}:6443`, node_count: workers },
      nodegroups: heat.rows.nodegroups.map((group) =>
        group["is_default"] === true ? group : { ...group, docker_volume_size: dockerVolume },
      ),
      authorities,
    }),
  });
}
