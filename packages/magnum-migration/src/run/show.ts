import { MagnumCluster, MagnumClusterTemplate, type MagnumClusterSpec } from "@causeway/api";
import { isAlreadyExists, type KubernetesClient, type KubeObject, type ResourceType } from "@causeway/kubernetes";
import {
  heatAnnotation,
  magnumLabels,
  migratingAnnotation,
  namespaceOf,
  objectNameOf,
  readMigrating,
  renderHeat,
  type HeatReport,
} from "@causeway/magnum-api";
import type { Inventory } from "../inventory/model.ts";
import type { ClusterFacts } from "../inventory/read.ts";
import { deleteRecord, ensureNamespace, findRecord } from "../record/record.ts";
import { magnumClusterOf, magnumTemplateOf } from "../record/rows.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What the Magnum of the Heat driver says of the cluster. */
export function heatReport({ cluster, groups }: ClusterFacts, inventory: Inventory, at: string): HeatReport {
  const blocking = inventory.findings.find(({ blocks }) => blocks);
  return {
    at,
    status: cluster.status,
    reason: text(cluster["status_reason"]),
    health: text(cluster["health_status"]),
    apiAddress: inventory.apiAddress,
    version: inventory.version,
    masters: inventory.masters.map(({ address }) => address),
    groups: inventory.groups.map(({ uuid, machines }) => ({
      uuid,
      status: text(groups.find((group) => group["uuid"] === uuid)?.["status"]) || cluster.status,
      addresses: machines.map(({ address }) => address),
    })),
    ...(blocking === undefined ? {} : { blocked: `${blocking.message} (${blocking.code})` }),
  };
}

/**
 * Shows a cluster of Heat's, and its template, in the Magnum API, read-only: again for each discovery, until a phase
 * that changes something has begun. A cluster of another orchestrator is not shown.
 */
export async function showCluster(
  client: KubernetesClient,
  { inventory, report }: { readonly inventory: Inventory; readonly report: HeatReport },
  signal: AbortSignal,
): Promise<void> {
  if (inventory.template["coe"] !== "kubernetes") return;
  const template = magnumTemplateOf(inventory);
  const known = await client.list(MagnumClusterTemplate, {
    labelSelector: `${magnumLabels.uuid}=${inventory.templateId}`,
    signal,
  });
  if (known.items.length === 0) await createIn(client, MagnumClusterTemplate, template, signal);
  const [namespace, name] = [namespaceOf(inventory.projectId), objectNameOf(inventory.name, inventory.uuid)];
  const row = magnumClusterOf({ namespace, name, inventory }, "discover", report.at);
  const annotations = { ...row.metadata.annotations, [heatAnnotation]: renderHeat(report) };
  const found = await client.find(MagnumCluster, { namespace, name }, { signal });
  if (found === undefined) {
    await createIn(client, MagnumCluster, { ...row, metadata: { ...row.metadata, annotations } }, signal);
    return;
  }
  if (readMigrating(found)?.phase !== "discover") return;
  const metadata = { ...found.metadata, annotations: { ...found.metadata.annotations, ...annotations } };
  await client.update(MagnumCluster, { ...found, metadata, spec: keptTimes(row.spec, found.spec) }, { signal });
}

/** When a node group was first seen remains, so that a discovery without news changes nothing. */
function keptTimes(spec: MagnumClusterSpec, before: MagnumClusterSpec): MagnumClusterSpec {
  const since = (uuid: string, at: string) => before.nodeGroups.find((group) => group.uuid === uuid)?.createdAt ?? at;
  return {
    ...spec,
    nodeGroups: spec.nodeGroups.map((group) => ({ ...group, createdAt: since(group.uuid, group.createdAt) })),
  };
}

/**
 * A cluster that its Magnum does not have any more is not shown any longer, unless a phase of its migration has begun.
 *
 * @returns Whether one was shown
 */
export async function forgetShown(client: KubernetesClient, ident: string, signal: AbortSignal): Promise<boolean> {
  const { items } = await client.list(MagnumCluster, { signal });
  const shown = items.filter(
    (one) =>
      one.metadata.annotations?.[migratingAnnotation] !== undefined &&
      readMigrating(one)?.phase === "discover" &&
      (one.spec.uuid === ident || one.spec.name === ident),
  );
  const [only] = shown;
  if (only === undefined || shown.length > 1) return false;
  const { namespace = "", name, uid = "" } = only.metadata;
  const record = await findRecord(client, only.spec.uuid, signal);
  if (record !== undefined && record.begun !== "discover") return false;
  await client.delete(MagnumCluster, { namespace, name }, { preconditions: { uid }, signal });
  if (record !== undefined) await deleteRecord(client, record, signal);
  return true;
}

/** Written by another discovery meanwhile: the same. */
async function createIn<T extends KubeObject>(
  client: KubernetesClient,
  type: ResourceType<T>,
  object: T,
  signal: AbortSignal,
): Promise<void> {
  await ensureNamespace(client, { namespace: object.metadata.namespace ?? "" }, signal);
  try {
    await client.create(type, object, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
