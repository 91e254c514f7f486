export { createEmbeddedRuntime, type EmbeddedRuntimeOptions } from "./embedded.ts";
export { createProcessRuntime, type ProcessRuntime, type ProcessRuntimeOptions } from "./process/process-runtime.ts";
export { installedVersions } from "./process/programs.ts";
export { createRuntimes, type RuntimesOptions } from "./runtimes.ts";
export { createHostedControlPlane, type HostedControlPlaneOptions } from "./controlplane/controller.ts";
export type {
  ControlPlaneLimits,
  ControlPlaneRuntime,
  ControlPlaneSpec,
  ControlPlaneState,
  RuntimeName,
} from "./runtime.ts";
