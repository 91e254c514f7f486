import { isNotFound, type KubernetesClient } from "@causeway/kubernetes";
import { messageOf } from "@causeway/foundation";
import type { Autoscaler } from "./autoscaler.ts";
import type { TargetScale } from "./observed.ts";

interface Discovery {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced?: boolean }[];
}

interface ScaleObject {
  readonly metadata?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}

/** Kinds that every cluster has, so that they are not requested. */
const KNOWN: Readonly<Record<string, string>> = {
  "apps/v1 Deployment": "deployments",
  "apps/v1 ReplicaSet": "replicasets",
  "apps/v1 StatefulSet": "statefulsets",
  "v1 ReplicationController": "replicationcontrollers",
};

/** The plural of a kind. Throws what the server says to a version that it does not have. */
export async function pluralOf(
  client: KubernetesClient,
  { apiVersion = "v1", kind }: { readonly apiVersion?: string; readonly kind: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const known = KNOWN[`${apiVersion} ${kind}`];
  if (known !== undefined) return known;
  const { resources = [] } = (await client.request("GET", basePath(apiVersion), { signal })) as Discovery;
  return resources.find((resource) => resource.kind === kind && !resource.name.includes("/"))?.name;
}

function basePath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** The scale of an autoscaler's target, or why there is none. */
export async function readScale(
  client: KubernetesClient,
  { metadata, spec }: Autoscaler,
  signal: AbortSignal,
): Promise<TargetScale | string> {
  const { apiVersion = "v1", kind, name } = spec.scaleTargetRef;
  try {
    const plural = await pluralOf(client, spec.scaleTargetRef, signal);
    if (plural === undefined)
      return `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
    const path = `${basePath(apiVersion)}/namespaces/${metadata.namespace ?? ""}/${plural}/${name}/scale`;
    const found = (await client.request("GET", path, { signal })) as ScaleObject;
    return {
      path,
      uid: found.metadata?.uid,
      resourceVersion: found.metadata?.resourceVersion,
      replicas: found.spec?.replicas ?? 0,
      statusReplicas: found.status?.replicas ?? 0,
      selector: found.status?.selector ?? "",
    };
  } catch (error) {
    if (signal.aborted) throw error;
    if (isNotFound(error) && !KNOWN[`${apiVersion} ${kind}`]) {
      return `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}: ${messageOf(error)}`;
    }
    return messageOf(error);
  }
}
