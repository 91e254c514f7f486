export type { Context } from "./context.ts";
export { createWorkloadControllers, type WorkloadControllers } from "./workload-controllers.ts";
