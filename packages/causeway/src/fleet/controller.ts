import { labels } from "@causeway/api";
import { createProjectListings } from "@causeway/cloud-controller-manager";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  runController,
  runPipeline,
  Secret,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Pipeline,
  type RemoteClusters,
  type Source,
} from "@causeway/kubernetes";
import type { CloudPool } from "@causeway/openstack";
import { gather, openCaches, type GatherFrom } from "./gather.ts";
import type { Member } from "./member.ts";
import { perform } from "./perform.ts";
import { plan, type Observed } from "./plan.ts";
import type { Step } from "./steps.ts";
import type { Sweep } from "./sweep.ts";

/** The management cluster, and what all members have in common. */
export interface FleetOptions {
  readonly informers: Informers;
  readonly remoteClusters: RemoteClusters;
  readonly clouds: CloudPool;
  readonly provider: string | undefined;
  /** Installs the Cinder CSI node plugin in each cluster. */
  readonly csiImage?: string | undefined;
  /** False: the clusters run drivers of their own for Cinder volumes. */
  readonly withVolumes: boolean;
  /** Where reconciles that do not converge are counted, of all clusters together. */
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
}

const name = "fleet";

/** What the plan is made from, with the key of the cluster. */
type Keyed = Observed & { readonly key: ObjectKey };

/**
 * One cloud controller manager for each workload cluster on OpenStack, all in this process, each with clients of its
 * own. When a cluster is deleted its Services' load balancers go first, while its API still serves.
 */
export function createFleet(options: FleetOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, remoteClusters, provider, metrics, clock, log } = options;
  const members = new Map<string, Member>();
  const sweeps = new Map<string, Sweep>();
  const from: GatherFrom = {
    ...openCaches(informers),
    informers,
    remoteClusters,
    members,
    changed: new Set<string>(),
    provider,
    unreached: new Map(),
    sweeps,
    clock,
  };
  const life = new AbortController();
  let wake: (key: ObjectKey) => void = () => {};
  const listings = createProjectListings(clock, life.signal);
  const using = { ...options, members, sweeps, listings, life: life.signal, wake: (key: ObjectKey) => wake(key) };
  const pipeline: Pipeline<Keyed, Step, undefined> = {
    async gather(key, signal) {
      const observed = await gather(from, key, signal);
      return observed && { ...observed, key };
    },
    plan,
    perform: (step, observed, signal) => perform(using, { key: observed.key, step, observed }, signal),
    publish: async () => {},
    failed: () => ({ status: undefined, events: [] }),
  };
  const reconcile = runPipeline(pipeline, { clock, log, name, metrics });
  const swept: Source = (enqueue) => {
    wake = enqueue;
    return () => (wake = () => {});
  };
  const sources = [...sourcesOf(options, from), swept];
  const ready = (signal: AbortSignal) => informers.whenSynced(signal);
  return {
    async run(signal) {
      await runController({ name, reconcile, sources, clock, log, ready }, signal);
      life.abort(new Error("the fleet stops"));
      await Promise.all([...members.values()].map((member) => member.stop()));
    },
  };
}

function sourcesOf({ informers, remoteClusters }: FleetOptions, from: GatherFrom): Source[] {
  const { clusters, controlPlanes, changed } = from;
  const secrets = informers.for(Secret, { labelSelector: labels.clusterName });
  return [
    watchInformer(clusters),
    watchInformer(controlPlanes, ({ object: { metadata } }) =>
      clusters
        .list(metadata.namespace)
        .filter((cluster) => cluster.spec.controlPlaneRef?.name === metadata.name)
        .map((cluster) => ({ namespace: cluster.metadata.namespace ?? "", name: cluster.metadata.name })),
    ),
    (enqueue) => remoteClusters.onConnect((remote) => enqueue(remote.key)),
    watchInformer(secrets, ({ object: { metadata } }) => {
      const cluster = metadata.labels?.[labels.clusterName];
      if (cluster === undefined || cluster === "") return [];
      const key = { namespace: metadata.namespace ?? "", name: cluster };
      changed.add(`${key.namespace}/${key.name}`);
      return [key];
    }),
  ];
}
