import type { Cluster, HostedControlPlane } from "@causeway/api";
import { age, columns } from "../terminal/columns.ts";

/** A cluster with its control plane, where that is hosted. */
export interface ListedCluster {
  readonly cluster: Cluster;
  readonly controlPlane: HostedControlPlane | undefined;
}

/** Names as kubectl takes them. */
export function clusterNames(clusters: readonly Cluster[]): string {
  return clusters.map(({ metadata }) => `cluster/${metadata.name}\n`).join("");
}

/** Clusters as a table for people; wide: with what their control plane and infrastructure are. */
export function clusterTable(
  listed: readonly ListedCluster[],
  { now, wide }: { readonly now: number; readonly wide: boolean },
): string {
  if (listed.length === 0) return "There is no cluster.\n";
  const rows = listed.map(({ cluster, controlPlane }) => {
    const { metadata, spec, status } = cluster;
    const { host, port } = spec.controlPlaneEndpoint ?? {};
    const { workers } = status ?? {};
    return [
      metadata.namespace ?? "",
      metadata.name,
      metadata.deletionTimestamp === undefined ? (status?.phase ?? "Pending") : "Deleting",
      versionOf(cluster, controlPlane),
      `${workers?.readyReplicas ?? 0}/${workers?.desiredReplicas ?? 0}`,
      host ? `${host}:${port ?? 6443}` : "<none>",
      age(metadata.creationTimestamp, now),
      ...(wide ? [referenceOf(spec.controlPlaneRef), referenceOf(spec.infrastructureRef)] : []),
    ];
  });
  const header = ["NAMESPACE", "NAME", "PHASE", "VERSION", "WORKERS READY", "ENDPOINT", "AGE"];
  return columns([...header, ...(wide ? ["CONTROL PLANE", "INFRASTRUCTURE"] : [])], rows);
}

function referenceOf(reference: { readonly kind: string; readonly name: string } | undefined): string {
  return reference === undefined ? "<none>" : `${reference.kind}/${reference.name}`;
}

function versionOf({ spec, status }: Cluster, controlPlane: HostedControlPlane | undefined): string {
  return (
    controlPlane?.status?.version ??
    controlPlane?.spec.version ??
    spec.topology?.version ??
    status?.controlPlane?.versions?.[0]?.version ??
    "<none>"
  );
}
