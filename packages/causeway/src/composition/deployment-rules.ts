import type { OpenStackDeployment } from "@causeway/api";
import type { AdmissionRules } from "@causeway/kubernetes";

/**
 * The rules of OpenStackDeployments. The options of all releases are loaded with the first one that is written: hardly
 * any system has one.
 */
export function deploymentRules(): AdmissionRules {
  return {
    version: "v1alpha1",
    writes: { "openstack.causeway.dev": ["openstackdeployments"] },
    deletions: {},
    async refusals({ object }) {
      if (!object) return [];
      const { deploymentRefusals } = await import("@causeway/openstack-operator");
      return deploymentRefusals(object as OpenStackDeployment);
    },
  };
}
