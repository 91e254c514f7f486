import {
  createClient,
  createInformers,
  electLeader,
  type ClusterConfig,
  type Informers,
  type KubernetesClient,
} from "@causeway/kubernetes";
import {
  connectCloud,
  watchCloud,
  type Cloud,
  type CloudConfig,
  type CloudWatch,
  type WatchOptions,
} from "@causeway/openstack";
import type { DrivenClock } from "./driven-clock.ts";

/** What a controller runs with, of its own process. */
export interface Surroundings {
  readonly client: KubernetesClient;
  readonly informers: Informers;
  readonly cloud: Cloud;
  readonly watch: CloudWatch;
}

export interface ProcessOptions {
  readonly clock: DrivenClock;
  readonly cluster: ClusterConfig;
  readonly cloud: CloudConfig;
  /** The Lease that candidates compete for; undefined: it works at once. */
  readonly lease: string | undefined;
  readonly userAgent: string;
  /** How often its watch of the cloud lists. */
  readonly watched?: Pick<WatchOptions, "intervals" | "rarely">;
  readonly run: (surroundings: Surroundings, signal: AbortSignal) => Promise<unknown>;
}

let candidates = 0;

/** One process of a controller, as far as the rest of the world can see: connections, memory and an end of its own. */
export class Process {
  readonly #stopping = new AbortController();
  readonly #client: KubernetesClient;
  readonly #cloud: Cloud;
  readonly #watch: CloudWatch;
  readonly #running: Promise<unknown>;

  constructor({ clock, cluster, cloud, lease, userAgent, watched = {}, run }: ProcessOptions) {
    const client = (this.#client = createClient(cluster));
    this.#cloud = connectCloud(cloud, { clock, userAgent });
    this.#watch = watchCloud(this.#cloud, { clock, ...watched });
    const work = async (signal: AbortSignal): Promise<void> => {
      const informers = createInformers(client);
      const surroundings = { client, informers, cloud: this.#cloud, watch: this.#watch };
      await Promise.all([informers.run(signal), run(surroundings, signal)]);
    };
    const { signal } = this.#stopping;
    const election = {
      client,
      namespace: "default",
      name: lease ?? "",
      identity: `candidate-${(candidates += 1)}`,
      clock,
      leaseDuration: 30_000,
      renewDeadline: 20_000,
      retryPeriod: 8_000,
    };
    const elected = lease !== undefined;
    this.#running = (elected ? electLeader({ ...election, onLeading: work }, signal) : work(signal)).catch(() => {});
  }

  /** As by SIGTERM: what is under way is given up, and the Lease is given back. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#leave();
  }

  /** As by SIGKILL: nothing of it reaches anything any more. Its Lease remains. */
  async kill(): Promise<void> {
    await this.#leave();
    this.#stopping.abort();
    await this.#running;
  }

  async #leave(): Promise<void> {
    await Promise.all([this.#client.close(), this.#cloud.close(), this.#watch.close()]);
  }
}
