import { allKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { createOpenStackInfrastructure } from "@causeway/cluster-api-openstack";
import { silentLog } from "@causeway/foundation";
import {
  createClient,
  createEventRecorder,
  createInformers,
  electLeader,
  loadKubeconfig,
  type ClusterConfig,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { connectCloud, createCloudPool, loadCloudsYaml, type Cloud, type CloudPool } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import { DrivenClock, UnderWay } from "../cloud-controller/driven-clock.ts";
import { mortalClient, type Access } from "./mortal-client.ts";

/** The user agent of the test's own calls. */
export const OWN = "bystander";

/** As whom the provider writes. */
const USER = { name: "kubernetes-admin", groups: ["system:masters"] };

let candidates = 0;

/** One process of the provider, as far as the rest of the world can see: connections, memory and an end of its own. */
export class ProviderProcess {
  readonly #stopping = new AbortController();
  readonly #access: Access;
  readonly #clouds: CloudPool;
  readonly #running: Promise<unknown>;

  constructor({ server, config, underWay }: Made, clock: DrivenClock, elected: boolean) {
    const remote = createClient(config);
    // One of several has connections, as separate processes have; a single one needs none, as in `causeway up`.
    this.#access = elected
      ? { client: remote, kill: () => {} }
      : mortalClient(server.localClient(USER), remote, underWay);
    const { client } = this.#access;
    const clouds = (this.#clouds = createCloudPool({ clock, userAgent: "controller" }));
    const work = async (signal: AbortSignal): Promise<void> => {
      const informers = createInformers(client, { log: silentLog });
      const events = createEventRecorder(client, { component: "openstack-controller", signal });
      const provider = createOpenStackInfrastructure({ informers, clouds, clock, log: silentLog, events });
      await Promise.all([informers.run(signal), provider.run(signal)]);
    };
    const election = {
      client,
      namespace: "default",
      name: "provider",
      identity: `candidate-${(candidates += 1)}`,
      clock,
      leaseDuration: 30_000,
      renewDeadline: 20_000,
      retryPeriod: 8_000,
    };
    const { signal } = this.#stopping;
    this.#running = (elected ? electLeader({ ...election, onLeading: work }, signal) : work(signal)).catch(() => {});
  }

  /** As by SIGTERM: what is under way is given up, and the Lease is given back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await Promise.all([this.#access.client.close(), this.#clouds.close()]);
  }

  /** As by SIGKILL: nothing of it reaches anything any more. Its Lease remains. */
  async kill(): Promise<void> {
    this.#access.kill();
    await Promise.all([this.#access.client.close(), this.#clouds.close()]);
    this.#stopping.abort();
    await this.#running;
  }
}

interface Made {
  readonly server: ApiServer;
  readonly config: ClusterConfig;
  readonly underWay: UnderWay;
}

/** One API server and one cloud for all schedules, on one clock. */
export class ProviderFaultWorld {
  readonly clock: DrivenClock;
  readonly simulator: Simulator;
  readonly cloud: Cloud;
  readonly client: KubernetesClient;
  readonly #made: Made;

  private constructor(made: Made, clock: DrivenClock, simulator: Simulator) {
    this.#made = made;
    this.clock = clock;
    this.simulator = simulator;
    this.cloud = connectCloud(loadCloudsYaml({ text: simulator.cloudsYaml, cloud: "simulator" }), { userAgent: OWN });
    this.client = createClient(made.config);
  }

  static async start(): Promise<ProviderFaultWorld> {
    const clock = new DrivenClock();
    const simulator = await startSimulator({ profile: "instant", clock });
    const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
    const config = loadKubeconfig({ text: await server.management.kubeconfig() });
    return new ProviderFaultWorld({ server, config, underWay: new UnderWay() }, clock, simulator);
  }

  launch(elected: boolean): ProviderProcess {
    return new ProviderProcess(this.#made, this.clock, elected);
  }

  /** Lets so many milliseconds of the clock pass; nothing is under way when it resolves. */
  async pass(milliseconds: number): Promise<void> {
    await this.#made.underWay.pass(this.clock, milliseconds);
  }

  async close(): Promise<void> {
    this.#made.underWay.close();
    await Promise.all([this.client.close(), this.cloud.close()]);
    await this.#made.server.close();
    await this.simulator.close();
  }
}
