/**
 * The Magnum API over an embedded API server and the Keystone of a simulated cloud. Of other controllers only the end
 * of Clusters is played.
 */
import { addonKinds, allKinds, magnumKinds, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, type Clock } from "@causeway/foundation";
import { createClient, createInformers, Lease, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { issueToken, loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator } from "@causeway/simulator";
import type { AuditTarget } from "../audit/trail.ts";
import type { RateLimit } from "../access/rate.ts";
import { REVOKED, type TrusteeOptions } from "../access/trustees.ts";
import { startMagnum } from "../magnum-api.ts";
import { clockWith } from "./clock.ts";
import { playCore } from "./played-core.ts";

export { registryBootstrap } from "../cluster/registry.ts";
export { probeCluster } from "../probe/probe.ts";

export type Json = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface Request {
  readonly body?: unknown;
  /** Default "latest". */
  readonly version?: string | undefined;
}

export interface Stage {
  readonly simulator: Simulator;
  readonly client: KubernetesClient;
  /** Of the API, without a version. */
  readonly url: string;
  /** Tokens by user: demo, admin, alt, reader. */
  readonly tokens: Map<string, string>;
  /** Of the API. */
  readonly clock: Clock;
  call(who: string, method: string, path: string, request?: Request): Promise<Reply>;
  close(): Promise<void>;
}

export interface Account {
  readonly identity: { readonly commonName: string; readonly organizations: readonly string[] };
  /** Where its Lease is. */
  readonly namespace: string;
  /** Of audit events, one a line. */
  readonly log: string;
  /** Gives it its rights. */
  grant(administrator: KubernetesClient): Promise<void>;
}

const everyRequest = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };

const clouds = {
  demo: "simulator",
  admin: "simulator-admin",
  alt: "simulator-alt",
  reader: "simulator-reader",
};

/**
 * `rate`: of each project, where a suite sends more than its limit. `heatMagnum`: the cloud has one of its own, too.
 */
export async function openStage({
  heatMagnum,
  isFollower,
  account,
  through = (client) => client,
  clock: given,
  trustees,
  kubeconfigs,
  ...options
}: {
  readonly rate?: RateLimit;
  readonly audit?: AuditTarget;
  readonly heatMagnum?: boolean;
  /** Another process has the controller's Lease: nothing is made of clusters. */
  readonly isFollower?: boolean;
  /** Of the cloud, which is not there before the stage is. */
  readonly trustees?: (cloudsYaml: string) => TrusteeOptions;
  /** Milliseconds. Default 2,000. */
  readonly tokenRecheck?: number;
  readonly maxTemplates?: number;
  readonly maxNodes?: number;
  /**
   * Who the API is in the management cluster, other than its administrator, and the file of that cluster's audit log.
   */
  readonly account?: Account;
  /** Of the API and its controllers. Default: the wall clock, but for what Keystone does in the second of a change. */
  readonly clock?: Clock;
  /**
   * Of the administrator of another management cluster, which has the CRDs, and of the API there. Undefined: there is
   * an embedded one.
   */
  readonly kubeconfigs?: { readonly administrator: string; readonly own: string };
  /** In place of the client of the API's process. */
  readonly through?: (client: KubernetesClient) => KubernetesClient;
} = {}): Promise<Stage> {
  const simulator = await startSimulator(heatMagnum === true ? { heatMagnum } : {});
  const server = kubeconfigs === undefined ? await startEmbedded(account) : undefined;
  const textOf = async (identity?: Account["identity"]): Promise<string> =>
    kubeconfigs?.[identity === undefined ? "administrator" : "own"] ??
    (await server?.management.kubeconfig(identity)) ??
    "";
  const client = createClient(loadKubeconfig({ text: await textOf() }));
  await account?.grant(client);
  const own = createClient(loadKubeconfig({ text: await textOf(account?.identity) }));
  // A new password is used when the cloud's clock, too, has another second.
  const clock = given ?? clockWith(REVOKED, async () => simulator.advance(REVOKED));
  const using = { clock, log: silentLog };
  const informers = createInformers(through(own), using);
  const keystone = { name: "simulator", authUrl: simulator.authUrl };
  if (isFollower === true) await holdLease(client);
  const magnum = await startMagnum({
    informers,
    keystone,
    ...(isFollower === true ? { election: { namespace: "kube-system", identity: "follower" } } : {}),
    ...(account === undefined ? {} : { election: { namespace: account.namespace, identity: "account" } }),
    host: "127.0.0.1",
    port: 0,
    tokenRecheck: 2_000,
    ...(trustees === undefined ? {} : { trustees: trustees(simulator.cloudsYaml) }),
    ...options,
    ...using,
  });
  const stopping = new AbortController();
  const running = Promise.all([informers.run(stopping.signal), magnum.run(stopping.signal)]);
  await informers.whenSynced();
  const core = await playCore(client);
  const tokens = new Map<string, string>();
  for (const [who, cloud] of Object.entries(clouds)) {
    tokens.set(who, (await issueToken(loadCloudsYaml({ cloud, text: simulator.cloudsYaml }))).token);
  }
  return {
    simulator,
    client,
    url: `http://127.0.0.1:${magnum.port}`,
    tokens,
    clock,
    async call(who, method, path, { body, version = "latest" } = {}) {
      const token = tokens.get(who);
      const response = await fetch(`http://127.0.0.1:${magnum.port}${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          "openstack-api-version": `container-infra ${version}`,
          ...(token === undefined ? {} : { "x-auth-token": token }),
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const { status, headers } = response;
      return { status, headers, body: text === "" ? {} : (JSON.parse(text) as Json) };
    },
    async close() {
      stopping.abort();
      await running;
      await core.stop();
      await own.close();
      await client.close();
      await server?.close();
      await simulator.close();
    },
  };
}

const startEmbedded = (account: Account | undefined): Promise<ApiServer> =>
  startApiServer({
    crds: [...allKinds, ...addonKinds, ...magnumKinds].map(toCustomResourceDefinition),
    ...(account === undefined ? {} : { management: { audit: { policy: everyRequest, log: { file: account.log } } } }),
  });

async function holdLease(client: KubernetesClient): Promise<void> {
  const now = new Date().toISOString().replace("Z", "000Z");
  await client.create(Lease, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "causeway-magnum", namespace: "kube-system" },
    spec: { holderIdentity: "another", leaseDurationSeconds: 3_600, acquireTime: now, renewTime: now },
  });
}
