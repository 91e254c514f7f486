import { addonSetLabel } from "@causeway/api";
import {
  ClusterRoleBinding,
  ConfigMap,
  DaemonSet,
  Node,
  ServiceAccount,
  type KubeObject,
  type ResourceType,
} from "@causeway/kubernetes";
import { addonSetNameOf, isFleets, kubeProxyLabel } from "@causeway/magnum-api";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../phase.ts";
import { ownPlugin, isPluginRestricted } from "../../workloads/node-plugin.ts";

type AnyType = ResourceType<KubeObject>;

const namespace = "kube-system";
const name = "kube-proxy";
/** In the order in which they are deleted. */
const objects = [
  { type: DaemonSet, namespace, name },
  { type: ClusterRoleBinding, namespace: "", name },
  { type: ConfigMap, namespace, name },
  { type: ServiceAccount, namespace, name },
  { type: DaemonSet, namespace, name: ownPlugin.name },
] as unknown as readonly { readonly type: AnyType; readonly namespace: string; readonly name: string }[];

/** kube-proxy that phase roll has brought into the cluster, and the node part of volumes next to the driver's. */
export interface BroughtProxy {
  /** "KIND NAME" of its objects that are there. */
  readonly objects: readonly string[];
  /** The driver's node part of volumes is kept off new nodes. */
  readonly isRestricted: boolean;
  /** Nodes that have it. */
  readonly nodes: readonly string[];
}

/**
 * By the labels of the cluster's AddonSet and of the fleet: what has others, or none, is not the migration's.
 */
export async function readBroughtProxy(
  { source }: Pick<Tools, "source">,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<BroughtProxy> {
  const found = await Promise.all(
    objects.map((one) => source.find(one.type, { namespace: one.namespace, name: one.name }, { signal })),
  );
  const own = objects.filter((one, index) =>
    one.name === ownPlugin.name
      ? isFleets(found[index])
      : found[index]?.metadata.labels?.[addonSetLabel] === addonSetNameOf(record.name),
  );
  const isRestricted = await isPluginRestricted(source, signal);
  if (own.length === 0 && !isRestricted) return { objects: [], isRestricted, nodes: [] };
  const { items } = await source.list(Node, { labelSelector: kubeProxyLabel, signal });
  return {
    objects: own.map((one) => `${one.type.kind} ${one.name}`),
    isRestricted,
    nodes: items.map(({ metadata }) => metadata.name),
  };
}

/** Deletes one of `objects`. */
export async function deleteBroughtProxy(
  { source }: Pick<Tools, "source">,
  object: string,
  signal: AbortSignal,
): Promise<void> {
  const one = objects.find(({ type, name: of }) => `${type.kind} ${of}` === object);
  if (one) await source.delete(one.type, { namespace: one.namespace, name: one.name }, { signal });
}
