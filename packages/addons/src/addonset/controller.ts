import { AddonSet, type AddonSetStatus } from "@causeway/api";
import { CausewayError, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  isNotFound,
  publishStatus,
  runController,
  setConditions,
  watchInformer,
  type EventRecorder,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type Plan,
  type RemoteClusters,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { Applications } from "../argo/applications.ts";
import { argoFinalizer, argoLabels } from "../argo/names.ts";
import { openArgoInformers } from "../argo/observe.ts";
import { Prober, type Dial } from "../health/prober.ts";
import { Session } from "../live/session.ts";
import { fieldManager } from "../manifests/names.ts";
import { createSelection } from "../selection/controller.ts";
import { Declarations } from "./declarations.ts";
import { gather, openInformers, type GatherFrom, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** The management cluster, and access to the clusters that have add-ons. */
export interface AddonsOptions {
  /** Of the management cluster. */
  readonly informers: Informers;
  readonly remoteClusters: RemoteClusters;
  /** Connects to addresses inside workload clusters, for probes. Undefined: built-in add-ons are not probed. */
  readonly dial?: Dial;
  readonly events: EventRecorder;
  /** Where reconciles that do not converge are counted. */
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const name = "addons";
/** Objects of a set follow each other in one turn. */
const ROUNDS = 100;

/**
 * The controller of AddonSet objects. The owner of the informers runs them.
 * @example
 * const addons = createAddons({ informers, remoteClusters, events, clock: systemClock, log });
 * await Promise.all([informers.run(signal), addons.run(signal)]);
 */
export function createAddons(options: AddonsOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, remoteClusters, events, clock, log, metrics } = options;
  const sessions = new Sessions(remoteClusters, clock);
  const from: GatherFrom = {
    ...openInformers(informers),
    argo: { applications: new Applications(informers, clock), ...openArgoInformers(informers) },
    remoteClusters,
    sessionOf: (key) => sessions.of(key),
    declarations: new Declarations(),
    prober: new Prober(clock, options.dial),
    clock,
  };
  const using = { client: informers.client, events, clock, log };
  const pipeline: Pipeline<Observed, Step, AddonSetStatus> = {
    gather: (key, signal) => gather(from, key, signal),
    plan,
    perform: (step, observed, signal) => perform(using, step, observed, signal),
    async publish({ set }, status, planned, signal) {
      for (const event of planned) events.event(set, event);
      try {
        await publishStatus(informers.client, AddonSet, set, { status, fieldManager, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
    failed: (observed, planned, step, error) => failed(clock.now(), { observed, planned, step, error }),
    isRefusal: (error) => error instanceof CausewayError && !passing.has(error.code),
    isIndependent: (later, held) =>
      "addon" in later && "addon" in held && (later.addon !== held.addon || later.type === "restore"),
    epochOf: ({ set }) => String(set.metadata.generation),
  };
  const selection = createSelection({ informers, clock, log, ...(metrics ? { metrics } : {}) });
  return {
    async run(signal) {
      const stop = sessions.follow(from.sets);
      const reconcile = runPipeline(pipeline, { clock, log, name, maxRounds: ROUNDS, ...(metrics ? { metrics } : {}) });
      const ready = (stopped: AbortSignal) => informers.whenSynced(stopped);
      const sources = sourcesOf(from, sessions);
      await Promise.all([
        selection.run(signal),
        runController({ name, reconcile, sources, clock, log, ready }, signal),
      ]);
      stop();
    },
  };
}

/** Errors of the way to the cluster: the same request may succeed at once. */
const passing = new Set([
  "KUBERNETES_UNREACHABLE",
  "KUBERNETES_UNAUTHORIZED",
  "KUBERNETES_DISCONNECTED",
  "KUBERNETES_CLIENT_CLOSED",
  "KUBERNETES_TOO_MANY_REQUESTS",
  "KUBERNETES_CONFLICT",
]);

/** The sessions of connected clusters, and who hears of their changes. */
class Sessions {
  readonly #remoteClusters: RemoteClusters;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();
  readonly #enqueue = new Set<(key: ObjectKey) => void>();

  constructor(remoteClusters: RemoteClusters, clock: Clock) {
    this.#remoteClusters = remoteClusters;
    this.#clock = clock;
  }

  of(key: ObjectKey): Session | undefined {
    const id = `${key.namespace}/${key.name}`;
    const remote = this.#remoteClusters.get(key);
    const known = this.#sessions.get(id);
    if (remote !== undefined && known?.remote === remote) return known;
    this.#sessions.delete(id);
    if (!remote) return undefined;
    const changed = (set: string): void => {
      for (const enqueue of this.#enqueue) enqueue({ namespace: key.namespace, name: set });
    };
    const session = new Session(remote, this.#clock, changed);
    this.#sessions.set(id, session);
    return session;
  }

  readonly changes: Source = (enqueue) => {
    this.#enqueue.add(enqueue);
    return () => this.#enqueue.delete(enqueue);
  };

  /** Forgets the session of a cluster of which the last set is gone. */
  follow(sets: GatherFrom["sets"]): () => void {
    return sets.onChange(({ type, object }) => {
      const { namespace = "" } = object.metadata;
      const cluster = object.spec.clusterName ?? "";
      const used = sets.list(namespace).some(({ spec }) => spec.clusterName === cluster);
      if (type === "deleted" && !used) this.#sessions.delete(`${namespace}/${cluster}`);
    });
  }
}

function sourcesOf(from: GatherFrom, sessions: Sessions): Source[] {
  const where = (matches: (set: AddonSet) => boolean, namespace: string): ObjectKey[] =>
    from.sets
      .list(namespace)
      .filter(matches)
      .map(({ metadata }) => ({ namespace, name: metadata.name }));
  const ofCluster = (key: ObjectKey) => where((set) => set.spec.clusterName === key.name, key.namespace);
  const ofSource = ({ object }: { readonly object: KubeObject }) =>
    where(
      ({ spec }) => spec.addons.some(({ sources = [] }) => sources.some((each) => each.name === object.metadata.name)),
      object.metadata.namespace ?? "",
    );
  const ofControlPlane = ({ object }: { readonly object: KubeObject }) =>
    from.clusters
      .list(object.metadata.namespace ?? "")
      .filter(({ spec }) => spec.controlPlaneRef?.name === object.metadata.name)
      .flatMap(({ metadata }) => ofCluster({ namespace: metadata.namespace ?? "", name: metadata.name }));
  const handingOver = (namespace: string | undefined): ObjectKey[] =>
    from.sets
      .list(namespace)
      .filter(({ metadata, spec }) => spec.argoCD !== undefined || metadata.finalizers?.includes(argoFinalizer))
      .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name }));
  return [
    watchInformer(from.sets),
    watchInformer(from.clusters, ({ object }) =>
      ofCluster({ namespace: object.metadata.namespace ?? "", name: object.metadata.name }),
    ),
    watchInformer(from.controlPlanes, ofControlPlane),
    watchInformer(from.configMaps, ofSource),
    watchInformer(from.secrets, ofSource),
    // Credentials of clusters, which Argo CD has a copy of, and what was made for Argo CD.
    watchInformer(from.argo.kubeconfigs, ({ object }) => handingOver(object.metadata.namespace)),
    watchInformer(from.argo.clusterSecrets, ({ object }) =>
      handingOver(object.metadata.labels?.[argoLabels.clusterNamespace]),
    ),
    watchInformer(from.argo.namespaces, () => handingOver(undefined)),
    (enqueue) => from.argo.applications.onChange(enqueue),
    sessions.changes,
    (enqueue) =>
      from.remoteClusters.onConnect((remote) => {
        for (const key of ofCluster(remote.key)) enqueue(key);
      }),
  ];
}

interface Failure {
  readonly observed: Observed;
  readonly planned: Plan<Step, AddonSetStatus>;
  readonly step: Step;
  readonly error: unknown;
}

function failed(now: number, { observed, planned, step, error }: Failure) {
  const code = error instanceof CausewayError ? error.code : undefined;
  const what = "name" in step ? `${step.type} ${step.name}` : step.type;
  const message = `${what}: ${messageOf(error)}${code === undefined ? "" : ` (${code})`}`.slice(0, 4_000);
  const addons = planned.status.addons?.map((addon) => {
    if (!("addon" in step) || addon.name !== step.addon) return addon;
    const { code: _before, ...rest } = addon;
    return { ...rest, state: "Failed" as const, message, ...(code === undefined ? {} : { code }) };
  });
  const conditions = setConditions(
    planned.status.conditions,
    [{ type: "Applied", status: "False", reason: "Failed", message }],
    { generation: observed.set.metadata.generation, now },
  );
  const status: AddonSetStatus = { ...planned.status, conditions, ...(addons ? { addons } : {}) };
  return { status, events: [{ type: "Warning" as const, reason: "AddonFailed", message }] };
}
