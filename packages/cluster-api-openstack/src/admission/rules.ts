import {
  annotations,
  type OpenStackCluster,
  type OpenStackClusterIdentity,
  type OpenStackClusterTemplate,
  type OpenStackFloatingIPPool,
  type OpenStackMachine,
  type OpenStackMachineTemplate,
  type OpenStackServer,
} from "@causeway/api";
import type { AdmissionRequest, AdmissionRules } from "@causeway/kubernetes";
import { clusterRefusals } from "./cluster.ts";
import { floatingIpPoolRefusals } from "./floating-ip-pool.ts";
import { identityDeletionRefusals, identityRefusals, type IdentityUsers } from "./identity.ts";
import { machineRefusals, serverRefusals } from "./machine.ts";
import { clusterTemplateRefusals, machineTemplateRefusals } from "./template.ts";

const group = "infrastructure.cluster.x-k8s.io";

const identities = "openstackclusteridentities";
const alpha = { version: "v1alpha1", namespaced: true } as const;

/**
 * The rules of the provider's kinds. `usersOf`: without it, an OpenStackClusterIdentity in use can be deleted.
 */
export function openStackRules(usersOf: IdentityUsers = () => Promise.resolve([])): AdmissionRules {
  return {
    version: "v1beta2",
    apart: {
      openstackservers: alpha,
      openstackfloatingippools: alpha,
      [identities]: { ...alpha, namespaced: false },
    },
    writes: {
      [group]: [
        "openstackclusters",
        "openstackclustertemplates",
        "openstackmachines",
        "openstackmachinetemplates",
        "openstackservers",
        "openstackfloatingippools",
        identities,
      ],
    },
    deletions: { [group]: [identities] },
    refusals: async (request) => {
      if (request.operation !== "DELETE") return refusalsOf(request);
      return identityDeletionRefusals(await usersOf(request.previous?.metadata.name ?? ""));
    },
  };
}

function refusalsOf(request: AdmissionRequest): string[] {
  const { kind, object, previous } = request;
  if (!object) return [];
  switch (kind) {
    case "OpenStackCluster":
      return clusterRefusals(object as OpenStackCluster, previous as OpenStackCluster | undefined);
    case "OpenStackMachine":
      return machineRefusals(object as OpenStackMachine, previous as OpenStackMachine | undefined);
    case "OpenStackServer":
      return serverRefusals(object as OpenStackServer, previous as OpenStackServer | undefined);
    case "OpenStackClusterTemplate":
      return clusterTemplateRefusals(object as OpenStackClusterTemplate, formerTemplate(request));
    case "OpenStackMachineTemplate":
      return machineTemplateRefusals(object as OpenStackMachineTemplate, formerTemplate(request));
    case "OpenStackFloatingIPPool":
      return floatingIpPoolRefusals(object as OpenStackFloatingIPPool, previous as OpenStackFloatingIPPool | undefined);
    case "OpenStackClusterIdentity":
      return identityRefusals(object as OpenStackClusterIdentity);
    default:
      return [];
  }
}

/** A topology finds by a dry run what it would change in a template (contract of Cluster API); then all may change. */
function formerTemplate<T>({ object, previous, dryRun }: AdmissionRequest): T | undefined {
  const isCompared = dryRun && object?.metadata.annotations?.[annotations.topologyDryRun] !== undefined;
  return isCompared ? undefined : (previous as T | undefined);
}
