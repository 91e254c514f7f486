import { KubeadmControlPlane, type KubeadmControlPlaneStatus } from "@causeway/api";
import {
  runPipeline,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { objectIndex } from "../contract/kind-table.ts";
import { by, onConnectionChange, providerKinds, type Context } from "../objects/context.ts";
import { groupsByCluster } from "../objects/groups.ts";
import { failure, performAndReport, publish } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather } from "./gather.ts";
import { perform } from "./perform.ts";
import { controlPlaneStepEvents, plan } from "./plan.ts";
import type { ControlPlaneStep } from "./steps.ts";

/** Reconciles KubeadmControlPlanes: machines, etcd's members, rollouts and remediation. */
export function controlPlaneController(context: Context): ControllerOptions {
  const { clock, log } = context;
  const name = "kubeadmcontrolplane";
  const pipeline: Pipeline<Observed, ControlPlaneStep, KubeadmControlPlaneStatus> = {
    gather: (key, signal) => gather(context, key, signal),
    plan,
    perform: (step, observed, signal) =>
      performAndReport(
        context,
        { object: observed.control, events: controlPlaneStepEvents(step) },
        perform(context, { step, observed }, signal),
      ),
    publish: ({ control }, status, events, signal) =>
      publish(context, KubeadmControlPlane, { object: control, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  const reconcile = runPipeline(pipeline, { clock, log, name, metrics: context.metrics });
  // Pods and members of etcd are read with each reconcile. There is one control plane in a cluster.
  return { name, reconcile, sources: sources(context), groups: groupsByCluster((key) => key), clock, log };
}

function sources(context: Context): Source[] {
  const { clusters, machines, sets, deployments, controlPlanes, informers, remoteClusters } = context;
  const ofCluster = (namespace: string | undefined, cluster: string): ObjectKey[] => {
    const reference = clusters.get({ namespace: namespace ?? "", name: cluster })?.spec.controlPlaneRef;
    return reference?.kind === KubeadmControlPlane.kind ? [{ namespace: namespace ?? "", name: reference.name }] : [];
  };
  return [
    watchInformer(controlPlanes),
    watchOwner(machines, KubeadmControlPlane.kind),
    watchInformer(clusters, ({ object }) => ofCluster(object.metadata.namespace, object.metadata.name)),
    // Workers hold up the deletion of a control plane: the last of them to go lets it continue.
    watchInformer(sets, ({ object, type }) =>
      type === "deleted" ? ofCluster(object.metadata.namespace, object.spec.clusterName) : [],
    ),
    watchInformer(deployments, ({ object, type }) =>
      type === "deleted" ? ofCluster(object.metadata.namespace, object.spec.clusterName) : [],
    ),
    ...providerKinds(context)
      .filter(({ kind }) => kind !== KubeadmControlPlane.kind)
      .map((kind) =>
        watchInformer(informers.for(kind), ({ object }) =>
          machines.byIndex(by.reference, objectIndex(object)).flatMap(({ metadata }) => {
            const owner = metadata.ownerReferences?.find((one) => one.controller);
            return owner?.kind === KubeadmControlPlane.kind
              ? [{ namespace: metadata.namespace ?? "", name: owner.name }]
              : [];
          }),
        ),
      ),
    (enqueue) => onConnectionChange(remoteClusters, ({ key }) => ofCluster(key.namespace, key.name).forEach(enqueue)),
  ];
}
