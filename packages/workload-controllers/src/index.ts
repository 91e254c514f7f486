export type { Context } from "./context.ts";
export {
  createWorkloadControllers,
  type WorkloadControllers,
  type WorkloadControllersOptions,
} from "./workload-controllers.ts";
