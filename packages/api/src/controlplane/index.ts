export {
  HostedControlPlane,
  type HostedControlPlaneSpec,
  type HostedControlPlaneStatus,
} from "./hosted-control-plane.ts";
export { SERVED_KUBERNETES } from "./served.ts";
