import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  runController,
  runPipeline,
  watchInformer,
  type ObjectKey,
  type Pipeline,
  type Shards,
} from "@causeway/kubernetes";
import { keyOfId } from "../../runtime.ts";
import type { ServiceCluster } from "../service-cluster.ts";
import { idAnnotation } from "../tenant.ts";
import { gather, type GatherFrom, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** The service cluster, and what this process works on. */
export interface HandOverOptions extends GatherFrom {
  readonly cluster: ServiceCluster;
  readonly shards?: Shards | undefined;
  readonly metrics?: Metrics | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Acknowledges that control planes are handed over to this management cluster, or from it. */
export function createHandOverController(options: HandOverOptions): { run(signal: AbortSignal): Promise<void> } {
  const { cluster, shards, metrics, clock, log } = options;
  const { informers, namespaces } = cluster;
  const name = "pods-hand-over";
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: async ({ name: id }: ObjectKey) => gather(options, id),
    plan,
    perform: (step, _observed, signal) => perform(informers.client, step, signal),
    publish: async () => {},
    failed: () => ({ status: undefined, events: [] }),
  };
  const source = watchInformer(namespaces, ({ object }) => {
    const id = object.metadata.annotations?.[idAnnotation];
    return id === undefined || !id.includes(".") ? [] : [keyOfId(id)];
  });
  const reconcile = runPipeline(pipeline, { clock, log, name, ...(metrics ? { metrics } : {}) });
  const ready = (stop: AbortSignal) => informers.whenSynced(stop);
  return {
    run: (signal) => runController({ name, reconcile, sources: [source], clock, log, ready, shards }, signal),
  };
}
