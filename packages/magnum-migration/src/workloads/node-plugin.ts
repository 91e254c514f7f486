import { DaemonSet, PersistentVolume, StorageClass, type KubernetesClient } from "@causeway/kubernetes";
import { isDriversNodePlugin, isFleets, kubeProxyLabel, nodePluginNames } from "@causeway/magnum-api";

/** The node part of the Cinder CSI driver in a cluster. */
export interface NodePlugin {
  /** The driver's is there: it needs files that new nodes do not have. */
  readonly isDrivers: boolean;
  /** The driver's runs on Heat's nodes only. */
  readonly isRestricted: boolean;
  /** The fleet's is there, for new nodes. */
  readonly hasOwn: boolean;
  /** The cluster has volumes of Cinder, which a node needs it for. */
  readonly hasVolumes: boolean;
  /** The cluster has StorageClasses of Cinder: it may get volumes at any time. */
  readonly hasClasses: boolean;
}

const namespace = "kube-system";
/** That of Magnum's driver. */
export const driversPlugin = { kind: "DaemonSet", name: nodePluginNames.first } as const;
/** That of the fleet next to it. */
export const ownPlugin = { kind: "DaemonSet", name: nodePluginNames.second } as const;
const DRIVER = "cinder.csi.openstack.org";
/** The driver in Kubernetes itself, whose volumes the CSI driver handles. */
const IN_TREE = "kubernetes.io/cinder";
/** Earlier versions kept the affinity of before in it. Users of the cluster can write it: it is not read. */
const AFFINITY = "migration.causeway.dev/affinity";
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";

interface Term {
  readonly matchExpressions?: readonly object[];
}

interface NodeAffinity {
  readonly [REQUIRED]?: { readonly nodeSelectorTerms?: readonly Term[] };
}

/** What only Heat's nodes match. */
const own = { key: kubeProxyLabel, operator: "DoesNotExist" } as const;
const isOwn = (expression: object): boolean =>
  "key" in expression && expression.key === own.key && "operator" in expression && expression.operator === own.operator;
const hasOwn = ({ matchExpressions = [] }: Term): boolean => matchExpressions.some(isOwn);

const affinityOf = ({ spec }: DaemonSet): { readonly nodeAffinity?: NodeAffinity } =>
  (spec.template.spec as { readonly affinity?: { readonly nodeAffinity?: NodeAffinity } } | undefined)?.affinity ?? {};

const termsOf = (plugin: DaemonSet): readonly Term[] =>
  affinityOf(plugin).nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];

/** Terms are alternatives. */
const isRestricted = (plugin: DaemonSet): boolean => termsOf(plugin).length > 0 && termsOf(plugin).every(hasOwn);

const find = (client: KubernetesClient, name: string, signal: AbortSignal) =>
  client.find(DaemonSet, { namespace, name }, { signal });

/** Whether the node part in the cluster is the driver's. */
export async function hasDriversPlugin(client: KubernetesClient, signal: AbortSignal): Promise<boolean> {
  return isDriversNodePlugin(await find(client, driversPlugin.name, signal));
}

/** Whether the driver's node part is kept on Heat's nodes. */
export async function isPluginRestricted(client: KubernetesClient, signal: AbortSignal): Promise<boolean> {
  const found = await find(client, driversPlugin.name, signal);
  return isDriversNodePlugin(found) && isRestricted(found);
}

/** What is there of it, and whether it is needed. */
export async function readNodePlugin(client: KubernetesClient, signal: AbortSignal): Promise<NodePlugin> {
  const found = await find(client, driversPlugin.name, signal);
  if (!isDriversNodePlugin(found))
    return { isDrivers: false, isRestricted: false, hasOwn: false, hasVolumes: false, hasClasses: false };
  const { items: volumes } = await client.list(PersistentVolume, { signal });
  const { items: classes } = await client.list(StorageClass, { signal });
  return {
    isDrivers: true,
    isRestricted: isRestricted(found),
    hasOwn: isFleets(await find(client, ownPlugin.name, signal)),
    hasVolumes: volumes.some(({ spec }) => spec?.cinder !== undefined || spec?.csi?.driver === DRIVER),
    hasClasses: classes.some(({ provisioner }) => provisioner === DRIVER || provisioner === IN_TREE),
  };
}

/** Keeps the driver's off the nodes that roll makes. */
export async function restrictPlugin(client: KubernetesClient, signal: AbortSignal): Promise<void> {
  const found = await find(client, driversPlugin.name, signal);
  if (found === undefined || isRestricted(found)) return;
  const before = termsOf(found);
  const terms = (before.length === 0 ? [{}] : before).map((term: Term) =>
    hasOwn(term) ? term : { ...term, matchExpressions: [...(term.matchExpressions ?? []), own] },
  );
  const required = { [REQUIRED]: { nodeSelectorTerms: terms } };
  const body = { spec: { template: { spec: { affinity: { nodeAffinity: required } } } } };
  await client.patch(DaemonSet, { namespace, name: driversPlugin.name }, { type: "merge", body }, { signal });
}

/** Undoes `restrictPlugin`: what else the affinity has remains. */
export async function releasePlugin(client: KubernetesClient, signal: AbortSignal): Promise<void> {
  const found = await find(client, driversPlugin.name, signal);
  if (found === undefined || !termsOf(found).some(hasOwn)) return;
  const terms = termsOf(found)
    .map(({ matchExpressions = [], ...term }) => {
      const rest = matchExpressions.filter((one) => !isOwn(one));
      return rest.length === 0 ? term : { ...term, matchExpressions: rest };
    })
    .filter((term) => Object.keys(term).length > 0);
  const affinity = affinityOf(found);
  const required = terms.length === 0 ? null : { nodeSelectorTerms: terms };
  const isNodesEmpty = required === null && Object.keys(affinity.nodeAffinity ?? {}).length === 1;
  const nodeAffinity = isNodesEmpty ? null : { [REQUIRED]: required };
  const isEmpty = nodeAffinity === null && Object.keys(affinity).length === 1;
  const body = {
    metadata: { annotations: { [AFFINITY]: null } },
    spec: { template: { spec: { affinity: isEmpty ? null : { nodeAffinity } } } },
  };
  await client.patch(DaemonSet, { namespace, name: driversPlugin.name }, { type: "merge", body }, { signal });
}
