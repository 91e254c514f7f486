import { addonKinds, allKinds, magnumKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock, type Clock } from "@causeway/foundation";
import {
  createClient,
  createInformers,
  Lease,
  loadKubeconfig,
  type ClusterConfig,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { startMagnum } from "@causeway/magnum-api";
import { connectCloud, issueToken, loadCloudsYaml, type Cloud } from "@causeway/openstack";
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

/** Milliseconds in which Keystone revokes tokens after a change of a password: they pass in the played one at once. */
const REVOKED = 1_100;
/** Of users of clusters. */
const DOMAIN = "clusters";
const LEASES = "kube-system";

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
  readonly #hasTrustees: boolean;
  readonly #member: Cloud;
  readonly #admin: Cloud;
  readonly processes: MagnumProcess[] = [];
  #misfortunes: Misfortunes = new Map();
  #written = 0;
  #isLed = true;

  private constructor(
    { simulator, server, config }: { simulator: Simulator; server: ApiServer; config: ClusterConfig },
    token: string,
    hasTrustees: boolean,
  ) {
    this.simulator = simulator;
    this.#server = server;
    this.#config = config;
    this.client = createClient(config);
    this.token = token;
    this.#hasTrustees = hasTrustees;
    this.#member = connectCloud(loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml }));
    this.#admin = connectCloud(loadCloudsYaml({ cloud: "simulator-admin", text: simulator.cloudsYaml }));
  }

  /** `hasTrustees`: clusters have users of their own in Keystone. */
  static async start(hasTrustees = false): Promise<MagnumFaultWorld> {
    const simulator = await startSimulator();
    const server = await startApiServer({
      crds: [...allKinds, ...addonKinds, ...magnumKinds].map(toCustomResourceDefinition),
    });
    const config = loadKubeconfig({ text: await server.management.kubeconfig() });
    const { token } = await issueToken(loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml }));
    const world = new MagnumFaultWorld({ simulator, server, config }, token, hasTrustees);
    await world.#admin.identity.domains.create({ name: DOMAIN });
    await world.#holdLease();
    await world.launch();
    return world;
  }

  /** What happens to the next writes; none without an argument. */
  disturb(misfortunes: Misfortunes = new Map()): void {
    this.#misfortunes = misfortunes;
    this.#written = 0;
  }

  /** A process that none of those here is leads: where they take part in elections, they follow. */
  async #holdLease(): Promise<void> {
    const now = new Date().toISOString().replace("Z", "000Z");
    await this.client.create(Lease, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "causeway-magnum", namespace: LEASES },
      spec: { holderIdentity: "another", leaseDurationSeconds: 1_000_000, acquireTime: now, renewTime: now },
    });
  }

  /** No process leads from now on, or one does: others take the place of those that there are. */
  async lead(isLed: boolean): Promise<void> {
    if (this.#isLed === isLed) return;
    this.#isLed = isLed;
    const before = this.processes.splice(0);
    await this.launch();
    for (const each of before) await each.end();
  }

  /** Another process, that runs the controller, too, unless none does. */
  async launch(): Promise<void> {
    const client = createClient(this.#config);
    const clock: Clock = {
      now: () => systemClock.now(),
      sleep: async (milliseconds, signal) =>
        milliseconds === REVOKED ? this.simulator.advance(REVOKED) : systemClock.sleep(milliseconds, signal),
    };
    const using = { clock, log: silentLog };
    const account = loadCloudsYaml({ cloud: "simulator-admin", text: this.simulator.cloudsYaml });
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
      ...(this.#isLed ? {} : { election: { namespace: LEASES, identity: "follower" } }),
      ...(this.#hasTrustees ? { trustees: { account, domain: DOMAIN, roles: ["member"] } } : {}),
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

  /** What clusters have in Keystone: credentials of the member who creates them, and users of their own. */
  async inKeystone(): Promise<readonly string[]> {
    const { identity } = this.#admin;
    const [[member], [domain]] = await Promise.all([
      identity.users.all({ name: "demo" }),
      identity.domains.all({ name: DOMAIN }),
    ]);
    const [credentials, users] = await Promise.all([
      this.#member.identity.applicationCredentials(member?.id ?? "").all({}),
      identity.users.all({ domain_id: domain?.id ?? "" }),
    ]);
    return [
      ...credentials.map(({ name }) => `application credential ${name}`),
      ...users.map(({ name }) => `user ${name}`),
    ].toSorted();
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
    await this.#member.close();
    await this.#admin.close();
    await this.client.close();
    await this.#server.close();
    await this.simulator.close();
  }
}
