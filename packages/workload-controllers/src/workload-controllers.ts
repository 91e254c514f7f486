import { runController, type ControllerOptions } from "@causeway/kubernetes";
import type { Context } from "./context.ts";
import { deploymentController } from "./deployment/controller.ts";
import { endpointsController } from "./endpoints/controller.ts";
import { endpointSliceController } from "./endpointslice/controller.ts";
import { jobController } from "./job/controller.ts";
import { replicaSetController, replicationControllerController } from "./replicaset/controller.ts";

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
];

/** The controllers that an embedded cluster needs to run what is deployed to it. The owner of the context runs its informers. */
export function createWorkloadControllers(context: Context): WorkloadControllers {
  const made = controllers.map((create) => create(context));
  return {
    async run(signal) {
      await Promise.all(made.map((controller) => runController(controller, signal)));
    },
  };
}
