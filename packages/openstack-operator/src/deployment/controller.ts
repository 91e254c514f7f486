import { OpenStackDeployment } from "@causeway/api";
import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
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
  type Pipeline,
} from "@causeway/kubernetes";
import { fieldManager } from "../model/names.ts";
import { digestOf } from "../render/context.ts";
import { desiredOf, type Desired } from "../render/desired.ts";
import { deploymentOf, gather, openInformers, type Observed } from "./gather.ts";
import { exposeMetrics } from "./metrics.ts";
import { perform } from "./perform.ts";
import { plan, type Desire, type Status } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What the controller needs beyond its client. */
export interface DeploymentControllerOptions {
  readonly informers: Informers;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
}

/** The controller of OpenStackDeployment objects. The owner of the informers runs them. */
export function createDeploymentController(options: DeploymentControllerOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const { informers, events, clock, log, metrics } = options;
  const from = openInformers(informers);
  const using = { client: informers.client, clock };
  const desire = remembering(desiredOf);
  const pipeline: Pipeline<Observed, Step, Status> = {
    gather: (key) => Promise.resolve(gather(from, key)),
    plan: (observed, now) => plan(observed, now, desire),
    perform: (step, observed, signal) => perform(using, step, observed, signal),
    async publish({ deployment }, status, planned, signal) {
      for (const event of planned) events.event(deployment, event);
      try {
        await publishStatus(informers.client, OpenStackDeployment, deployment, { status, fieldManager, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
    failed: ({ deployment }, planned, step, error) => {
      const message = `${step.type} ${step.name}: ${messageOf(error)}`.slice(0, 4_000);
      const conditions = setConditions(
        planned.status.conditions,
        [{ type: "Ready", status: "False", reason: "WriteFailed", message }],
        { generation: deployment.metadata.generation, now: clock.now() },
      );
      return {
        status: { ...planned.status, conditions },
        events: [{ type: "Warning", reason: "WriteFailed", message }],
      };
    },
    // One object that is refused does not hold back the others: what needs it waits for it anyway.
    isIndependent: (later, held) => later.type === "apply" && held.type === "apply" && later.name !== held.name,
    epochOf: ({ deployment }) => String(deployment.metadata.generation),
  };
  const ownerOf = ({ object }: { readonly object: KubeObject }): ObjectKey[] => {
    const name = deploymentOf(object);
    return name === undefined ? [] : [{ namespace: object.metadata.namespace ?? "", name }];
  };
  const everyDeployment = (): ObjectKey[] =>
    from.deployments.list().map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name }));
  const sources = [
    watchInformer(from.deployments),
    ...from.written.map((informer) => watchInformer(informer, ownerOf)),
    watchInformer(from.pods, ownerOf),
    from.optional.source((object) => ownerOf({ object }), everyDeployment),
    // Heartbeats change nothing: only which nodes there are, and their labels.
    watchInformer(from.nodes, ({ type, object, previous }) =>
      type === "updated" && digestOf(previous?.metadata.labels ?? {}) === digestOf(object.metadata.labels ?? {})
        ? []
        : everyDeployment(),
    ),
  ];
  const name = "openstack-operator";
  return {
    async run(signal) {
      const end = metrics && exposeMetrics(metrics, from);
      const running = runController(
        {
          name,
          reconcile: runPipeline(pipeline, { clock, log, name, maxRounds: 40, ...(metrics ? { metrics } : {}) }),
          sources,
          clock,
          log,
          ready: (stop) => informers.whenSynced(stop),
        },
        signal,
      );
      await running.finally(end);
    },
  };
}

/**
 * Renders again only when something that it renders from has changed. Two results of each deployment are kept: before
 * and after unpinning.
 */
function remembering(render: (options: Parameters<Desire>[0]) => Desired): Desire {
  const kept = new Map<string, Desired>();
  return (options) => {
    const { deployment, credentials, ...rest } = options;
    const { uid = "", generation } = deployment.metadata;
    const key = `${uid}/${generation}/${digestOf([deployment.spec.release, credentials, rest])}`;
    const known = kept.get(key);
    if (known) return known;
    const made = render(options);
    kept.set(key, made);
    const own = [...kept.keys()].filter((each) => each.startsWith(`${uid}/`));
    for (const old of own.slice(0, -2)) kept.delete(old);
    return made;
  };
}
