import {
  annotations,
  type OpenStackCluster,
  type OpenStackClusterTemplate,
  type OpenStackMachine,
  type OpenStackMachineTemplate,
  type OpenStackServer,
} from "@causeway/api";
import type { AdmissionRequest, AdmissionRules } from "@causeway/kubernetes";
import { clusterRefusals } from "./cluster.ts";
import { machineRefusals, serverRefusals } from "./machine.ts";
import { clusterTemplateRefusals, machineTemplateRefusals } from "./template.ts";

const group = "infrastructure.cluster.x-k8s.io";

/** The rules of the provider's kinds. */
export function openStackRules(): AdmissionRules {
  return {
    version: "v1beta2",
    writes: {
      [group]: [
        "openstackclusters",
        "openstackclustertemplates",
        "openstackmachines",
        "openstackmachinetemplates",
        "openstackservers",
      ],
    },
    deletions: {},
    refusals: (request) => Promise.resolve(refusalsOf(request)),
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
    default:
      return [];
  }
}

/** A topology finds by a dry run what it would change in a template (contract of Cluster API); then all may change. */
function formerTemplate<T>({ object, previous, dryRun }: AdmissionRequest): T | undefined {
  const isCompared = dryRun && object?.metadata.annotations?.[annotations.topologyDryRun] !== undefined;
  return isCompared ? undefined : (previous as T | undefined);
}
