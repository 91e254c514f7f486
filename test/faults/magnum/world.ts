import { addonKinds, allKinds, magnumKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createInformers,
  loadKubeconfig,
  type ClusterConfig,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { startMagnum } from "@causeway/magnum-api";
import { issueToken, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";

export type Misfortunes = Map<number, "refused" | "lost">;

const writes = new Set(["create", "update", "patch", "apply", "delete"]);

/** A client whose writes suffer what `misfortunes` has by their number. */
function suffering(client: KubernetesClient, misfortunes: () => Misfortunes, next: () => number): KubernetesClient {
  return new Proxy(client, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== "function") return method;
      if (!writes.has(String(name))) return method.bind(target) as unknown;
      return async (...args: unknown[]) => {
        const what = misfortunes().get(next());
        if (what === "refused") throw new Error("the write was refused");
        const result: unknown = await (method.apply(target, args) as Promise<unknown>);
        if (what === "lost") throw new Error("the answer was lost");
        return result;
      };
    },
  });
}

/** One process of the Magnum API. */
export interface MagnumProcess {
  readonly url: string;
  end(): Promise<void>;
}

/** The management cluster, the cloud and the processes of the API of many schedules. */
export class MagnumFaultWorld {
  readonly simulator: Simulator;
  readonly client: KubernetesClient;
  readonly token: string;
  readonly #server: ApiServer;
  readonly #config: ClusterConfig;
  readonly processes: MagnumProcess[] = [];
  #misfortunes: Misfortunes = new Map();
  #written = 0;

  private constructor(simulator: Simulator, server: ApiServer, config: ClusterConfig, token: string) {
    this.simulator = simulator;
    this.#server = server;
    this.#config = config;
    this.client = createClient(config);
    this.token = token;
  }

  static async start(): Promise<MagnumFaultWorld> {
    const simulator = await startSimulator();
    const server = await startApiServer({
      crds: [...allKinds, ...addonKinds, ...magnumKinds].map(toCustomResourceDefinition),
    });
    const config = loadKubeconfig({ text: await server.management.kubeconfig() });
    const { token } = await issueToken(loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml }));
    const world = new MagnumFaultWorld(simulator, server, config, token);
    await world.launch();
    return world;
  }

  /** What happens to the next writes; none without an argument. */
  disturb(misfortunes: Misfortunes = new Map()): void {
    this.#misfortunes = misfortunes;
    this.#written = 0;
  }

  /** Another process, that runs the controller, too. */
  async launch(): Promise<void> {
    const client = createClient(this.#config);
    const using = { clock: systemClock, log: silentLog };
    const informers = createInformers(
      suffering(
        client,
        () => this.#misfortunes,
        () => (this.#written += 1),
      ),
      using,
    );
    const magnum = await startMagnum({
      informers,
      keystone: { name: "simulator", authUrl: this.simulator.authUrl },
      host: "127.0.0.1",
      port: 0,
      rate: { perSecond: 10_000, burst: 10_000 },
      ...using,
    });
    const stopping = new AbortController();
    const running = Promise.all([informers.run(stopping.signal), magnum.run(stopping.signal)]);
    await informers.whenSynced();
    const end = async (): Promise<void> => {
      stopping.abort();
      await running;
      await client.close();
    };
    this.processes.push({ url: `http://127.0.0.1:${magnum.port}`, end });
  }

  /** The first process ends; another starts if it was the only one. */
  async crash(): Promise<void> {
    await this.processes.shift()?.end();
    if (this.processes.length === 0) await this.launch();
  }

  /** Whether a token can be had with it. */
  async works({ id, secret }: { readonly id: string; readonly secret: string }): Promise<boolean> {
    const { scope: _, ...config } = loadCloudsYaml({ cloud: "simulator", text: this.simulator.cloudsYaml });
    return issueToken({ ...config, auth: { type: "application_credential", id, secret } }).then(
      () => true,
      () => false,
    );
  }

  /** A request to one of the processes. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    process = 0,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const headers = {
      "content-type": "application/json",
      "openstack-api-version": "container-infra latest",
      "x-auth-token": this.token,
    };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(`${this.processes[process]?.url}/v1${path}`, init);
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>) };
  }

  async close(): Promise<void> {
    for (const each of this.processes.splice(0)) await each.end();
    await this.client.close();
    await this.#server.close();
    await this.simulator.close();
  }
}
