import type { MagnumCluster, MagnumNodeGroup } from "@causeway/api";
import { instant, linksOf, type Call } from "../call/call.ts";
import { labelDifferences } from "../wire/label-differences.ts";
import { shownStatus } from "./cluster-view.ts";

type Labels = Readonly<Record<string, string>>;

/** What the views of all groups have in common, default-master's too. */
interface Facts {
  readonly uuid: string;
  readonly name: string;
  readonly role: string;
  readonly isDefault: boolean;
  readonly nodeCount: number;
  readonly min: number;
  readonly max: number | null;
  readonly flavor: string | null;
  readonly image: string;
  readonly disk: number | null;
  readonly labels: Labels;
  readonly nodeLabels: Labels;
  readonly taints: readonly unknown[];
  readonly addresses: readonly string[];
  readonly version: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
}

/** A node group as clients see it: a summary in lists, all of it elsewhere. */
export function groupView(
  cluster: MagnumCluster,
  group: MagnumNodeGroup | "master",
  call: Pick<Call, "origin" | "minor">,
): { readonly summary: Readonly<Record<string, unknown>>; readonly detail: Readonly<Record<string, unknown>> } {
  const { spec, metadata } = cluster;
  const facts = group === "master" ? mastersOf(cluster) : workersOf(cluster, group);
  const summary = {
    uuid: facts.uuid,
    name: facts.name,
    image_id: facts.image,
    node_count: facts.nodeCount,
    role: facts.role,
    is_default: facts.isDefault,
    flavor_id: facts.flavor,
    stack_id: metadata.name,
    status: facts.status,
  };
  const detail = {
    ...summary,
    cluster_id: spec.uuid,
    project_id: spec.projectID,
    docker_volume_size: facts.disk,
    labels: facts.labels,
    links: linksOf(call, `clusters/${spec.uuid}/nodegroups/${facts.uuid}`),
    node_addresses: facts.addresses,
    min_node_count: facts.min,
    max_node_count: facts.max,
    status_reason: facts.reason,
    version: facts.version,
    merge_labels: false,
    ...labelDifferences(spec.labels ?? {}, facts.labels),
    ...(call.minor >= 14 ? { node_labels: facts.nodeLabels, node_taints: facts.taints } : {}),
    created_at: instant(facts.createdAt),
    updated_at: instant(facts.updatedAt),
  };
  return { summary, detail };
}

function mastersOf(cluster: MagnumCluster): Facts {
  const { spec, status, metadata } = cluster;
  return {
    uuid: spec.masterUUID,
    name: "default-master",
    role: "master",
    isDefault: true,
    nodeCount: spec.masterCount,
    min: 1,
    max: null,
    flavor: spec.masterFlavorID ?? null,
    image: spec.template.imageID,
    disk: null,
    labels: spec.labels ?? {},
    nodeLabels: {},
    taints: [],
    addresses: status?.masterAddresses ?? [],
    version: status?.coeVersion ?? null,
    ...mastersState(cluster),
    createdAt: metadata.creationTimestamp,
    updatedAt: spec.updatedAt,
  };
}

/** A cluster that is being migrated, or that an earlier release reconciled last, has no state of its masters. */
function mastersState(cluster: MagnumCluster): Pick<Facts, "status" | "reason"> {
  const { metadata, status } = cluster;
  const whole = shownStatus(cluster);
  if (metadata.deletionTimestamp !== undefined) return whole;
  const own = status?.masters;
  if (own === undefined) return status?.masterReady === true ? { ...whole, status: "CREATE_COMPLETE" } : whole;
  return status?.observedGeneration === metadata.generation
    ? { status: own.status, reason: own.reason ?? null }
    : whole;
}

function workersOf(cluster: MagnumCluster, group: MagnumNodeGroup): Facts {
  const own = cluster.status?.nodeGroups?.find(({ uuid }) => uuid === group.uuid);
  return {
    uuid: group.uuid,
    name: group.name,
    role: group.role,
    isDefault: group.isDefault,
    nodeCount: own?.nodeCount ?? group.nodeCount,
    min: group.minNodeCount,
    max: group.maxNodeCount ?? null,
    flavor: group.flavorID ?? null,
    image: group.imageID,
    disk: group.dockerVolumeSize ?? null,
    labels: group.labels ?? {},
    nodeLabels: group.nodeLabels ?? {},
    taints: group.nodeTaints ?? [],
    addresses: own?.addresses ?? [],
    version: own?.version ?? null,
    ...stateOf(cluster, group, own),
    createdAt: group.createdAt,
    updatedAt: group.updatedAt,
  };
}

/** A change that was not reconciled yet is in progress for every group; a deleted one is listed until it is gone. */
function stateOf(
  cluster: MagnumCluster,
  group: MagnumNodeGroup,
  own: { readonly status: string; readonly reason?: string } | undefined,
): Pick<Facts, "status" | "reason"> {
  const { metadata, status } = cluster;
  const reason = own?.reason ?? null;
  if (metadata.deletionTimestamp !== undefined) return { status: shownStatus(cluster).status, reason };
  const isCurrent = status?.observedGeneration === metadata.generation;
  if (group.deletedAt !== undefined)
    return isCurrent && own?.status.startsWith("DELETE") === true
      ? { status: own.status, reason }
      : { status: "DELETE_IN_PROGRESS", reason: null };
  if (own === undefined) return { status: "CREATE_IN_PROGRESS", reason };
  return { status: isCurrent ? own.status : shownStatus(cluster).status, reason };
}
