import {
  annotations,
  type Cluster,
  type ClusterClass,
  type KubeadmControlPlane,
  type KubeadmControlPlaneTemplate,
  type Machine,
  type MachineDeployment,
  type MachineHealthCheck,
  type MachinePool,
  type MachineSet,
} from "@causeway/api";
import type { AdmissionRequest, AdmissionRules, KubeObject } from "@causeway/kubernetes";
import { classDeletionRefusals, classRefusals } from "./cluster-class.ts";
import { clusterRefusals } from "./cluster.ts";
import {
  controlPlaneRefusals,
  controlPlaneTemplateRefusals,
  hasExternalEtcd,
  replicaRefusals,
} from "./control-plane.ts";
import { clusterApiDefaults } from "./defaults.ts";
import { classKeyOf, type Related } from "./request.ts";
import { deploymentRefusals, healthCheckRefusals, machineRefusals, poolRefusals, setRefusals } from "./workers.ts";

/** The rules of Cluster API's own kinds. */
export function clusterApiRules(related: Related): AdmissionRules {
  return {
    version: "v1beta2",
    writes: {
      "cluster.x-k8s.io": [
        "clusters",
        "clusterclasses",
        "machines",
        "machinesets",
        "machinedeployments",
        "machinepools",
        "machinehealthchecks",
      ],
      "controlplane.cluster.x-k8s.io": [
        "kubeadmcontrolplanes",
        "kubeadmcontrolplanes/scale",
        "kubeadmcontrolplanetemplates",
      ],
    },
    deletions: { "cluster.x-k8s.io": ["clusterclasses"] },
    refusals: (request) => refusalsOf(request, related),
    defaults: clusterApiDefaults,
  };
}

/** Why a write is refused, a line for each problem; none: it is allowed. */
async function refusalsOf(request: AdmissionRequest, related: Related): Promise<string[]> {
  const { operation, kind, object, previous } = request;
  if (operation === "DELETE") {
    if (kind !== "ClusterClass" || !previous) return [];
    return classDeletionRefusals(await related.users(keyOf(previous)));
  }
  if (!object) return [];
  if (kind === "Cluster") return refusalsOfCluster(object as Cluster, previous as Cluster | undefined, related);
  if (kind === "ClusterClass") {
    const users = previous ? await related.users(keyOf(object)) : [];
    return classRefusals({
      clusterClass: object as ClusterClass,
      previous: previous as ClusterClass | undefined,
      users,
    });
  }
  if (kind === "Scale") {
    const { replicas } = (object as { spec?: { replicas?: number } }).spec ?? {};
    const control = await related.controlPlane(keyOf(object));
    return replicaRefusals(replicas, control !== undefined && hasExternalEtcd(control));
  }
  // A topology finds by a dry run what it would change in a template; another template takes its place.
  if (isTopologyDryRun(request)) return [];
  return refusalsAlone(kind, object, previous);
}

function isTopologyDryRun({ dryRun, object }: AdmissionRequest): boolean {
  return dryRun && object?.metadata.annotations?.[annotations.topologyDryRun] !== undefined;
}

async function refusalsOfCluster(cluster: Cluster, previous: Cluster | undefined, related: Related): Promise<string[]> {
  const find = async (one: Cluster | undefined): Promise<ClusterClass | undefined> => {
    const key = one && classKeyOf(one);
    return key && related.class(key);
  };
  const [clusterClass, previousClass] = await Promise.all([find(cluster), find(previous)]);
  return clusterRefusals({ cluster, previous, clusterClass, previousClass });
}

function refusalsAlone(kind: string, object: KubeObject, previous: KubeObject | undefined): string[] {
  switch (kind) {
    case "KubeadmControlPlane":
      return controlPlaneRefusals(object as KubeadmControlPlane, previous as KubeadmControlPlane | undefined);
    case "KubeadmControlPlaneTemplate":
      return controlPlaneTemplateRefusals(
        object as KubeadmControlPlaneTemplate,
        previous as KubeadmControlPlaneTemplate | undefined,
      );
    case "Machine":
      return machineRefusals(object as Machine, previous as Machine | undefined);
    case "MachineSet":
      return setRefusals(object as MachineSet, previous as MachineSet | undefined);
    case "MachineDeployment":
      return deploymentRefusals(object as MachineDeployment, previous as MachineDeployment | undefined);
    case "MachinePool":
      return poolRefusals(object as MachinePool, previous as MachinePool | undefined);
    case "MachineHealthCheck":
      return healthCheckRefusals(object as MachineHealthCheck);
    default:
      return [];
  }
}

function keyOf({ metadata }: KubeObject): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}
