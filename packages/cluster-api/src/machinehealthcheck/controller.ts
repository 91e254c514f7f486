import { MachineHealthCheck, type MachineHealthCheckStatus } from "@causeway/api";
import {
  runPipeline,
  keyOf,
  Node,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { clusterKeyOf, membersOf, onConnectionChange, type Context } from "../objects/context.ts";
import { failure, performAndReport, publish } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { healthCheckStepEvents, plan } from "./plan.ts";
import type { HealthCheckStep } from "./steps.ts";

/** Reconciles MachineHealthChecks: marks Machines as unhealthy, so that their owners replace them. */
export function healthCheckController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const name = "machinehealthcheck";
  const pipeline: Pipeline<Observed, HealthCheckStep, MachineHealthCheckStatus> = {
    gather: (key) => Promise.resolve(gather(context, key)),
    plan,
    perform: (step, { check }, signal) =>
      performAndReport(
        context,
        { object: step.type === "set-conditions" ? step.machine : check, events: healthCheckStepEvents(step, check) },
        perform(context, step, signal),
      ),
    publish: ({ check }, status, events, signal) =>
      publish(context, MachineHealthCheck, { object: check, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  return {
    name,
    reconcile: runPipeline(pipeline, { clock, log, name, metrics: context.metrics }),
    sources: sources(context),
    clock,
    log,
  };
}

function sources(context: Context): Source[] {
  const { healthChecks, clusters, machines } = context;
  return [
    watchInformer(healthChecks),
    watchInformer(clusters, ({ object }) => membersOf(healthChecks, keyOf(object))),
    watchInformer(machines, ({ object }) => membersOf(healthChecks, clusterKeyOf(object))),
    (enqueue) => watchNodes(context, enqueue),
  ];
}

/** Conditions of Nodes, not their heartbeats; a connection that comes or goes concerns every check of its cluster. */
function watchNodes({ healthChecks, remoteClusters }: Context, enqueue: (key: ObjectKey) => void): () => void {
  return onConnectionChange(remoteClusters, (remote) => {
    const all = () => membersOf(healthChecks, remote.key).forEach(enqueue);
    if (remote.signal.aborted) return all();
    const nodes = remote.informers.for(Node);
    const stop = nodes.onChange(({ type, object, previous }) => {
      if (type === "deleted" || previous === undefined || conditionsOf(previous) !== conditionsOf(object)) all();
    });
    remote.signal.addEventListener("abort", stop, { once: true });
    nodes.whenSynced(remote.signal).then(all, () => {});
  });
}

function conditionsOf(node: Node): string {
  return JSON.stringify((node.status?.conditions ?? []).map(({ type, status }) => [type, status]));
}
