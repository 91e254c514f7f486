export {
  HostedControlPlane,
  type HostedControlPlaneSpec,
  type HostedControlPlaneStatus,
} from "./hosted-control-plane.ts";
export { RUN_KUBERNETES, SERVED_KUBERNETES } from "./served.ts";
export {
  KubeadmControlPlane,
  type KubeadmControlPlaneSpec,
  type KubeadmControlPlaneStatus,
} from "./kubeadm-control-plane.ts";
export { KubeadmControlPlaneTemplate, type KubeadmControlPlaneTemplateSpec } from "./kubeadm-control-plane-template.ts";
export { HostedControlPlaneTemplate } from "./hosted-control-plane-template.ts";
export { type FlagValue } from "./flag-values.ts";
export { programFlags, type FlaggedProgram, type FlagSettings } from "./program-flags.ts";
