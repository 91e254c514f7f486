import type { MagnumCluster, MagnumClusterStatus } from "@causeway/api";
import { labelBounds } from "../cluster/scaling.ts";
import { labelDifferences } from "../wire/label-differences.ts";
import { instant, linksOf, type Call } from "../call/call.ts";
import { reportedHealthOf, updatedAtOf } from "./reported-health.ts";

/**
 * The state that clients see: what was accepted and not yet reconciled is in progress, whatever the status still says.
 */
export function shownStatus({ metadata, spec, status }: MagnumCluster): {
  status: MagnumClusterStatus["status"];
  reason: string | null;
} {
  if (metadata.deletionTimestamp !== undefined) {
    const isDeletion = status?.status.startsWith("DELETE") === true;
    return isDeletion
      ? { status: status.status, reason: status.reason ?? null }
      : { status: "DELETE_IN_PROGRESS", reason: null };
  }
  if (status === undefined) return { status: "CREATE_IN_PROGRESS", reason: null };
  const isCurrent = status.observedGeneration === metadata.generation;
  if (isCurrent) return { status: status.status, reason: status.reason ?? null };
  return {
    status: status.created === true ? "UPDATE_IN_PROGRESS" : "CREATE_IN_PROGRESS",
    reason: `the change of ${spec.name} was accepted`,
  };
}

/** The number of nodes of all groups: where an autoscaler decides, what it wants. */
export function nodeCountOf({ spec, status }: MagnumCluster): number {
  return spec.nodeGroups.reduce((sum, group) => {
    const scaled = status?.nodeGroups?.find(({ uuid }) => uuid === group.uuid)?.nodeCount;
    return sum + (labelBounds(group.labels ?? spec.labels ?? {}) ? (scaled ?? group.nodeCount) : group.nodeCount);
  }, 0);
}

/** Null for what there is not: every attribute is in a response. */
const orNull = <T>(value: T | undefined): T | null => value ?? null;

/** What a program outside found counts while our own probes have no verdict. */
function healthOf(cluster: MagnumCluster): {
  status: string | null;
  reason: Readonly<Record<string, string>>;
} {
  const { status } = cluster;
  const own = { status: orNull(status?.health), reason: status?.healthReason ?? {} };
  if (own.status !== null && own.status !== "UNKNOWN") return own;
  const reported = reportedHealthOf(cluster);
  return { status: reported?.status ?? own.status, reason: reported?.reason ?? own.reason };
}

/** A cluster as lists show it. */
export function clusterSummary(
  cluster: MagnumCluster,
  call: Pick<Call, "origin" | "minor">,
): Readonly<Record<string, unknown>> {
  const { metadata, spec } = cluster;
  return {
    uuid: spec.uuid,
    name: spec.name,
    cluster_template_id: spec.templateUUID,
    keypair: orNull(spec.keypair),
    node_count: nodeCountOf(cluster),
    master_count: spec.masterCount,
    docker_volume_size: orNull(spec.dockerVolumeSize),
    labels: spec.labels ?? {},
    master_flavor_id: orNull(spec.masterFlavorID),
    flavor_id: orNull(spec.flavorID),
    create_timeout: spec.createTimeout,
    links: linksOf(call, `clusters/${spec.uuid}`),
    ...(call.minor >= 13 ? { cluster_id: metadata.name } : { stack_id: metadata.name }),
    status: shownStatus(cluster).status,
    health_status: healthOf(cluster).status,
  };
}

/** All of a cluster. */
export function clusterDetail(
  cluster: MagnumCluster,
  call: Pick<Call, "origin" | "minor">,
): Readonly<Record<string, unknown>> {
  const { metadata, spec } = cluster;
  const shown = shownStatus(cluster);
  return {
    ...clusterSummary(cluster, call),
    status_reason: shown.reason,
    health_status_reason: healthOf(cluster).reason,
    discovery_url: orNull(spec.discoveryURL ?? discoveryOf(cluster)),
    ...observedOf(cluster),
    project_id: spec.projectID,
    user_id: spec.userID,
    fixed_network: orNull(spec.fixedNetwork),
    fixed_subnet: orNull(spec.fixedSubnet),
    floating_ip_enabled: spec.floatingIPEnabled,
    master_lb_enabled: spec.masterLBEnabled,
    ...labelDifferences(spec.template.labels ?? {}, spec.labels ?? {}),
    ...(shown.status.endsWith("FAILED") ? { faults: faultsOf(cluster, shown.reason) } : {}),
    created_at: instant(metadata.creationTimestamp),
    updated_at: instant(updatedAtOf(cluster)),
  };
}

/**
 * Where a node that joins finds the cluster: kubeadm's object of that purpose, which may be read without a credential.
 */
const discoveryOf = ({ status }: MagnumCluster): string | undefined =>
  status?.apiAddress && `${status.apiAddress}/api/v1/namespaces/kube-public/configmaps/cluster-info`;

function observedOf({ status }: MagnumCluster): Readonly<Record<string, unknown>> {
  return {
    api_address: orNull(status?.apiAddress),
    coe_version: orNull(status?.coeVersion),
    container_version: orNull(status?.containerVersion),
    node_addresses: (status?.nodeGroups ?? []).flatMap(({ addresses }) => addresses),
    master_addresses: status?.masterAddresses ?? [],
  };
}

/** Reasons by name of the node group that failed. */
function faultsOf({ spec, status }: MagnumCluster, reason: string | null): Readonly<Record<string, string>> {
  const failed = (status?.nodeGroups ?? []).filter((group) => group.status.endsWith("FAILED"));
  const named = failed.map((group) => [
    spec.nodeGroups.find(({ uuid }) => uuid === group.uuid)?.name ?? group.uuid,
    group.reason ?? "",
  ]);
  return named.length > 0 ? (Object.fromEntries(named) as Record<string, string>) : { "default-master": reason ?? "" };
}
