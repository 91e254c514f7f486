export { createEmbeddedRuntime, type EmbeddedRuntimeOptions } from "./embedded.ts";
export { createHostedControlPlane, type HostedControlPlaneOptions } from "./controlplane/controller.ts";
export type { ControlPlaneRuntime, ControlPlaneSpec, ControlPlaneState } from "./runtime.ts";
