export {
  HostedControlPlane,
  type HostedControlPlaneSpec,
  type HostedControlPlaneStatus,
} from "./hosted-control-plane.ts";
