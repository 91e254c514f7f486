import { CausewayError, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  publishStatus,
  runController,
  secretText,
  setConditions,
  watchInformer,
  type EventRecorder,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type Plan,
  type Pipeline,
  type RemoteClusters,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import { HostedControlPlane } from "@causeway/api";
import type { Backups } from "../backup/backups.ts";
import { createAuditWatchdog, type WatchedSink } from "../audit-delivery/watchdog.ts";
import { createIssuerWatchdog, type WatchedIssuers } from "../believed/watchdog.ts";
import type { ControlPlaneRuntime } from "../runtime.ts";
import { createTunnelWatchdog, type WatchedTunnel } from "../tunnel/watchdog.ts";
import { createWebhookWatchdog, type ApiAccess, type WatchedApi } from "../webhooks/watchdog.ts";
import { gather, openInformers, ownerCluster, type GatherFrom, type Observed } from "./gather.ts";
import { clusterName, runtimeId } from "./names.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** The management cluster, the runtimes and the backups of the controller. */
export interface HostedControlPlaneOptions {
  readonly informers: Informers;
  readonly runtime: ControlPlaneRuntime;
  /** Connections of this process to the clusters, which checks of webhooks use. Default: they make their own. */
  readonly remoteClusters?: Pick<RemoteClusters, "get">;
  /** Where control planes are restored from. Undefined: none is restored here. */
  readonly backups?: Backups;
  /** The host that nodes reach control planes at, when the object names none; undefined: not known yet. */
  readonly advertise: (object: HostedControlPlane) => Promise<string | undefined>;
  readonly events: EventRecorder;
  /** The namespaces that this process works on. Default: all. */
  readonly shards?: Shards | undefined;
  /** Where reconciles that do not converge are counted. */
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

type ObjectStatus = NonNullable<HostedControlPlane["status"]>;
const fieldManager = "causeway-hosted-control-plane";

const BY_CLUSTER = "hosted-control-plane.cluster";
const CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name";

/** "NAMESPACE/NAME" of the Clusters that a control plane names as its own, by its label or as an owner. */
function clustersOf({ metadata: { namespace = "", labels, ownerReferences = [] } }: HostedControlPlane): string[] {
  const names = [labels?.[CLUSTER_LABEL] ?? [], ownerReferences.map(({ name }) => name)].flat();
  return [...new Set(names)].map((name) => `${namespace}/${name}`);
}

/** The controller of HostedControlPlane objects. */
export function createHostedControlPlane(options: HostedControlPlaneOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { informers, runtime, events, clock, log } = options;
  const opened = openInformers(informers);
  const checked = new Set<(id: string) => void>();
  const changed = (id: string): void => {
    for (const listener of checked) listener(id);
  };
  const tunnels = createTunnelWatchdog({ tunnels: () => watchedTunnels(opened, options), changed, clock, log });
  const watchdog = createWebhookWatchdog({
    apis: () => watchedApis(opened, options),
    changed,
    exempted(id, webhook) {
      const object = opened.controlPlanes.get(keyOfId(id));
      const message = `${webhook} broke requests of the system: a match condition exempts them from it`;
      if (object) events.event(object, { type: "Normal", reason: "WebhookExempted", message });
    },
    clock,
    log,
  });
  const issuerChecks = createIssuerWatchdog({ watched: () => watchedIssuers(opened, options), changed, clock, log });
  const sinks = createAuditWatchdog({ watched: () => watchedSinks(opened, options), changed, clock, log });
  const webhooks = (id: string) => watchdog.findings(id);
  const tunnel = (id: string) => tunnels.facts(id);
  const issuers = (id: string) => issuerChecks.facts(id);
  const auditDelivery = (id: string) => sinks.facts(id);
  const facts = { webhooks, tunnel, issuers, auditDelivery };
  const from = { ...opened, runtime, advertise: options.advertise, ...facts };
  const { backups } = options;
  const using = { client: informers.client, runtime, clock, events, ...(backups ? { backups } : {}) };
  const pipeline: Pipeline<Observed, Step, ObjectStatus> = {
    gather: (key, signal) => gather(from, key, signal),
    plan,
    perform: (step, observed, signal) => perform(using, step, observed, signal),
    async publish(observed, status, planned, signal) {
      for (const event of planned) events.event(observed.object, event);
      await publishStatus(informers.client, HostedControlPlane, observed.object, { status, fieldManager, signal });
    },
    failed: (observed, planned, step, error) => failed(clock.now(), observed, planned, { step, error }),
  };
  informers.index(from.controlPlanes, { [BY_CLUSTER]: clustersOf });
  const ownersOf = ({ metadata: { namespace = "", name, labels } }: KubeObject): ObjectKey[] =>
    from.controlPlanes
      .byIndex(BY_CLUSTER, `${namespace}/${labels?.[CLUSTER_LABEL] ?? name}`)
      .map((o) => ({ namespace, name: o.metadata.name }));
  const sources = [
    watchInformer(from.controlPlanes),
    watchInformer(from.clusters, (change) => ownersOf(change.object)),
    watchInformer(from.secrets, (change) => ownersOf(change.object)),
    watchIds((listener) => runtime.onChange(listener)),
    watchIds((listener) => {
      checked.add(listener);
      return () => checked.delete(listener);
    }),
  ];
  return {
    run: async (signal) => {
      const checks = Promise.all([
        watchdog.run(signal),
        tunnels.run(signal),
        issuerChecks.run(signal),
        sinks.run(signal),
      ]);
      await runController(
        {
          name: "hosted-control-plane",
          reconcile: runPipeline(pipeline, { clock, log, name: "hosted-control-plane", metrics: options.metrics }),
          sources,
          shards: options.shards,
          clock,
          log,
          ready: (stop) => informers.whenSynced(stop),
        },
        signal,
      );
      await checks;
    },
  };
}

/** The control planes of this process, and how the API of each is reached. */
function watchedApis(
  { controlPlanes, clusters, secrets }: Pick<GatherFrom, "controlPlanes" | "clusters" | "secrets">,
  { runtime, shards, remoteClusters }: Pick<HostedControlPlaneOptions, "runtime" | "shards" | "remoteClusters">,
): WatchedApi[] {
  return ours(controlPlanes, shards).map((object) => ({
    id: runtimeId(object),
    mayExempt: object.spec.brokenWebhooks === "Exempt",
    async access(signal) {
      const access = await accessTo(object, { clusters, secrets, runtime }, signal);
      if (access === undefined || access.inside !== undefined) return access;
      const key = {
        namespace: object.metadata.namespace ?? "",
        name: clusterName(object, ownerCluster({ clusters }, object)),
      };
      return { ...access, connected: remoteClusters?.get(key)?.client };
    },
  }));
}

/** As an administrator; undefined: it does not serve now. */
async function accessTo(
  object: HostedControlPlane,
  { clusters, secrets, runtime }: Pick<GatherFrom, "clusters" | "secrets" | "runtime">,
  signal: AbortSignal,
): Promise<ApiAccess | undefined> {
  const state = await runtime.observe(runtimeId(object), signal);
  const name = clusterName(object, ownerCluster({ clusters }, object));
  const secret = secrets.get({ namespace: object.metadata.namespace ?? "", name: `${name}-kubeconfig` });
  const kubeconfig = secretText(secret, "value");
  return state?.ready !== true || kubeconfig === undefined ? undefined : { kubeconfig, inside: state.inside };
}

/** Those whose API servers read issuers from a file, and keep to the old ones until all of the new ones respond. */
function watchedIssuers(
  { controlPlanes, clusters, secrets }: Pick<GatherFrom, "controlPlanes" | "clusters" | "secrets">,
  { runtime, shards }: Pick<HostedControlPlaneOptions, "runtime" | "shards">,
): WatchedIssuers[] {
  return ours(controlPlanes, shards).flatMap((object) => {
    const { jwt } = object.spec.authentication ?? {};
    if (jwt === undefined || !hasOwnPrograms(object)) return [];
    return {
      id: runtimeId(object),
      jwt,
      access: (signal) => accessTo(object, { clusters, secrets, runtime }, signal),
      output: async (signal) => runtime.output?.(runtimeId(object), signal),
    };
  });
}

/** Those whose API servers send audit events to a sink of their tenant. */
function watchedSinks(
  { controlPlanes, clusters, secrets }: Pick<GatherFrom, "controlPlanes" | "clusters" | "secrets">,
  { runtime, shards }: Pick<HostedControlPlaneOptions, "runtime" | "shards">,
): WatchedSink[] {
  return ours(controlPlanes, shards).flatMap((object) => {
    const { audit } = object.spec;
    if (audit === undefined) return [];
    const access = (signal: AbortSignal) => accessTo(object, { clusters, secrets, runtime }, signal);
    return { id: runtimeId(object), url: audit.webhook.url, access };
  });
}

/** Its API servers are Kubernetes' own. */
function hasOwnPrograms({ status }: HostedControlPlane): boolean {
  return status?.runtime === "Process" || status?.runtime === "Pods";
}

/** The control planes of this process whose tunnels are checked. */
function watchedTunnels(
  { controlPlanes }: Pick<GatherFrom, "controlPlanes">,
  { runtime, shards }: Pick<HostedControlPlaneOptions, "runtime" | "shards">,
): WatchedTunnel[] {
  return ours(controlPlanes, shards).map((object) => ({
    id: runtimeId(object),
    async access(signal) {
      const state = await runtime.observe(runtimeId(object), signal);
      return state?.ready === true ? runtime.tunnel?.(runtimeId(object), signal) : "later";
    },
  }));
}

/** Those that this process works on, and that are not being deleted. */
function ours(controlPlanes: GatherFrom["controlPlanes"], shards: Shards | undefined): HostedControlPlane[] {
  return controlPlanes
    .list()
    .filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined && shards?.owns(metadata.namespace ?? "") !== false,
    );
}

/** A source of the control planes that change by themselves. */
function watchIds(follow: (listener: (id: string) => void) => () => void): Source {
  return (enqueue) => follow((id) => enqueue(keyOfId(id)));
}

function keyOfId(id: string): ObjectKey {
  const dot = id.indexOf(".");
  return { namespace: id.slice(0, dot), name: id.slice(dot + 1) };
}

function failed(
  now: number,
  observed: Observed,
  planned: Plan<Step, ObjectStatus>,
  failure: { step: Step; error: unknown },
): { status: ObjectStatus; events: { type: "Warning"; reason: string; message: string }[] } {
  const message = sentenceOf(failure.error);
  const conditions = setConditions(
    planned.status.conditions,
    [{ type: "Available", status: "False", reason: "Failed", message }],
    { generation: observed.object.metadata.generation, now },
  );
  return {
    status: { ...planned.status, conditions },
    events: [{ type: "Warning", reason: "Failed", message: `${failure.step.type}: ${message}` }],
  };
}

/** What happened, what to do, and the code to search for. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof CausewayError)) return messageOf(error);
  return `${error.message}${error.hint === undefined ? "" : `. ${error.hint}`} (${error.code})`;
}
