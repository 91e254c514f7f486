import { runController, type ControllerOptions } from "@causeway/kubernetes";
import type { Context } from "./context.ts";
import { cronJobController } from "./cronjob/controller.ts";
import { deploymentController } from "./deployment/controller.ts";
import { endpointsController } from "./endpoints/controller.ts";
import { endpointSliceController } from "./endpointslice/controller.ts";
import { jobController } from "./job/controller.ts";
import { nodeLifecycleController } from "./nodelifecycle/controller.ts";
import { replicaSetController, replicationControllerController } from "./replicaset/controller.ts";
import { createScheduler } from "./scheduler/controller.ts";
import { ttlAfterFinishedController } from "./ttlafterfinished/controller.ts";

export interface WorkloadControllersOptions {
  /** False: another program chooses the nodes of pods and looks after nodes. Default true. */
  readonly nodes?: boolean;
}

export interface WorkloadControllers {
  /** Runs every controller until `signal` aborts and what is under way has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** One line for each controller. */
const controllers: readonly ((context: Context) => ControllerOptions)[] = [
  deploymentController,
  replicaSetController,
  replicationControllerController,
  endpointSliceController,
  endpointsController,
  jobController,
  cronJobController,
  ttlAfterFinishedController,
];

/** Those that look after nodes; one line for each. */
const nodeControllers: readonly ((context: Context) => ControllerOptions)[] = [nodeLifecycleController];

/** The controllers that an embedded cluster needs to run what is deployed to it. The owner of the context runs its informers. */
export function createWorkloadControllers(
  context: Context,
  options: WorkloadControllersOptions = {},
): WorkloadControllers {
  const { nodes = true } = options;
  const made = [...controllers, ...(nodes ? nodeControllers : [])].map((create) => create(context));
  const scheduler = nodes ? createScheduler(context) : undefined;
  return {
    async run(signal) {
      await Promise.all([...made.map((controller) => runController(controller, signal)), scheduler?.run(signal)]);
    },
  };
}
