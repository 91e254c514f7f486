import type { Cluster, HostedControlPlane } from "@causeway/api";
import { age, columns } from "../terminal/columns.ts";

/** A cluster with its control plane, where that is hosted. */
export interface ListedCluster {
  readonly cluster: Cluster;
  readonly controlPlane: HostedControlPlane | undefined;
}

/** Clusters as a table for people. */
export function clusterTable(listed: readonly ListedCluster[], now: number): string {
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
    ];
  });
  return columns(["NAMESPACE", "NAME", "PHASE", "VERSION", "WORKERS READY", "ENDPOINT", "AGE"], rows);
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
