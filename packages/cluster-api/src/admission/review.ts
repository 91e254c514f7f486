import type {
  Cluster,
  ClusterClass,
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
  MachineDeployment,
  MachineHealthCheck,
  MachinePool,
} from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { classDeletionRefusals, classRefusals } from "./cluster-class.ts";
import { clusterRefusals } from "./cluster.ts";
import { controlPlaneRefusals, controlPlaneTemplateRefusals, replicaRefusals } from "./control-plane.ts";
import { classKeyOf, type AdmissionRequest, type Related } from "./request.ts";
import { deploymentRefusals, healthCheckRefusals, poolRefusals } from "./workers.ts";

type Json = Record<string, unknown>;

/** Why a write is refused, a line for each problem; none: it is allowed. */
export async function refusalsOf(request: AdmissionRequest, related: Related): Promise<string[]> {
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
  return refusalsAlone(kind, object, previous);
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
    case "Scale":
      // External etcd is refused by the controller, so a control plane that can be scaled has stacked etcd.
      return replicaRefusals((object as { spec?: { replicas?: number } }).spec?.replicas, false);
    case "MachineDeployment":
      return deploymentRefusals(object as MachineDeployment);
    case "MachinePool":
      return poolRefusals(object as MachinePool);
    case "MachineHealthCheck":
      return healthCheckRefusals(object as MachineHealthCheck);
    default:
      return [];
  }
}

/**
 * The response to an AdmissionReview (admission.k8s.io/v1).
 * @throws Error if the body is no AdmissionReview
 */
export async function reviewAdmission(body: unknown, related: Related): Promise<Json> {
  const request = isJson(body) && body["kind"] === "AdmissionReview" ? body["request"] : undefined;
  if (!isJson(request)) throw new Error("the body is no AdmissionReview of admission.k8s.io/v1");
  const { uid, operation, kind, object, oldObject } = request;
  const problems = await refusalsOf(
    {
      operation: operation as AdmissionRequest["operation"],
      kind: isJson(kind) ? String(kind["kind"]) : "",
      object: isJson(object) ? (object as unknown as KubeObject) : undefined,
      previous: isJson(oldObject) ? (oldObject as unknown as KubeObject) : undefined,
    },
    related,
  );
  const refusal = {
    allowed: false,
    status: {
      status: "Failure",
      reason: operation === "DELETE" ? "Forbidden" : "Invalid",
      code: operation === "DELETE" ? 403 : 422,
      message: problems.join("; "),
    },
  };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid, ...(problems.length === 0 ? { allowed: true } : refusal) },
  };
}

function keyOf({ metadata }: KubeObject): { namespace: string; name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
