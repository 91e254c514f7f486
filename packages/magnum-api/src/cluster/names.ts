import type { MagnumCluster } from "@causeway/api";

/** Labels of everything that belongs to a cluster of the Magnum API. */
export const magnumLabels = {
  uuid: "magnum.causeway.dev/uuid",
  project: "magnum.causeway.dev/project",
  nodeGroup: "magnum.causeway.dev/nodegroup",
} as const;

/**
 * On nodes that Causeway makes of a cluster whose other nodes have kube-proxy by Magnum's Heat driver, with "true": on
 * them kube-proxy is Causeway's.
 */
export const kubeProxyLabel = "magnum.causeway.dev/kube-proxy";

/** On each object that the controller applies: a digest of what it applied. */
export const appliedAnnotation = "magnum.causeway.dev/applied";

/**
 * While a cluster has it, it is migrated from Heat: nothing is applied, and changes are refused. Its value is the
 * phase, its state and a time.
 */
export const migratingAnnotation = "magnum.causeway.dev/migrating";

/**
 * While a row has it, its create has not been responded to: no client sees it, nothing is made of it, and it is deleted
 * when the process that creates it does not finish.
 */
export const pendingAnnotation = "magnum.causeway.dev/pending";

/** Whether the request that creates this cluster is still being worked on; see `pendingAnnotation`. */
export const isPending = ({ metadata }: Pick<MagnumCluster, "metadata">): boolean =>
  metadata.annotations?.[pendingAnnotation] !== undefined;

/**
 * On a row that is being deleted, when its credential was renewed meanwhile: the id of the new one. The deletion does
 * not end before it has read the row as it is then.
 */
export const renewedAnnotation = "magnum.causeway.dev/renewed-credential";

/**
 * The health that a program outside reported last, as JSON. In the spec it would be a change of the cluster, which is
 * in progress until all its nodes are ready.
 */
export const reportedHealthAnnotation = "magnum.causeway.dev/reported-health";

/** Keeps a MagnumCluster until its Cluster, its machines and its credentials are gone. */
export const finalizer = "magnum.causeway.dev/cluster";

/**
 * The value of the annotation by which a Machine goes first, where this controller wrote it. An autoscaler or an
 * operator writes another one, which remains.
 */
export const ownMark = "magnum.causeway.dev/nodes-to-remove";

/** The namespace of a project's clusters and templates. */
export function namespaceOf(projectId: string): string {
  const safe = projectId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return `magnum-${safe.slice(0, 50) || "none"}`;
}

/**
 * The name of a cluster's objects: what its name has of letters and digits, and the end of its uuid. The beginning is
 * the time, which others of the same moment share.
 */
export function objectNameOf(name: string, uuid: string): string {
  const safe = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 20)
    .replaceAll(/^[^a-z]+|-+$/g, "");
  return `${safe || "cluster"}-${uuid.replaceAll("-", "").slice(-10)}`;
}

/** The name of a node group's MachineDeployment. */
export function poolNameOf(cluster: string, group: { readonly uuid: string; readonly isDefault: boolean }): string {
  return group.isDefault ? `${cluster}-default` : `${cluster}-${group.uuid.slice(-8)}`;
}

/** The entry of the cluster's clouds.yaml. */
export const CLOUD = "magnum";

/** The key of a MagnumCluster, which its Cluster and HostedControlPlane have as well: one name for all. */
export const keyOfCluster = ({ metadata }: MagnumCluster): { namespace: string; name: string } => ({
  namespace: metadata.namespace ?? "",
  name: metadata.name,
});
