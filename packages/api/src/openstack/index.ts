export {
  OpenStackDeployment,
  type OpenStackDeploymentSpec,
  type OpenStackDeploymentStatus,
} from "./openstack-deployment.ts";
export { OPENSTACK_RELEASES, type OpenStackRelease } from "./releases.ts";
export { OPENSTACK_SERVICES, type OpenStackService } from "./services.ts";
