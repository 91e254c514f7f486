import { labels, MagnumCluster, type MagnumClusterStatus } from "@causeway/api";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  runPipeline,
  publishStatus,
  runController,
  watchInformer,
  type EventRecorder,
  type Informer,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import type { ApplicationCredentialClient } from "@causeway/openstack";
import type { Trustees } from "../access/trustees.ts";
import type { AuditAction, AuditTrail } from "../audit-event.ts";
import type { Installation } from "./desired.ts";
import { gather, openSources, type ClusterProbe, type Observed } from "./gather.ts";
import { createKeptVolumes, type ReadVolumes } from "./kept-volumes.ts";
import { readMigrating } from "./migrating.ts";
import { isPending } from "./names.ts";
import { fieldManager, perform } from "./perform.ts";
import { plan } from "./plan.ts";
import { reasonOf } from "./failed-reason.ts";
import type { Step } from "./steps.ts";

/** What the controller uses of the health prober: its last results, and when to reconcile because of them. */
export interface ControlPlaneProbes {
  of(key: ObjectKey): ClusterProbe | undefined;
  /** Clusters whose result has changed. */
  readonly source: Source;
  run(signal: AbortSignal): Promise<void>;
}

/** What the controller of MagnumClusters works with. The optional parts switch features off when they are missing. */
export interface MagnumControllerOptions {
  readonly informers: Informers;
  readonly installation: Installation;
  readonly credentials: Pick<ApplicationCredentialClient, "revoke">;
  /** Users of clusters. Undefined: clusters have credentials of members of their projects. */
  readonly trustees?: Pick<Trustees, "remove"> | undefined;
  /** Undefined: nothing is said of volumes that remain. */
  readonly volumes?: ReadVolumes | undefined;
  readonly events: EventRecorder;
  /** What probes of control planes find, by themselves. Undefined: none are probed. */
  readonly probes?: ControlPlaneProbes | undefined;
  /** Undefined: nothing is audited. */
  readonly audit?: Pick<AuditTrail, "record"> | undefined;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** A change that ended, well or not, is recorded when its status is published. */
function recordEnd(audit: MagnumControllerOptions["audit"], object: MagnumCluster, after: MagnumClusterStatus): void {
  const [, kind = "", end = ""] = /^(CREATE|UPDATE|DELETE)_(COMPLETE|FAILED)$/.exec(after.status) ?? [];
  // What its own Magnum did is not audited here.
  if (readMigrating(object)?.phase === "discover") return;
  if (end === "" || object.status?.status === after.status) return;
  audit?.record({
    action: kind.toLowerCase() as AuditAction,
    outcome: end === "COMPLETE" ? "success" : "failure",
    cluster: { ...object, status: after },
  });
}

/** The controller of MagnumCluster objects. One of all processes runs it. */
export function createMagnumController(options: MagnumControllerOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, clock, log, events, credentials, installation, probes } = options;
  const sources = openSources(informers);
  const { client } = informers;
  const keptVolumes = options.volumes && createKeptVolumes({ read: options.volumes, log });
  const pipeline: Pipeline<Observed, Step, MagnumClusterStatus> = {
    gather: async (key) => gather(sources, installation, key, probes?.of(key)),
    plan,
    async perform(step, observed, signal) {
      if (step.type === "revoke-credential" && keptVolumes && !isPending(observed.object)) {
        const kept = await keptVolumes(observed.object, signal);
        if (kept) events.event(observed.object, kept);
      }
      const hasEnded = await perform({ client, credentials, trustees: options.trustees }, step, observed, signal);
      // A row that no client has seen is not audited, nor one whose end an older cache shows once more.
      if (hasEnded && !isPending(observed.object))
        options.audit?.record({ action: "delete", outcome: "success", cluster: observed.object });
    },
    async publish(observed, status, planned, signal) {
      for (const event of planned) events.event(observed.object, event);
      await publishStatus(client, MagnumCluster, observed.object, { status, fieldManager, signal });
      recordEnd(options.audit, observed.object, status);
    },
    failed({ object }, { status }, step, error) {
      const message = reasonOf(step.type, error, object.metadata.namespace ?? "");
      const reason = `${step.type}: ${message}`.slice(0, 4_000);
      return { status: { ...status, reason }, events: [{ type: "Warning", reason: "Failed", message: reason }] };
    },
  };
  const ofCluster = <T extends KubeObject>(informer: Informer<T>): Source =>
    watchInformer(informer, ({ object: { metadata } }) => {
      const name = metadata.labels?.[labels.clusterName];
      return name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name }];
    });
  const { magnum, clusters, ...owned } = sources;
  return {
    async run(signal) {
      const controlling = runController(
        {
          name: "magnum",
          reconcile: runPipeline(pipeline, { clock, log, name: "magnum", metrics: options.metrics }),
          sources: [
            watchInformer(magnum),
            watchInformer(clusters),
            ...Object.values(owned).map((each) => ofCluster(each as Informer<KubeObject>)),
            ...(probes ? [probes.source] : []),
          ],
          clock,
          log,
          ready: (stop) => informers.whenSynced(stop),
        },
        signal,
      );
      await Promise.all([controlling, probes?.run(signal)]);
    },
  };
}
