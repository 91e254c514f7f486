import { hostname } from "node:os";
import type { HostedControlPlaneSpec } from "@causeway/api";
import { createMetrics, messageOf, whenAborted, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { createEventRecorder, electLeader, type Informers } from "@causeway/kubernetes";
import {
  createApplicationCredentialClient,
  createIdentityClient,
  createTokens,
  reachIdentity,
  type Identify,
  type IdentityAddress,
} from "@causeway/openstack";
import { createAuditTrail, type AuditTarget } from "./audit/trail.ts";
import type { Caller } from "./access/caller.ts";
import { createCloudChecker } from "./access/cloud-checks.ts";
import { defaultPolicy } from "./access/default-policy.ts";
import { readRules, type RuleText } from "./access/policy.ts";
import { ProjectRates, type RateLimit } from "./access/rate.ts";
import { createInstallation } from "./access/installation.ts";
import { sweepRegularly } from "./access/trustee-sweep.ts";
import { createTrustees, type TrusteeOptions } from "./access/trustees.ts";
import { createMagnumController } from "./cluster/controller.ts";
import { createVolumeReader } from "./cluster/kept-volumes.ts";
import { createHealthProber, type KubeletProbes, type ProbePace } from "./probe/prober.ts";
import { ClusterTexts } from "./resources/cluster-texts.ts";
import type { Api } from "./call/call.ts";
import type { CertificateFiles } from "./server/certificate.ts";
import { serve } from "./server/server.ts";
import { UnderWay } from "./server/under-way.ts";
import { createIds } from "./state/ids.ts";
import { openStore } from "./state/store.ts";
import { createTurns } from "./state/turns.ts";

/** The management cluster, Keystone, and the address of the API. */
export interface MagnumOptions {
  /** Of the management cluster; the caller runs them. */
  readonly informers: Informers;
  readonly keystone: IdentityAddress;
  /** The PEM text of the authority of Keystone's certificate, for the clusters' credentials. */
  readonly certificateAuthority?: string | undefined;
  /**
   * The account that makes a user for each cluster, so that its credentials outlive those who created it. Undefined: a
   * cluster has a credential of the member who creates it.
   */
  readonly trustees?: TrusteeOptions | undefined;
  /**
   * Roles that a credential of the member who creates a cluster has, as far as the member has them; reader,
   * load-balancer_member and creator are added likewise. Default: member.
   */
  readonly credentialRoles?: readonly string[] | undefined;
  /** The region that clusters are made in. */
  readonly region?: string | undefined;
  readonly host: string;
  readonly port: number;
  /** Read again when they change. Undefined: HTTP, for a proxy that ends TLS. */
  readonly certificateFiles?: CertificateFiles | undefined;
  readonly publicUrl?: string | undefined;
  /** Rules that replace Magnum's. */
  readonly policy?: Readonly<Record<string, RuleText>>;
  /** Clusters of a project that has no quota of its own. Default 20. */
  readonly defaultQuota?: number;
  /** Templates of a project. Default 100; 0: no limit. */
  readonly maxTemplates?: number;
  /** Nodes of a project, in all node groups of all its clusters. Default 1000; 0: no limit. */
  readonly maxNodes?: number;
  /** Version of clusters whose template names none. Default "v1.34.0". */
  readonly defaultVersion?: string;
  /**
   * Networks of the operator from which controllers and probes reach the APIs of clusters. With them a cluster may have
   * an access list, which always has them; control planes have to be Pods behind load balancers with access lists.
   */
  readonly managementCidrs?: readonly string[] | undefined;
  /** Who makes the network of pods of clusters: an add-on, which is the default, or routes of the cloud. */
  readonly podNetwork?: "addon" | "routes" | undefined;
  /** Image of Causeway whose Cinder CSI node part clusters get. Undefined: they get none. */
  readonly csiImage?: string | undefined;
  /** Runtime of new control planes. Default: what the controller of hosted control planes chooses. */
  readonly controlPlaneRuntime?: HostedControlPlaneSpec["runtime"] | undefined;
  readonly rate?: RateLimit;
  /** How often the control planes of clusters are probed. */
  readonly probePace?: ProbePace;
  /** Whether a kubelet of each cluster is probed, too, through its control plane. Default: "auto". */
  readonly probeKubelets?: KubeletProbes;
  /**
   * Milliseconds after which Keystone is queried again whether a token was revoked: ten tokens a second, and each after
   * a minute at the latest. Default 5,000; 0: with each request.
   */
  readonly tokenRecheck?: number;
  /** Where the Lease of the controller is. Undefined: this is the only process, and it needs none. */
  readonly election?: { readonly namespace: string; readonly identity: string };
  /** Where audit events (CADF) of clusters go. Undefined: there are none. */
  readonly audit?: AuditTarget | undefined;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The API, and the controller behind it. */
export interface Magnum {
  readonly port: number;
  /** The resources of the management cluster that it has not read: until there are none, requests get 503. */
  unread(): readonly string[];
  /** Runs the controller until the signal aborts, lets requests under way end, and closes the server then. */
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds after which each token is checked again, however many there are. */
const LATEST_RECHECK = 60_000;

const RATE: RateLimit = { perSecond: 50, burst: 200 };

/**
 * Begins to serve the API. @throws MAGNUM_PORT, MAGNUM_CERTIFICATE, MAGNUM_POLICY_INVALID,
 * CLOUD_CONFIG_INVALID
 * @example
 * const magnum = await startMagnum({ informers, keystone, host: "127.0.0.1", port: 9511, clock: systemClock, log });
 * await Promise.all([informers.run(signal), magnum.run(signal)]);
 */
export async function startMagnum(options: MagnumOptions): Promise<Magnum> {
  const { informers, clock, log, metrics = createMetrics(), certificateAuthority, host, port } = options;
  const { controlPlaneRuntime: runtime } = options;
  const rules = readRules({ ...defaultPolicy, ...options.policy }, log);
  const { tokenRecheck: soon = 5_000 } = options;
  const budget = soon === 0 ? { budget: { rate: 1_000, burst: 1_000, inFlight: 64 } } : {};
  const identity = createIdentityClient(options.keystone, { clock, log, metrics, ...budget });
  const credentials = createApplicationCredentialClient(options.keystone, { clock, log, metrics });
  const keystone = {
    authUrl: options.keystone.authUrl,
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
  };
  const recheck = soon === 0 ? 0 : Math.max(soon, LATEST_RECHECK);
  const tokens = createTokens(identity, { clock, log, identify, recheck, soon });
  const audit = options.audit && createAuditTrail({ target: options.audit, host: hostname(), metrics, clock, log });
  const installationOf = createInstallation(informers.client, log);
  const trustees = options.trustees && createTrustees(options.trustees, { installation: installationOf, clock, log });
  const api: Api = {
    store: openStore(informers),
    rules,
    credentials,
    trustees,
    credentialRoles: options.credentialRoles ?? ["member"],
    keystone,
    cloud: createCloudChecker(
      { ...options.keystone, ...(options.region === undefined ? {} : { region: options.region }) },
      log,
    ),
    region: options.region,
    runtime,
    support: {
      accessLists: (options.managementCidrs ?? []).length > 0 && (runtime === undefined || runtime === "Pods"),
    },
    defaultQuota: options.defaultQuota ?? 20,
    maxTemplates: options.maxTemplates ?? 100,
    maxNodes: options.maxNodes ?? 1_000,
    defaultVersion: options.defaultVersion ?? "v1.34.0",
    clusterTexts: new ClusterTexts(),
    newId: createIds(clock),
    inTurn: createTurns(),
    started: clock.now(),
    host: hostname(),
    audit,
    clock,
    log,
  };
  const events = createEventRecorder(informers.client, { component: "magnum-api", clock });
  const probes = createHealthProber({
    sources: api.store.sources,
    kubelets: options.probeKubelets ?? "auto",
    ...(options.probePace === undefined ? {} : { pace: options.probePace }),
    metrics,
    clock,
    log,
  });
  const controller = createMagnumController({
    informers,
    probes,
    installation: {
      ...keystone,
      managementCidrs: options.managementCidrs,
      runtime,
      podNetwork: options.podNetwork,
      csiImage: options.csiImage,
    },
    credentials,
    trustees,
    volumes: createVolumeReader(informers.client, { clock, log }),
    events,
    audit,
    metrics,
    clock,
    log,
  });
  const rates = new ProjectRates(options.rate ?? RATE, clock);
  const { certificateFiles, publicUrl, election } = options;
  const underWay = new UnderWay();
  const requests = { api, tokens, rates, underWay };
  const server = await serve({ ...requests, host, port, certificateFiles, publicUrl, metrics, clock, log });
  const { hasRow: hasCluster } = api.store;
  const work = async (signal: AbortSignal): Promise<void> => {
    const sweeping = trustees && sweepRegularly({ trustees, hasCluster, clock, log }, signal);
    await Promise.all([controller.run(signal), sweeping]);
  };
  const lead = (signal: AbortSignal) =>
    election === undefined
      ? work(signal)
      : electLeader(
          {
            client: informers.client,
            ...election,
            name: "causeway-magnum",
            onLeading: work,
            clock,
            log,
          },
          signal,
        );
  return {
    port: server.port,
    unread: () => api.store.unread(),
    async run(signal) {
      // What ends meanwhile is audited, too.
      const served = new AbortController();
      const serving = whenAborted(signal).then(async () => {
        await server.close();
        served.abort();
      });
      void reportKeystone(options.keystone, { clock, log, signal });
      void reportUnread(api.store, { clock, log, signal });
      try {
        await Promise.all([lead(signal), audit?.run(served.signal), serving]);
      } finally {
        await server.close();
        identity.close();
        credentials.close();
        await trustees?.close();
      }
    },
  };
}

/** Milliseconds after which lists that were not read are no matter of time. */
const SLOW = 20_000;

async function reportUnread(
  store: Pick<Api["store"], "unread">,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  await clock.sleep(SLOW, signal).catch(() => {});
  const unread = store.unread();
  if (unread.length === 0 || signal.aborted) return;
  log.error(
    "the management cluster cannot be read: requests get 503 until it can; install the CRDs, and let the program list them",
    { unread },
  );
}

/** Without Keystone each request gets 503: the log reports it at the start, before users do. */
async function reportKeystone(
  address: IdentityAddress,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await reachIdentity(address, { clock, signal });
  } catch (error) {
    if (signal.aborted) return;
    const reason = messageOf(error);
    log.error("Keystone cannot be reached: requests get 503 until it can", { url: address.authUrl, reason });
  }
}

/** A token has to be scoped to a project. */
const identify: Identify<Omit<Caller, "token">> = async ({ user, project, roles, methods }) =>
  project === undefined
    ? { refused: "the token has no project" }
    : {
        user: {
          userId: user.id,
          userName: user.name,
          projectId: project.id,
          projectName: project.name,
          domainId: user.domain.id,
          roles: (roles ?? []).map(({ name }) => name),
          ofApplicationCredential: methods.includes("application_credential"),
        },
      };
