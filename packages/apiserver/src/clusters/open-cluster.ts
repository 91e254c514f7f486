import { X509Certificate } from "node:crypto";
import { CausewayError, silentLog, systemClock, type Clock, type KeyPair, type Log } from "@causeway/foundation";
import type { AdmissionRules } from "@causeway/kubernetes";
import { openAggregation } from "../aggregation/open.ts";
import { keptFrontProxy, openFrontProxy } from "../aggregation/front-proxy.ts";
import { openAdmission } from "../admission/open.ts";
import type { AuditOptions } from "../contract/audit.ts";
import { AccountEnds } from "../auth/account-ends.ts";
import { accountKeys } from "../auth/account-keys.ts";
import { clusterTokens, haveSameRemotes } from "../auth/tokens.ts";
import { clientAuthorities } from "../auth/client-certificates.ts";
import { authorizer } from "../auth/authorize.ts";
import { Rbac } from "../auth/rbac.ts";
import { bootstrapCluster } from "./bootstrap.ts";
import { ClusterAudit } from "./cluster-audit.ts";
import { serveUsage } from "../usage/kinds.ts";
import { startControllers } from "../controllers/start.ts";
import type { KindConversion } from "../contract/converter.ts";
import type { Conversions } from "../contract/converter.ts";
import { serveDefinitions } from "../definitions/serve.ts";
import type { LogicalClusterOptions, RunningControllers } from "../interface.ts";
import { ClusterMetrics } from "../contract/cluster-metrics.ts";
import { Catalog, type BuiltIns } from "../contract/catalog.ts";
import { serviceNetworks } from "../kinds/core/addresses.ts";
import { FlowControl } from "../flow/flow-control.ts";
import type { BytesInFlight } from "../flow/in-flight.ts";
import type { ThreadTime } from "../contract/thread-time.ts";
import type { Turns } from "../flow/turns.ts";
import { ObjectCounts } from "../flow/work.ts";
import type { ServedCluster } from "../server/handler.ts";
import type { Store } from "../store/index.ts";
import type { ConnectionPool } from "../server/connection-pool.ts";
import { WatchLineCache } from "../contract/watch-line-cache.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { AuthenticationOptions, ExternalAuthenticators } from "../contract/authentication.ts";
import type { AccountKeys } from "../contract/identity.ts";
import type { Kubelets } from "../contract/kubelets.ts";
import type { Aggregation } from "../contract/aggregation.ts";
import { Changes } from "../contract/changes.ts";
import { createWebhookClient } from "../webhooks/client.ts";
import type { WebhookClient } from "../contract/webhooks.ts";
import type { FirstObjects } from "./first-objects.ts";
import { clusterIdentity, trustedRoots, type Identity } from "./identity.ts";
import type { KeptPorts } from "./kept-ports.ts";
import type { Problems } from "./problems.ts";
import { Quota } from "../contract/quota.ts";
import { readServing } from "./serving.ts";
import type { StateFiles } from "../store/state-files.ts";

/** What all logical clusters of a process have in common. */
export interface Shared {
  readonly store: Store;
  readonly files: StateFiles;
  readonly clock: Clock;
  readonly log: Log;
  readonly builtIns: BuiltIns;
  /** For the management cluster; kinds of others are their own. */
  readonly conversions: readonly KindConversion[];
  /** For the management cluster. */
  readonly rules: readonly AdmissionRules[];
  readonly first: FirstObjects;
  /** Shares the thread out between clusters. */
  readonly turns: Turns;
  /** Measures what each cluster uses of it. */
  readonly thread: ThreadTime;
  /** What keeps the server from working. */
  readonly problems: Problems;
  /** Counts the connections of all listeners. */
  readonly pool: ConnectionPool;
  /** Ports that clusters have, whether they are served or not. */
  readonly ports: KeptPorts;
  /** What answers take that clients have not read yet. */
  readonly bytes: BytesInFlight;
  /** What the server's owner brings to authenticate with. */
  readonly authenticators?: ExternalAuthenticators | undefined;
  /** Starts what the server's owner has run for clusters. */
  readonly owners?: ((cluster: Cluster) => RunningControllers) | undefined;
}

/** A logical cluster that is served. */
export interface OpenCluster extends ServedCluster {
  readonly options: LogicalClusterOptions;
  /** The roots that are believed next to its own. */
  readonly rotation: Identity["rotation"];
  /** Has these roots from now on, and keeps them. */
  rotate(wanted: LogicalClusterOptions): Promise<void>;
  /**
   * Believes these from the next request on; watches continue. `keep` is called in between, when they are known to be
   * valid. Throws what opening the cluster with them would.
   */
  authenticate(authentication: AuthenticationOptions, keep: () => void): void;
  /** Records so from the next request on. `keep` is as above. Throws what opening the cluster with it would. */
  record(audit: AuditOptions | "none", keep: () => void): void;
  /** Has its controllers write the roots to where clients read them. */
  publishRoots(): void;
  /** Has its controllers take up what happened while the server was down; called once its endpoint listens. */
  resume(): void;
  /** Ends its watches; `stop` does so too. */
  endWatches(): void;
  /** Stops its controllers. */
  stop(): Promise<void>;
}

/** The network of Services where none is given, as kubeadm has it. */
export const DEFAULT_SERVICE_CIDR = "10.96.0.0/12";
const DEFAULT_VERSION = "v1.34.0";

/** What reaches nodes; it is loaded for those who have them. */
async function openedKubelets(
  options: LogicalClusterOptions["kubelets"],
  using: { readonly authority: () => KeyPair; readonly clock: Clock },
): Promise<Kubelets | undefined> {
  if (!options || options.networks.length === 0) return undefined;
  return (await import("../kubelets/kubelets.ts")).openKubelets(options, using);
}

/** Brings a logical cluster to life: roots, built-in objects, CRDs, controllers. `url` is read when needed. */
export async function openCluster(
  shared: Shared,
  place: { name: string; folder: string; url: () => string; servingAuthority: () => string },
  asked: LogicalClusterOptions,
): Promise<OpenCluster> {
  checkOptions(asked);
  const { store, files, clock, log } = shared;
  const kept = asked.frontProxy ?? keptFrontProxy(files, place.folder);
  const options: LogicalClusterOptions = kept ? { ...asked, frontProxy: kept } : asked;
  let current = options;
  let identity = await clusterIdentity(files, place.folder, { options, clock });
  checkAuthority(identity.authority);
  const keysOf = ({ serviceAccountKey, rotation }: Identity): AccountKeys =>
    accountKeys(serviceAccountKey, [
      ...(options.serviceAccountVerificationKeys ?? []),
      ...(rotation?.accountKeys ?? []),
    ]);
  let keys = lazily(() => keysOf(identity));
  let tokens = lazily(() => clusterTokens(cluster, options.authentication, shared.authenticators));
  const changes = new Changes();
  const servingRoot = (): KeyPair => identity.rotation?.serving ?? identity.authority;
  const kubelets = await openedKubelets(options.kubelets, { authority: () => servingRoot(), clock });
  const reach = options.webhooks ?? (kubelets ? kubelets.dial : place.name === "");
  const webhooks = createWebhookClient({ name: place.name, store }, reach);
  let aggregation: Aggregation | undefined;
  const cluster: Cluster = {
    name: place.name,
    get aggregation() {
      if (aggregation === undefined) throw new Error("the cluster is not open yet");
      return aggregation;
    },
    store,
    clock,
    log: log.with({ cluster: place.name || "management" }),
    metrics: new ClusterMetrics(),
    catalog: new Catalog(shared.builtIns),
    changes,
    ...(options.limits ? { quota: new Quota(options.limits, { name: place.name, store, changes }) } : {}),
    ...(kubelets ? { kubelets } : {}),
    thread: shared.thread,
    problems: shared.problems,
    lines: new WatchLineCache(),
    admission: openAdmission(() => cluster),
    rules: place.name === "" ? shared.rules : [],
    webhooks,
    conversions: conversionsOf(place.name === "" ? shared.conversions : [], webhooks),
    serviceCidr: options.serviceCidr ?? DEFAULT_SERVICE_CIDR,
    podCidr: options.podCidr,
    dnsDomain: options.dnsDomain ?? "cluster.local",
    version: options.version ?? DEFAULT_VERSION,
    issuer: `https://kubernetes.default.svc.${options.dnsDomain ?? "cluster.local"}`,
    url: () => place.url(),
    servingAuthority: () => place.servingAuthority(),
    access: {
      allows: (attributes) => authorize(attributes).allowed,
      rulesFor: (user, namespace) => rbac.rulesFor(user, namespace),
    },
    get authority() {
      return identity.authority;
    },
    get servingRoot() {
      return servingRoot();
    },
    get trustedRoots() {
      return trustedRoots(identity);
    },
    get serviceAccountKey() {
      return identity.serviceAccountKey;
    },
    get accountKeys() {
      return keys();
    },
    get tokens() {
      return tokens();
    },
    clientAuthorities: clientAuthorities(() => trustedRoots(identity), options.clientAuthorityFile),
  };
  // An invalid option is an error at the start.
  if (options.authentication) tokens();
  if (options.serviceAccountVerificationKeys) keys();
  const audit = new ClusterAudit(cluster, options.audit);
  const { turns, bytes } = shared;
  const fairness = { flow: new FlowControl(cluster), counts: new ObjectCounts(cluster), turns, bytes };
  serveDefinitions(cluster);
  const frontProxy = openFrontProxy(files, place.folder, { given: options.frontProxy, clock });
  aggregation = openAggregation(cluster, { reach, frontProxy });
  // Where the cluster runs what is deployed to it, it says what that uses.
  if (options.controllers) serveUsage(cluster.catalog);
  const closing = new AbortController();
  const rbac = new Rbac(cluster);
  const authorize = authorizer(cluster, rbac);
  const controllers = startControllers(cluster);
  await bootstrapCluster(cluster, shared.first);
  let owners: RunningControllers | undefined;
  const resume = (): void => {
    controllers.resume();
    cluster.aggregation.resume();
  };
  return {
    cluster,
    get options() {
      return current;
    },
    get rotation() {
      return identity.rotation;
    },
    async rotate(wanted) {
      if (wanted.authority) checkAuthority(wanted.authority);
      // What cannot be used is refused before it is kept.
      keysOf({ ...identity, ...identityIn(wanted, identity) });
      const next = await clusterIdentity(files, place.folder, { options: wanted, clock });
      const nextKeys = keysOf(next);
      identity = next;
      current = { ...current, ...rootsOf(wanted) };
      if (wanted.frontProxy) frontProxy.replace(wanted.frontProxy);
      keys = () => nextKeys;
      cluster.clientAuthorities.reload();
    },
    authenticate(authentication, keep) {
      const before = current.authentication && tokens();
      const remotes = haveSameRemotes(current.authentication ?? {}, authentication) ? before?.remotes : undefined;
      const kept = { remotes, keys: before?.keys };
      const next = clusterTokens(cluster, authentication, shared.authenticators, kept);
      try {
        keep();
      } catch (error) {
        if (!remotes) next.close();
        throw error;
      }
      if (!remotes) before?.close();
      tokens = () => next;
      current = { ...current, authentication };
    },
    record(wanted, keep) {
      audit.replace(wanted, keep);
      current = { ...current, audit: wanted };
    },
    publishRoots: resume,
    authorize,
    fairness,
    get audit() {
      return audit.current;
    },
    rulesFor: (user, namespace) => rbac.rulesFor(user, namespace),
    resume: () => {
      resume();
      if (options.controllers) owners ??= shared.owners?.(cluster);
    },
    closing: closing.signal,
    accountEnds: new AccountEnds(cluster),
    endWatches: () => closing.abort(),
    stop: async () => {
      closing.abort();
      await owners?.stop();
      shared.turns.forget(cluster.name);
      shared.thread.forget(cluster.name);
      cluster.webhooks.close();
      if (kubelets) kubelets.close();
      if (current.authentication) tokens().close();
      await cluster.aggregation.stop();
      await controllers.stop();
      await audit.close();
    },
  };
}

/** The parts of a cluster's roots that options change. */
function identityIn({ serviceAccountKey, rotation }: LogicalClusterOptions, now: Identity): Partial<Identity> {
  return {
    ...(serviceAccountKey === undefined ? {} : { serviceAccountKey }),
    rotation: rotation === "none" ? undefined : (rotation ?? now.rotation),
  };
}

/** The options that `rotate` takes. */
function rootsOf({ authority, serviceAccountKey, rotation, frontProxy }: LogicalClusterOptions): LogicalClusterOptions {
  return {
    ...(authority ? { authority } : {}),
    ...(serviceAccountKey === undefined ? {} : { serviceAccountKey }),
    ...(rotation === undefined ? {} : { rotation }),
    ...(frontProxy ? { frontProxy } : {}),
  };
}

/** Makes something when it is first requested. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function conversionsOf(registered: readonly KindConversion[], webhooks: WebhookClient): Conversions {
  const byKind = new Map(registered.map((r) => [`${r.group}/${r.kind}`, r]));
  return { registered: (group, kind) => byKind.get(`${group}/${kind}`), webhooks };
}

/**
 * What can be said of options before anything is changed. Throws APISERVER_VERSION_INVALID, APISERVER_CIDR_INVALID,
 * APISERVER_AUTHORITY_INVALID, SERVING_CERTIFICATE_INVALID.
 */
export function checkOptions({ serviceCidr, version, authority, listen }: LogicalClusterOptions): void {
  if (authority) checkAuthority(authority);
  if (listen?.serving) readServing(listen.serving, { clock: systemClock, log: silentLog });
  if (version !== undefined && !/^v\d+\.\d+\.\d+/.test(version)) {
    throw new CausewayError("APISERVER_VERSION_INVALID", `${version} is not a Kubernetes version`, {
      hint: 'Write it like "v1.34.0".',
    });
  }
  if (serviceCidr === undefined) return;
  try {
    serviceNetworks(serviceCidr);
  } catch (cause) {
    throw new CausewayError("APISERVER_CIDR_INVALID", `${serviceCidr} cannot be the network of Services`, {
      cause,
      hint: "Specify an IPv4 CIDR of /8 to /30, an IPv6 CIDR of /64 to /126, or one of each: 10.96.0.0/12,fd00:10:96::/112.",
    });
  }
}

function checkAuthority({ certificate }: KeyPair): void {
  if (!isAuthority(certificate)) {
    throw new CausewayError("APISERVER_AUTHORITY_INVALID", "the cluster's authority is not a CA certificate", {
      hint: "Specify a certificate with basicConstraints CA:TRUE and its key.",
    });
  }
}

function isAuthority(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).ca;
  } catch {
    return false;
  }
}
