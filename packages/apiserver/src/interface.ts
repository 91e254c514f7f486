import type { Backup } from "./backup/backup.ts";
import type { Clock, KeyPair, Log, Metrics } from "@causeway/foundation";
import type { AdmissionRules, KubeObject, KubernetesClient } from "@causeway/kubernetes";
import type { User } from "./contract/user.ts";
import type { AuthenticationOptions, ExternalAuthenticators } from "./contract/authentication.ts";
import type { AuditOptions } from "./contract/audit.ts";
import type { KindConversion } from "./contract/converter.ts";
import type { ConnectionLimits } from "./server/connection-pool.ts";
import type { EncryptionOptions } from "./contract/encryption.ts";
import type { ServerProblem } from "./contract/server-problem.ts";
import type { KubeletOptions } from "./contract/kubelets.ts";
import type { LogicalClusterLimits } from "./contract/quota.ts";

/** Where state is, what is served first, and who is trusted. */
export interface ApiServerOptions {
  /** State folder (mode 0700); undefined keeps all in memory. */
  readonly dir?: string;
  /** Where the management API listens. Default 127.0.0.1 and any free port (kept over restarts in `dir`). */
  readonly host?: string;
  readonly port?: number;
  readonly clock?: Clock;
  readonly log?: Log;
  /** CustomResourceDefinition manifests that exist from the start in the management cluster. */
  readonly crds?: readonly unknown[];
  /**
   * How the management cluster is guarded and watched; not kept over restarts. `controllers`: those of `controllers`
   * below run for it; `podCidr`: where its Nodes get their networks from.
   */
  readonly management?: GuardOptions & { readonly controllers?: boolean; readonly podCidr?: string };
  /**
   * Starts controllers next to the server's own, for each cluster that has option `controllers`, in the process that
   * serves it. A worker process has those that its program gives to `runWorker`.
   */
  readonly controllers?: StartClusterControllers;
  /**
   * Authenticators that clusters may name in `authentication.external`. A worker process has those that its program
   * gives to `runWorker`.
   */
  readonly authenticators?: ExternalAuthenticators;
  /** Conversions among versions of kinds of the management cluster; each wins over what the kind's CRD says. */
  readonly conversions?: readonly KindConversion[];
  /**
   * Rules for custom kinds of the management cluster, called in this process as a validating webhook would be: before
   * webhooks, and only about writes that change the spec.
   */
  readonly rules?: readonly AdmissionRules[];
  /** Where the server has its own certificate from; default: the management cluster's authority issues it. */
  readonly serving?: ServingFiles;
  /**
   * How records are encrypted on disk. Default: Secrets are, with a key that is made in `dir`; a configuration kept
   * elsewhere protects them from a reader of all of `dir`.
   */
  readonly encryption?: EncryptionOptions;
  /**
   * Open connections that clients may have. Default: by the descriptors that the process may open, a quarter kept for
   * the management cluster.
   */
  readonly connections?: Partial<ConnectionLimits>;
  /** Revisions that lists and watches can go back by; what is older answers 410 Expired. Default 20,000. */
  readonly history?: number;
  /**
   * Milliseconds after the start at which the management cluster's controllers begin, so that clients that waited for
   * the server are served first. Default 0: before the server is ready.
   */
  readonly controllersAfter?: number;
  /**
   * How logical clusters are kept apart from the management cluster. "none" (default): all are served by this process.
   * Else each is served by a worker process, at a listener of its own; a state folder of one process is converted at
   * the start. Needs `dir`.
   */
  readonly isolation?: "none" | IsolationOptions;
  /** What `firstObjects` returned, of the same sources: saves a new cluster the work of making them. */
  readonly firstObjects?: readonly KubeObject[];
}

/** Memory and time of the worker processes that serve logical clusters. */
export interface IsolationOptions {
  /**
   * Worker processes that are started before clusters share one. Default 2. A further one is started when all are near
   * their limit of memory or have `capacity` clusters, as long as the host's memory has room for one more at its limit.
   * A cluster of class "own" has one more.
   */
  readonly workers?: number;
  /**
   * A shared worker with so many clusters takes no further one that has option `controllers` when it is made; any
   * number of clusters without that option fits. Default: one for each 7 MiB of `heap` and 12 MiB of `resident`, 106.
   */
  readonly capacity?: number;
  /** MiB of JavaScript heap of each worker. Default 768. */
  readonly heap?: number;
  /** MiB of resident memory at which a worker is ended and started again. Default 1280. */
  readonly resident?: number;
  /** Milliseconds without progress after which a worker is ended and started again. Default 10,000. */
  readonly stuckAfter?: number;
  /**
   * Milliseconds without progress after which this process itself is aborted (signal SIGABRT), for a supervisor such as
   * systemd to start it again. Default: never.
   */
  readonly abortAfter?: number;
  /** The program of worker processes; default: that of this package. */
  readonly program?: string;
  /** The program of the thread that watches this process; default: that of this package. */
  readonly watchdog?: string;
}

/** A serving certificate from elsewhere. The files are read again when they change. */
export interface ServingFiles {
  /** PEM: the certificate, then those that lead to its authority. */
  readonly certificateFile: string;
  readonly keyFile: string;
  /** PEM: whom clients trust for it; what kubeconfigs carry. */
  readonly authorityFile: string;
}

/** Who may come in, and what is recorded of it. */
export interface GuardOptions {
  /** Who is believed next to the cluster's own identities. */
  readonly authentication?: AuthenticationOptions;
  /**
   * Default: nothing is recorded. It changes while the cluster is served: "none" ends it, and without it, it remains.
   */
  readonly audit?: AuditOptions | "none";
  /**
   * A PEM file of authorities whose client certificates are accepted, too, next to the cluster's own: the old roots
   * while roots are rotated. Read again when it changes.
   */
  readonly clientAuthorityFile?: string;
}

/** Roots that are believed next to a cluster's own: those that come, or those that were. */
export interface RootRotation {
  /** PEM certificates of authorities that are trusted too. */
  readonly trusted: readonly string[];
  /**
   * Signs what clients and kubelets verify: the serving certificate, and the client certificate for kubelets. That is
   * the older authority, which all of them know.
   */
  readonly serving: KeyPair;
  /** PEM public keys whose service-account tokens are believed too. */
  readonly accountKeys: readonly string[];
}

/** Version, networks, kinds and authentication of one logical cluster. */
export interface LogicalClusterOptions extends GuardOptions {
  /** The cluster's own roots; made (and kept) by the server when absent. */
  readonly authority?: KeyPair;
  readonly serviceAccountKey?: string;
  /**
   * While the cluster's roots are replaced: those next to `authority` and `serviceAccountKey`. "none" ends that;
   * without it, it remains. Roots change while the cluster is served.
   */
  readonly rotation?: RootRotation | "none";
  /**
   * The authority of the certificate with which requests are passed on to extension servers; made (and kept) when
   * absent.
   */
  readonly frontProxy?: KeyPair;
  /**
   * PEM public keys whose service-account tokens are believed too: those of keys that signed before
   * `serviceAccountKey`.
   */
  readonly serviceAccountVerificationKeys?: readonly string[];
  /**
   * CIDRs; default 10.96.0.0/12 and none. Services may have one of each family: "10.96.0.0/12,fd00:10:96::/112", the
   * default first.
   */
  readonly serviceCidr?: string;
  readonly podCidr?: string;
  readonly dnsDomain?: string;
  /** Writes that would go beyond are refused with 507. Default: no limits. */
  readonly limits?: LogicalClusterLimits;
  /** "v1.34.0": what /version answers. */
  readonly version?: string;
  /**
   * The class of worker process that serves it: one that it shares with other clusters (default), or its own. Chosen
   * when the cluster is made.
   */
  readonly worker?: "shared" | "own";
  /**
   * Whether admission and conversion webhooks of this cluster are called. Default: those in the networks of `kubelets`,
   * and all of the management cluster: who may write a webhook configuration could have this process send requests to
   * any address it reaches.
   */
  readonly webhooks?: boolean;
  /** How kubelets and webhooks are reached, for logs, exec, attach and port-forward. Default: not at all. */
  readonly kubelets?: KubeletOptions;
  /** The controllers that the server's owner brings run for this cluster. Default false. */
  readonly controllers?: boolean;
  /**
   * A listener of its own, so that the cluster is at "/" of https://host:port. Port 0: a free port, kept over
   * restarts.
   */
  readonly listen?: {
    readonly host: string;
    readonly port: number;
    /** Names and addresses in the serving certificate. */ readonly names: readonly string[];
    /** Its certificate, if not from the cluster's own authority. */
    readonly serving?: ServingFiles;
  };
}

/** A cluster as its controllers in the same process see it. */
export interface ControlledCluster {
  /** "" is the management cluster. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The networks of its pods, "10.244.0.0/16" or one of each family; undefined: none were given. */
  readonly podCidr: string | undefined;
  /**
   * A client that writes as `user` and needs no connection. Objects that it returns share their contents with the
   * store: callers must not change them.
   */
  client(user: User): KubernetesClient;
  /**
   * Does work that ends without waiting on the account of the cluster; the watchdog names `what` when it takes too
   * long.
   */
  charge<T>(what: string, work: () => T): T;
  /**
   * Resolves when one of the resources ("apps/deployments", "/pods") has an object, at once if one has; rejects when
   * `signal` aborts or the cluster closes. Controllers that wait for it cost an empty cluster nothing.
   */
  whenStored(resources: readonly string[], signal: AbortSignal): Promise<void>;
}

/** Controllers that run next to a logical cluster. */
export interface RunningControllers {
  /** Ends them; resolves when what is under way has ended. Must not reject. */
  stop(): Promise<void>;
}

/** Called once the cluster is served; must not throw. */
export type StartClusterControllers = (cluster: ControlledCluster) => RunningControllers;

/** One logical cluster: identities, data, quotas and watches of its own. */
export interface LogicalCluster {
  readonly name: string;
  /** Where it is reached: its own listener if it has one, else …/clusters/NAME of the server. */
  readonly url: string;
  /** The port of its own listener. */
  readonly port: number | undefined;
  readonly authority: KeyPair;
  /**
   * Until when (milliseconds since the epoch) it is not served, and why: its requests ended its worker process again
   * and again.
   */
  readonly parked?: { readonly until: number; readonly reason: string } | undefined;
  /** A kubeconfig with a new client certificate. Default: kubernetes-admin in system:masters, one year. */
  kubeconfig(options?: { commonName?: string; organizations?: readonly string[]; server?: string }): Promise<string>;
}

/** A worker process that serves logical clusters. */
export interface WorkerStatus {
  /** Of its folder in the state folder. */
  readonly name: string;
  /** Undefined between the end of a process and the start of the next. */
  readonly pid: number | undefined;
  readonly clusters: readonly string[];
  /** How often it ended by itself or was ended for cause within the last ten minutes. */
  readonly restarts: number;
  /** Why it does not serve its clusters now; undefined while it does. */
  readonly problem: string | undefined;
}

/** A client in the process of its server: informers follow what is stored. */
export type InProcessClient = KubernetesClient & Required<Pick<KubernetesClient, "follow">>;

/** A running API server with its logical clusters. */
export interface ApiServer {
  /** The management cluster, at "/" of the server. */
  readonly management: LogicalCluster;
  /**
   * A client of the management cluster that writes as `user` and needs no connection, for controllers in this process.
   * `fieldManager`: whose fields are those of writes that name none; default: the user's. Objects that it returns share
   * their contents with the store: callers must not change them.
   */
  localClient(user: User, fieldManager?: string): InProcessClient;
  /** Makes it or opens it; with the same name and options it changes nothing. */
  ensureCluster(name: string, options?: LogicalClusterOptions): Promise<LogicalCluster>;
  cluster(name: string): LogicalCluster | undefined;
  /**
   * Why a logical cluster is not served though it is there: its worker process cannot open it, and tries again.
   * Undefined while it is served.
   */
  clusterProblem(name: string): string | undefined;
  /** Removes the cluster and everything in it. Nothing to do is success. */
  removeCluster(name: string): Promise<void>;
  /**
   * Reads again, now, the files that options name (certificates, authorities, encryption), which are read once a
   * minute anyway; resolves when all records are encrypted as configured. Throws what is wrong with the first that is;
   * that one remains as it was.
   */
  reload(): Promise<void>;
  /**
   * Writes everything (objects of all clusters, authorities, keys, settings) to one file of mode 0600, as of one
   * moment, while requests continue. It is as secret as the state folder. `restoreApiServer` makes a state folder of
   * it. Rejects when the disk refuses. Logical clusters whose worker process cannot read its database are named in
   * `missing`, and logged.
   */
  backup(file: string): Promise<Backup>;
  /** The worker processes that run; none without `isolation`. */
  readonly workers: readonly WorkerStatus[];
  /** What an operator has to see to, now. */
  readonly problems: readonly ServerProblem[];
  /** What the management cluster's /metrics shows; parts of the same process may add families of their own. */
  readonly metrics: Metrics;
  /** Calls back when a cluster is parked, cannot be opened, or is served again; returns what ends that. */
  onChange(listener: (cluster: string) => void): () => void;
  /** Stops listening, ends watches, closes the store: under a second. */
  close(): Promise<void>;
}

/** Starts a server; `startApiServer` is one. */
export type StartApiServer = (options?: ApiServerOptions) => Promise<ApiServer>;
