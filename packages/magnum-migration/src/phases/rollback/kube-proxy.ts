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
import { addonSetNameOf, kubeProxyLabel } from "@causeway/magnum-api";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../run/phase.ts";

type AnyType = ResourceType<KubeObject>;

const namespace = "kube-system";
const name = "kube-proxy";
/** In the order in which they are deleted. */
const objects = [
  { type: DaemonSet, namespace },
  { type: ClusterRoleBinding, namespace: "" },
  { type: ConfigMap, namespace },
  { type: ServiceAccount, namespace },
] as unknown as readonly { readonly type: AnyType; readonly namespace: string }[];

/** kube-proxy that phase roll has brought into the cluster. */
export interface BroughtProxy {
  /** Kinds of its objects that are there. */
  readonly objects: readonly string[];
  /** Nodes that have it. */
  readonly nodes: readonly string[];
}

/** By the mark of the cluster's AddonSet: what has another one, or none, is not the migration's. */
export async function readBroughtProxy(
  { source }: Pick<Tools, "source">,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<BroughtProxy> {
  const found = await Promise.all(
    objects.map((one) => source.find(one.type, { namespace: one.namespace, name }, { signal })),
  );
  const own = objects.filter(
    (_, index) => found[index]?.metadata.labels?.[addonSetLabel] === addonSetNameOf(record.name),
  );
  if (own.length === 0) return { objects: [], nodes: [] };
  const { items } = await source.list(Node, { labelSelector: kubeProxyLabel, signal });
  return { objects: own.map(({ type }) => type.kind), nodes: items.map(({ metadata }) => metadata.name) };
}

/** Deletes one object of it, by its kind. */
export async function deleteBroughtProxy(
  { source }: Pick<Tools, "source">,
  kind: string,
  signal: AbortSignal,
): Promise<void> {
  const one = objects.find(({ type }) => type.kind === kind);
  if (one) await source.delete(one.type, { namespace: one.namespace, name }, { signal });
}
