import type { MagnumCluster } from "@causeway/api";
import { isAborted, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import { isTrue, keyOf, secretText, type ObjectKey, type Source } from "@causeway/kubernetes";
import { runtimeOf } from "../cluster/desired.ts";
import { machinesOf, type ClusterProbe as Probe, type Sources } from "../cluster/gather.ts";
import { readMigrating } from "../cluster/migrating.ts";
import { probeCluster, type ProbeOptions } from "./probe.ts";

/** How often clusters are probed, and how much at once. */
export interface ProbePace {
  /** Milliseconds between two probes of a cluster at least. Default 60,000, as Magnum. */
  readonly interval?: number;
  /** Probes that are begun in a second at most, of all clusters: with more clusters each is probed less often. */
  readonly perSecond?: number;
  /** Probes under way at most. */
  readonly together?: number;
}

/**
 * Whether each probe asks the control plane for a kubelet as well. "auto": one that is not reached counts in clusters
 * where one was reached before; a control plane that has no way to its nodes is not shown as failing. "always": it
 * counts in all clusters. "never": only the control planes themselves are probed.
 */
export type KubeletProbes = "always" | "auto" | "never";

/** Which clusters are probed and how. A test replaces `probe`, so that no connection is made. */
export interface ProberOptions {
  readonly sources: Sources;
  readonly kubelets: KubeletProbes;
  readonly pace?: ProbePace;
  /** Default: `probeCluster`. */
  readonly probe?: (options: ProbeOptions, signal: AbortSignal) => Promise<Probe>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Probes the control planes of all clusters, again and again, at a bounded rate. */
export interface HealthProber {
  /** What was found last; undefined: nothing yet, or only one failure, which may be the network's. */
  of(key: ObjectKey): Probe | undefined;
  /** Clusters whose result has changed. */
  readonly source: Source;
  run(signal: AbortSignal): Promise<void>;
}

const INTERVAL = 60_000;
const PER_SECOND = 20;
const TOGETHER = 10;
const TIMEOUT = 5_000;
/** Probes in a row that fail before it is reported. */
const FAILURES = 2;

/** Where no kubelet was ever reached, one is tried in these many probes, and then in every tenth probe. */
const TRIES = 3;
const SELDOM = 10;

interface Known {
  readonly probe: Probe | undefined;
  readonly failures: number;
  /** Whether a kubelet was reached, and how many probes there were before. */
  readonly isReached: boolean;
  readonly tries: number;
  /** The node whose kubelet was not reached. */
  readonly failing: string | undefined;
}

/**
 * A prober of all clusters whose control plane has served once. A failure is reported after two probes in a row that
 * fail.
 * Metric: causeway_magnum_api_health_probes_total.
 */
export function createHealthProber(options: ProberOptions): HealthProber {
  const { sources, clock, log, kubelets, probe = probeCluster } = options;
  const { interval = INTERVAL, perSecond = PER_SECOND, together = TOGETHER } = options.pace ?? {};
  const counter = options.metrics.counter({
    name: "causeway_magnum_api_health_probes_total",
    help: "Probes of clusters' control planes by the Magnum API.",
    labels: ["outcome"],
  });
  const known = new Map<string, Known>();
  const handlers = new Set<(key: ObjectKey) => void>();
  let round = 0;

  const one = async (cluster: MagnumCluster, signal: AbortSignal): Promise<void> => {
    const key = keyOf(cluster);
    const kubeconfig = secretText(sources.secrets.get({ ...key, name: `${key.name}-kubeconfig` }), "value");
    if (kubeconfig === undefined) return void known.delete(idOf(key));
    const { failing, tries = 0, isReached = cluster.status?.kubeletReached === true } = known.get(idOf(key)) ?? {};
    const isAsked = mayAsk(kubelets, isReached, tries) && forwards(sources, key);
    const node = isAsked ? nodeOf(readyNodes(sources, key), failing, round) : undefined;
    const probed = await probe({ kubeconfig, node, timeout: TIMEOUT }, signal);
    const isKnown = isReached || probed.kubelet?.state === "ok";
    const found = kubelets === "always" || isKnown ? probed : { api: probed.api };
    // What fails since this process ends says nothing about the cluster.
    if (signal.aborted) return;
    counter.increment({ outcome: isWell(found) ? "ok" : "failed" });
    if (note(known, idOf(key), found, { isReached: isKnown, tries: tries + 1 }))
      for (const handler of handlers) handler(key);
  };

  const all = async (signal: AbortSignal): Promise<void> => {
    const clusters = sources.magnum.list().filter((cluster) => isProbed(sources, cluster));
    const present = new Set(clusters.map((cluster) => idOf(keyOf(cluster))));
    for (const id of known.keys()) if (!present.has(id)) known.delete(id);
    const underWay = new Set<Promise<void>>();
    for (const cluster of clusters) {
      if (underWay.size >= together) await Promise.race(underWay);
      const running: Promise<void> = one(cluster, signal)
        .catch((error: unknown) => log.warn("a cluster was not probed", { ...keyOf(cluster), error: messageOf(error) }))
        .finally(() => underWay.delete(running));
      underWay.add(running);
      await clock.sleep(1_000 / perSecond, signal);
    }
    await Promise.all(underWay);
  };

  return {
    of: (key) => known.get(idOf(key))?.probe,
    source(enqueue) {
      handlers.add(enqueue);
      return () => handlers.delete(enqueue);
    },
    async run(signal) {
      try {
        while (!signal.aborted) {
          const begun = clock.now();
          await all(signal);
          round += 1;
          await clock.sleep(Math.max(1_000, begun + interval - clock.now()), signal);
        }
      } catch (error) {
        if (!isAborted(error) && !signal.aborted) throw error;
      }
    },
  };
}

const idOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

const isWell = ({ api, kubelet }: Probe): boolean => api === "ok" && (kubelet === undefined || kubelet.state === "ok");

/** What is reported of a probe: which kubelet it was that is well is not. */
const shown = (probe: Probe | undefined): string =>
  JSON.stringify([probe?.api, probe?.kubelet?.state === "ok" ? undefined : probe?.kubelet]);

/** Whether a probe asks for a kubelet. Where none was reached so far it seldom does: each takes its time. */
function mayAsk(kubelets: KubeletProbes, isReached: boolean, tries: number): boolean {
  if (kubelets !== "auto") return kubelets === "always";
  return isReached || tries < TRIES || tries % SELDOM === 0;
}

/** Whether what is reported has changed. */
function note(
  known: Map<string, Known>,
  id: string,
  found: Probe,
  learned: Pick<Known, "isReached" | "tries">,
): boolean {
  const before = known.get(id);
  const failures = isWell(found) ? 0 : (before?.failures ?? 0) + 1;
  const probe = failures > 0 && failures < FAILURES ? before?.probe : found;
  const failing = failures > 0 && found.api === "ok" ? found.kubelet?.node : undefined;
  known.set(id, { ...learned, probe, failures, failing });
  // That a kubelet was reached is in the cluster's status, so that a new process knows it.
  return shown(before?.probe) !== shown(probe) || (before?.isReached === false && learned.isReached);
}

/** Those whose control plane has served once, and that are the Magnum API's own. */
function isProbed({ controlPlanes }: Sources, cluster: MagnumCluster): boolean {
  if (cluster.metadata.deletionTimestamp !== undefined || readMigrating(cluster) !== undefined) return false;
  return controlPlanes.get(keyOf(cluster))?.status?.initialization?.controlPlaneInitialized === true;
}

/** The embedded API server forwards no requests to kubelets: there its own /healthz is all that is probed. */
function forwards({ controlPlanes }: Sources, key: ObjectKey): boolean {
  return runtimeOf(controlPlanes.get(key)) !== "Embedded";
}

/** Another ready node in each round; one that failed again, until it is well or not ready any more. */
function nodeOf(nodes: readonly string[], failing: string | undefined, round: number): string | undefined {
  if (failing !== undefined && nodes.includes(failing)) return failing;
  return nodes[round % Math.max(nodes.length, 1)];
}

function readyNodes(sources: Sources, key: ObjectKey): readonly string[] {
  return machinesOf(sources, key)
    .filter(({ status }) => isTrue(status?.conditions, "NodeReady"))
    .flatMap(({ status }) => status?.nodeRef?.name ?? [])
    .toSorted();
}
