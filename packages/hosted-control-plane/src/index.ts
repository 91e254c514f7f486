export { createEmbeddedRuntime, type EmbeddedRuntimeOptions } from "./embedded.ts";
export { createHostedControlPlane, type HostedControlPlaneOptions } from "./controlplane/controller.ts";
export type { ControlPlaneLimits, ControlPlaneRuntime, ControlPlaneSpec, ControlPlaneState } from "./runtime.ts";
