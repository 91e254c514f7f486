import { hasCode, messageOf } from "@causeway/foundation";
import { Machine, type Cluster, type MachineStatus } from "@causeway/api";
import {
  runPipeline,
  isTrue,
  keyOf,
  Node,
  setCondition,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import {
  by,
  clusterKeyOf,
  indexOfCluster,
  membersOf,
  onConnectionChange,
  providerKinds,
  type Context,
} from "../objects/context.ts";
import { objectIndex } from "../contract/kind-table.ts";
import { groupsByCluster } from "../objects/groups.ts";
import { failure, publish, performAndReport } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather, indexNodes } from "./gather.ts";
import { perform } from "./perform.ts";
import { machineStepEvents, plan } from "./plan.ts";
import type { MachineStep } from "./steps.ts";

/** Reconciles Machines: bootstrap data, infrastructure, Node, and deletion with hooks, drain and volumes. */
export function machineController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const pipeline: Pipeline<Observed, MachineStep, MachineStatus> = {
    gather: (key, signal) => gather(context, key, signal),
    plan,
    async perform(step, { machine }, signal) {
      await performAndReport(
        context,
        { object: machine, events: machineStepEvents(step) },
        perform(context, { step, machine }, signal),
      );
      // Pods end in their own time: they are evicted again until they have.
      return step.type === "drain" ? "deferred" : undefined;
    },
    publish: ({ machine }, status, events, signal) =>
      publish(context, Machine, { object: machine, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(withBlocker(status, error, clock.now()), error),
  };
  const reconcile = runPipeline(pipeline, { clock, log, name: "machine", metrics: context.metrics });
  // Drains and labels of Nodes are calls to a workload cluster, which may not respond for a minute each.
  const groups = groupsByCluster((key) => {
    const machine = context.machines.get(key);
    return machine && clusterKeyOf(machine);
  });
  return { name: "machine", reconcile, sources: sources(context), concurrency: 16, groups, clock, log };
}

/** A drain that a budget blocks is also reported in the condition. */
function withBlocker(status: MachineStatus, error: unknown, now: number): MachineStatus {
  if (!hasCode(error, "CAPI_DRAIN_BLOCKED")) return status;
  const condition = { type: "Deleting", status: "True", reason: "DrainingNode", message: messageOf(error) } as const;
  return { ...status, conditions: setCondition(status.conditions, condition, now) };
}

function sources(context: Context): Source[] {
  const { clusters, machines, sets, deployments, informers } = context;
  return [
    watchInformer(machines),
    watchInformer(clusters, ({ object, previous }) =>
      previous && stateOf(previous) === stateOf(object) ? [] : membersOf(machines, keyOf(object)),
    ),
    watchInformer(sets, ({ object, previous }) =>
      previous?.metadata.generation === object.metadata.generation
        ? []
        : machines.byIndex(by.controller, object.metadata.uid ?? "").map(keyOf),
    ),
    watchInformer(deployments, ({ object, previous }) =>
      previous?.metadata.generation === object.metadata.generation ? [] : membersOf(machines, clusterKeyOf(object)),
    ),
    ...providerKinds(context).map((kind) =>
      watchInformer(informers.for(kind), ({ object }) =>
        machines.byIndex(by.reference, objectIndex(object)).map(keyOf),
      ),
    ),
    (enqueue) => watchNodes(context, enqueue),
  ];
}

/** What of a Cluster concerns its Machines. */
function stateOf({ spec, status, metadata }: Cluster): string {
  const observed = ["ControlPlaneInitialized", "RemoteConnectionProbe"].map((type) => isTrue(status?.conditions, type));
  return JSON.stringify([spec.paused, metadata.deletionTimestamp !== undefined, ...observed]);
}

/** Nodes of every connected cluster name their Machines; a connection that comes or goes names all of them. */
function watchNodes(context: Context, enqueue: (key: ObjectKey) => void): () => void {
  const { machines, remoteClusters } = context;
  return onConnectionChange(remoteClusters, (remote) => {
    const all = () => membersOf(machines, remote.key).forEach(enqueue);
    if (remote.signal.aborted) return all();
    indexNodes(remote);
    const nodes = remote.informers.for(Node);
    const index = indexOfCluster(remote.key);
    const stop = nodes.onChange(({ object, previous }) => {
      for (const node of previous ? [object, previous] : [object]) {
        machines.byIndex(by.node, `${index}/${node.metadata.name}`).map(keyOf).forEach(enqueue);
        machines
          .byIndex(by.providerID, `${index}/${node.spec?.providerID ?? ""}`)
          .map(keyOf)
          .forEach(enqueue);
      }
    });
    remote.signal.addEventListener("abort", stop, { once: true });
    nodes.whenSynced(remote.signal).then(all, () => {});
  });
}
