import { runController, type ControllerOptions, type EventRecorder } from "@causeway/kubernetes";
import { attachDetachController } from "./attachdetach/controller.ts";
import { attributesClassController } from "./attributesclass/controller.ts";
import type { Context } from "./context.ts";
import { cronJobController } from "./cronjob/controller.ts";
import { daemonSetController } from "./daemonset/controller.ts";
import { deploymentController } from "./deployment/controller.ts";
import { disruptionController } from "./disruption/controller.ts";
import { endpointsController } from "./endpoints/controller.ts";
import { endpointSliceController } from "./endpointslice/controller.ts";
import { endpointSliceMirroringController } from "./endpointslicemirroring/controller.ts";
import { ephemeralVolumeController } from "./ephemeralvolume/controller.ts";
import { horizontalController } from "./horizontal/controller.ts";
import { jobController } from "./job/controller.ts";
import { nodeIpamController } from "./nodeipam/controller.ts";
import { nodeLifecycleController } from "./nodelifecycle/controller.ts";
import { persistentVolumeController } from "./persistentvolume/controller.ts";
import { podGcController } from "./podgc/controller.ts";
import { replicaSetController, replicationControllerController } from "./replicaset/controller.ts";
import { createScheduler } from "./scheduler/controller.ts";
import { statefulSetController } from "./statefulset/controller.ts";
import { ttlAfterFinishedController } from "./ttlafterfinished/controller.ts";
import { volumeClaimController } from "./volumeclaim/controller.ts";

/** The cluster, and which controllers run. */
export interface WorkloadControllersOptions {
  /** False: another program chooses the nodes of pods and manages nodes. Default true. */
  readonly nodes?: boolean;
  /** The recorder for the events of one controller. Default: that of the context. */
  readonly eventsOf?: (component: string) => EventRecorder;
}

/** The scheduler and controllers of one cluster, to run until a signal aborts. */
export interface WorkloadControllers {
  /** Runs every controller until `signal` aborts and what is under way has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * As client-go's rate limiter of a controller: ten thousand objects that cannot be reconciled, such as Deployments
 * beyond a quota, cost no more than ten attempts a second.
 */
const RETRIES = { perSecond: 10, burst: 100 };

type Create = (context: Context) => ControllerOptions;

/** One line for each controller, under the name that its events have in kube-controller-manager. */
const controllers: readonly (readonly [component: string, create: Create])[] = [
  ["deployment-controller", deploymentController],
  ["replicaset-controller", replicaSetController],
  ["replication-controller", replicationControllerController],
  ["statefulset-controller", statefulSetController],
  ["daemonset-controller", daemonSetController],
  ["controllermanager", disruptionController],
  ["persistentvolume-controller", volumeClaimController],
  ["persistentvolume-controller", persistentVolumeController],
  ["volumeattributesclass-protection-controller", attributesClassController],
  ["ephemeral_volume", ephemeralVolumeController],
  ["attachdetach-controller", attachDetachController],
  ["endpoint-slice-controller", endpointSliceController],
  ["endpoint-slice-mirroring-controller", endpointSliceMirroringController],
  ["endpoint-controller", endpointsController],
  ["job-controller", jobController],
  ["cronjob-controller", cronJobController],
  ["ttl-after-finished-controller", ttlAfterFinishedController],
  ["horizontal-pod-autoscaler", horizontalController],
];

/** Those that manage nodes; one line for each. */
const nodeControllers: typeof controllers = [
  ["node-controller", nodeLifecycleController],
  ["cidrAllocator", nodeIpamController],
  ["pod-garbage-collector", podGcController],
];

/**
 * The controllers that an embedded cluster needs to run what is deployed to it. The owner of the context runs its
 * informers.
 * @example
 * const controllers = createWorkloadControllers({ informers, events, clock: systemClock, log });
 * await Promise.all([informers.run(signal), controllers.run(signal)]);
 */
export function createWorkloadControllers(
  context: Context,
  options: WorkloadControllersOptions = {},
): WorkloadControllers {
  const { nodes = true, eventsOf = () => context.events } = options;
  const within = (component: string): Context => ({ ...context, events: eventsOf(component) });
  const made = [...controllers, ...(nodes ? nodeControllers : [])].map(([name, create]) => {
    return { ...create(within(name)), retries: RETRIES };
  });
  const scheduler = nodes ? createScheduler(within("default-scheduler")) : undefined;
  return {
    async run(signal) {
      await Promise.all([...made.map((controller) => runController(controller, signal)), scheduler?.run(signal)]);
    },
  };
}
