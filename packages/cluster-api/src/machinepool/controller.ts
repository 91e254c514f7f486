import { labels, MachinePool, type MachinePoolStatus } from "@causeway/api";
import {
  runPipeline,
  keyOf,
  Node,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type KubeObject,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { objectIndex } from "../contract/kind-table.ts";
import {
  by,
  clusterKeyOf,
  indexOfCluster,
  membersOf,
  onConnectionChange,
  providerKinds,
  type Context,
} from "../objects/context.ts";
import { groupsByCluster } from "../objects/groups.ts";
import { failure, performAndReport, publish } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { machinePoolStepEvents, plan } from "./plan.ts";
import type { MachinePoolStep } from "./steps.ts";

/** Reconciles MachinePools: a group of machines that the infrastructure provider keeps. */
export function machinePoolController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const pipeline: Pipeline<Observed, MachinePoolStep, MachinePoolStatus> = {
    gather: (key) => Promise.resolve(gather(context, key)),
    plan,
    perform: (step, { pool }, signal) =>
      performAndReport(
        context,
        { object: pool, events: machinePoolStepEvents(step) },
        perform(context, { step, pool }, signal),
      ),
    publish: ({ pool }, status, events, signal) =>
      publish(context, MachinePool, { object: pool, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  return {
    name: "machinepool",
    reconcile: runPipeline(pipeline, { clock, log, name: "machinepool", metrics: context.metrics }),
    sources: sources(context),
    groups: groupsByCluster((key) => {
      const pool = context.pools.get(key);
      return pool && clusterKeyOf(pool);
    }),
    clock,
    log,
  };
}

function sources(context: Context): Source[] {
  const { clusters, pools, informers } = context;
  return [
    watchInformer(pools),
    watchInformer(clusters, ({ object, previous }) =>
      previous?.metadata.generation === object.metadata.generation ? [] : membersOf(pools, keyOf(object)),
    ),
    watchOwner(context.machines, MachinePool.kind),
    ...providerKinds(context).map((kind) =>
      watchInformer(informers.for(kind), ({ object }) => [
        ...pools.byIndex(by.reference, objectIndex(object)).map(keyOf),
        ...memberOf(object),
      ]),
    ),
    (enqueue) => watchNodes(context, enqueue),
  ];
}

/** The pool that a machine of the infrastructure belongs to. */
function memberOf({ metadata }: KubeObject): ObjectKey[] {
  const name = metadata.labels?.[labels.poolName];
  return name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name }];
}

/** A Node that comes, changes or goes concerns the pools of its cluster that have its provider ID or name it. */
function watchNodes({ pools, remoteClusters }: Context, enqueue: (key: ObjectKey) => void): () => void {
  return onConnectionChange(remoteClusters, (remote) => {
    const members = () => pools.byIndex(by.cluster, indexOfCluster(remote.key));
    const all = () => members().map(keyOf).forEach(enqueue);
    if (remote.signal.aborted) return all();
    const nodes = remote.informers.for(Node);
    const stop = nodes.onChange(({ object }) => {
      const id = object.spec?.providerID ?? "";
      members()
        .filter(
          ({ spec, status }) =>
            spec.providerIDList?.includes(id) || status?.nodeRefs?.some(({ name }) => name === object.metadata.name),
        )
        .map(keyOf)
        .forEach(enqueue);
    });
    remote.signal.addEventListener("abort", stop, { once: true });
    nodes.whenSynced(remote.signal).then(all, () => {});
  });
}
