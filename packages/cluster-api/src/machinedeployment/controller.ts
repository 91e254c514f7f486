import { labels, MachineDeployment, type MachineDeploymentStatus } from "@causeway/api";
import {
  collected,
  controllerOf,
  runPipeline,
  keyOf,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { by, clusterIndex, membersOf, type Context } from "../objects/context.ts";
import { CalmStatus } from "../objects/calm-status.ts";
import { failure, publishCalmly, performAndReport } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { deploymentStepEvents, plan } from "./plan.ts";
import type { DeploymentStep } from "./steps.ts";

/** Reconciles MachineDeployments: one MachineSet for each template, and rollouts between them. */
export function machineDeploymentController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const calm = new CalmStatus(clock);
  const pipeline: Pipeline<Observed, DeploymentStep, MachineDeploymentStatus> = {
    gather: (key) => Promise.resolve(gather(context, key)),
    plan,
    perform: (step, { deployment }, signal) =>
      performAndReport(
        context,
        { object: deployment, events: deploymentStepEvents(step) },
        perform(context, step, signal),
      ),
    publish: ({ deployment }, status, events, signal) =>
      publishCalmly(context, calm, MachineDeployment, { object: deployment, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  const reconcile = runPipeline(pipeline, { clock, log, name: "machinedeployment", metrics: context.metrics });
  return { name: "machinedeployment", reconcile, sources: sources(context), clock, log };
}

function sources({ clusters, deployments, sets, machines }: Context): Source[] {
  const members = (key: ObjectKey): number => deployments.get(key)?.spec.replicas ?? 1;
  return [
    watchInformer(deployments),
    collected(watchOwner(sets, MachineDeployment.kind), members),
    // A MachineSet without a controller may be one to adopt.
    watchInformer(sets, ({ object }) =>
      controllerOf(object) ? [] : deployments.byIndex(by.cluster, clusterIndex(object)).map(keyOf),
    ),
    collected(
      watchInformer(machines, ({ object }) => deploymentOf(object)),
      members,
    ),
    watchInformer(clusters, ({ object, previous }) =>
      previous && previous.metadata.generation === object.metadata.generation
        ? []
        : membersOf(deployments, keyOf(object)),
    ),
  ];
}

function deploymentOf({
  metadata,
}: {
  metadata: { namespace?: string; labels?: Record<string, string> };
}): ObjectKey[] {
  const name = metadata.labels?.[labels.deploymentName];
  return name === undefined ? [] : [{ namespace: metadata.namespace ?? "", name }];
}
