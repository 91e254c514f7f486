import { canonicalJson, CausewayError, messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  ConfigMap,
  runPipeline,
  runController,
  watchInformer,
  type KubeObject,
  type ObjectKey,
  type Pipeline,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import type { EtcdAdmin } from "../../etcd/etcd-admin.ts";
import type { PodsSettings } from "../options.ts";
import { fieldManager } from "../perform.ts";
import type { ServiceCluster } from "../service-cluster.ts";
import { parseRecords, recordsObject, RECORDS_NAME } from "../storage/records.ts";
import { quotaOf, storageTenants } from "../storage/shares.ts";
import { createStorageWatchdog } from "../storage/watchdog.ts";
import { poolNamespaceOf, prefixOf } from "../tenant.ts";
import { gather, type Observed } from "./gather.ts";
import { perform, type PerformContext } from "./perform.ts";
import { plan } from "./plan.ts";
import { rotationReport } from "./rotation-report.ts";
import type { PoolState } from "./state.ts";
import type { Step } from "./steps.ts";

/** The service cluster, and the control planes that share the etcd. */
export interface PoolControllerOptions {
  readonly cluster: ServiceCluster;
  readonly settings: PodsSettings;
  /** The namespace of the shared etcd of another management cluster, for control planes that came from there. */
  readonly foreign?: string;
  readonly etcd: EtcdAdmin;
  /** The control planes that use it, of every process. Without any, nothing is made. */
  readonly users: () => readonly { readonly initialized?: true }[];
  /** The namespaces that this process works on. Who has the namespace "" makes and repairs the etcd. Default: all. */
  readonly shards?: Shards | undefined;
  /** What control planes need of it changed. */
  readonly changed: () => void;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The shared etcd; `state` is undefined until it was planned for the first time. */
export interface Pool {
  readonly state: PoolState | undefined;
  wake(): void;
  /** Removes the user and the data of a control plane; nothing to do is success. */
  remove(tenant: string, signal: AbortSignal): Promise<void>;
  run(signal: AbortSignal): Promise<void>;
}

/** The etcd that control planes share: created with the first of them, and kept. */
export function createPoolController(options: PoolControllerOptions): Pool {
  const { cluster, settings, etcd, users, shards, changed, metrics, clock, log } = options;
  const isForeign = options.foreign !== undefined;
  const namespaceName = options.foreign ?? poolNamespaceOf(settings.owner);
  const key: ObjectKey = { namespace: "", name: namespaceName };
  let state: PoolState | undefined;
  let authEnabled = false;
  let wake: () => void = () => {};
  const observe = (): Observed =>
    gather({
      cluster,
      settings,
      namespaceName,
      holdsData: users().some(({ initialized }) => initialized === true),
      authEnabled,
      isOfAnother: isForeign || shards?.owns("") === false,
      isForeign,
    });
  const using: PerformContext = {
    shards,
    client: cluster.informers.client,
    clock,
    etcd,
    join: async () => {},
    done(step) {
      if (step.type === "enable-auth") authEnabled = true;
    },
  };
  const watchdog = createStorageWatchdog({
    watched: () =>
      isForeign || shards?.owns("") === false || state?.ready !== true || state.access === undefined
        ? undefined
        : { access: state.access, members: state.servers.length, leaders: state.leaders },
    quota: quotaOf(settings),
    tenants: () => storageTenants(settings.owner, cluster.namespaces.list()),
    saved: () => parseRecords(observe().live.get(`ConfigMap/${RECORDS_NAME}`)),
    async save(records, signal) {
      const object = recordsObject(namespaceName, records);
      await cluster.informers.client.apply(ConfigMap, object, { fieldManager, signal });
    },
    etcd,
    metrics,
    clock,
    log,
  });
  const report = rotationReport({ metrics, log });
  const publish = (next: PoolState): void => {
    report(next.rotation);
    const same = canonicalJson(state ?? null) === canonicalJson(next);
    state = next;
    if (!same) changed();
  };
  const pipeline: Pipeline<Observed, Step, PoolState> = {
    gather: async () => (users().length === 0 ? undefined : observe()),
    plan,
    perform: (step, observed, signal) => perform(using, step, observed, signal),
    publish: async (_observed, next) => publish(next),
    failed: (_observed, { status }, step, error) => ({
      status: { ...status, ready: false, problem: failure(step, error) },
      events: [],
    }),
  };
  return {
    // Before the first round of this process, what an earlier one left behind says it.
    get state() {
      return state ?? (cluster.namespaces.get(key) === undefined ? undefined : plan(observe(), clock.now()).status);
    },
    wake: () => wake(),
    async remove(tenant, signal) {
      const observed = observe();
      if (observed.namespace === undefined) return;
      const { access, problem } = plan({ ...observed, authEnabled: true }, clock.now()).status;
      if (access === undefined) throw unreachable(problem?.message);
      await etcd.removeUser(access, { name: tenant, prefix: prefixOf(tenant) }, signal);
    },
    run: (signal) => {
      const requests: Source = (enqueue) => {
        wake = () => enqueue(key);
        wake();
        const stop = shards?.onChange(() => wake());
        return () => {
          stop?.();
          wake = () => {};
        };
      };
      const mine = ({ object }: { object: KubeObject }) => (object.metadata.namespace === namespaceName ? [key] : []);
      const sources = [
        requests,
        watchInformer(cluster.namespaces, ({ object }) => (object.metadata.name === namespaceName ? [key] : [])),
        watchInformer(cluster.pods, mine),
        ...cluster.objects.map((informer) => watchInformer(informer, mine)),
      ];
      const reconcile = runPipeline(pipeline, { clock, log, name: "pods-etcd", ...(metrics ? { metrics } : {}) });
      const ready = (stop: AbortSignal) => cluster.informers.whenSynced(stop);
      return Promise.all([
        runController({ name: "pods-etcd", reconcile, sources, clock, log, ready }, signal),
        watchdog.run(signal),
      ]).then(() => undefined);
    },
  };
}

function failure(step: Step, error: unknown) {
  const code = error instanceof CausewayError ? error.code : "CONTROL_PLANE_FAILED";
  return { code, message: `shared etcd: ${step.type}: ${messageOf(error)}`, actor: "operator" } as const;
}

function unreachable(why = "its members are not ready"): CausewayError {
  return new CausewayError("PODS_ETCD_UNREACHABLE", `the data in the shared etcd cannot be removed: ${why}`, {
    hint: "It is retried; the control plane's object remains until it is removed.",
  });
}
