import { runController, type ControllerOptions } from "@causeway/kubernetes";
import { clusterController } from "./cluster/controller.ts";
import { clusterClassController } from "./clusterclass/controller.ts";
import { clusterResourceSetController } from "./clusterresourceset/controller.ts";
import { createContext, providerKinds, runs, type ClusterApiOptions, type Context } from "./objects/context.ts";
import { csrApprover } from "./csr-approver/controller.ts";
import { extensionConfigController } from "./extensionconfig/controller.ts";
import { kubeadmConfigController } from "./kubeadm-config/controller.ts";
import { controlPlaneController } from "./kubeadmcontrolplane/controller.ts";
import { createForwardedAccess } from "./kubeadmcontrolplane/forwarded-access.ts";
import { machineController } from "./machine/controller.ts";
import { machineDeploymentController } from "./machinedeployment/controller.ts";
import { healthCheckController } from "./machinehealthcheck/controller.ts";
import { machinePoolController } from "./machinepool/controller.ts";
import { machineSetController } from "./machineset/controller.ts";
import { topologyController } from "./topology/controller.ts";

export type { ClusterApiOptions } from "./objects/context.ts";

/** The controllers of Cluster API, to run until a signal aborts. */
export interface ClusterApi {
  /** Runs every controller until `signal` aborts and what is under way has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The controllers of Cluster API: Cluster, Machine, MachineSet, MachineDeployment, MachinePool, ClusterResourceSet,
 * ClusterClass and topologies, the kubeadm bootstrap, KubeadmControlPlane, and the approval of kubelets' certificates.
 * The caller that creates informers and remote clusters runs them.
 * @example
 * const clusterApi = createClusterApi({ informers, remoteClusters, kinds, events, clock: systemClock, log });
 * await Promise.all([informers.run(signal), remoteClusters.run(signal), clusterApi.run(signal)]);
 */
export function createClusterApi(options: ClusterApiOptions): ClusterApi {
  const { clock, informers, shards } = options;
  const access = options.access ?? createForwardedAccess({ client: informers.client, clock });
  const context = createContext({ ...options, access });
  const controllers: readonly ControllerOptions[] = [
    ...(runs(context, "core") ? coreControllers(context) : []),
    ...(runs(context, "bootstrap") ? [kubeadmConfigController(context), csrApprover(context)] : []),
    ...(runs(context, "control-plane") ? [controlPlaneController(context)] : []),
  ];
  const ready = (signal: AbortSignal) => whenSynced(context, signal);
  return {
    async run(signal) {
      const stop = shards?.beforeWork((life) => informers.relist(AbortSignal.any([signal, life])));
      await Promise.all(
        controllers.map((controller) => runController({ ...controller, ready, shards }, signal)),
      ).finally(stop);
    },
  };
}

function coreControllers(context: Context): ControllerOptions[] {
  return [
    clusterController(context),
    machineDeploymentController(context),
    machineSetController(context),
    machineController(context),
    healthCheckController(context),
    machinePoolController(context),
    clusterResourceSetController(context),
    clusterClassController(context),
    topologyController(context),
    extensionConfigController(context),
  ];
}

/** Nothing is decided before everything it is decided on has been listed. */
async function whenSynced(context: Context, signal: AbortSignal): Promise<void> {
  const { clusters, machines, sets, deployments, pools, healthChecks, drainRules, secrets, informers } = context;
  const providers = providerKinds(context).map((kind) => informers.for(kind));
  const own = [
    ...(runs(context, "bootstrap") ? [context.configs] : []),
    ...(runs(context, "control-plane") ? [context.controlPlanes] : []),
  ];
  const addons = runs(context, "core")
    ? [context.resourceSets, context.bindings, context.classes, context.extensionConfigs]
    : [];
  const workers = [machines, sets, deployments, pools, healthChecks, drainRules];
  const all = [clusters, ...workers, secrets, ...addons, ...own, ...providers];
  await Promise.all(all.map((informer) => informer.whenSynced(signal)));
}
