import { addonSetLabel } from "@causeway/api";
import { DaemonSet, PersistentVolume, type KubernetesClient } from "@causeway/kubernetes";
import { kubeProxyLabel } from "@causeway/magnum-api";

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
}

const namespace = "kube-system";
/** That of Magnum's driver. */
export const driversPlugin = { kind: "DaemonSet", name: "csi-cinder-nodeplugin" } as const;
/** That of the fleet next to it. */
export const ownPlugin = { kind: "DaemonSet", name: "causeway-csi-cinder-nodeplugin" } as const;
const DRIVER = "cinder.csi.openstack.org";
const SECRET = "cinder-csi-cloud-config";
/** Keeps the affinity that it had, for a rollback: JSON, or "null". */
const AFFINITY = "migration.causeway.dev/affinity";

interface NodeAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: {
    readonly nodeSelectorTerms?: readonly { readonly matchExpressions?: readonly object[] }[];
  };
}

const find = (client: KubernetesClient, name: string, signal: AbortSignal) =>
  client.find(DaemonSet, { namespace, name }, { signal });

/** By the Secret of its own name: one of a user, of a chart or of an AddonSet has another one, or none. */
const isDrivers = (found: DaemonSet | undefined): boolean =>
  found !== undefined &&
  found.metadata.labels?.[addonSetLabel] === undefined &&
  JSON.stringify(found.spec?.template.spec?.volumes ?? []).includes(`"${SECRET}"`);

/** Whether the node part in the cluster is the driver's. */
export async function hasDriversPlugin(client: KubernetesClient, signal: AbortSignal): Promise<boolean> {
  return isDrivers(await find(client, driversPlugin.name, signal));
}

/** What is there of it, and whether it is needed. */
export async function readNodePlugin(client: KubernetesClient, signal: AbortSignal): Promise<NodePlugin> {
  const found = await find(client, driversPlugin.name, signal);
  if (!isDrivers(found)) return { isDrivers: false, isRestricted: false, hasOwn: false, hasVolumes: false };
  const own = await find(client, ownPlugin.name, signal);
  const { items: volumes } = await client.list(PersistentVolume, { signal });
  return {
    isDrivers: true,
    isRestricted: found?.metadata.annotations?.[AFFINITY] !== undefined,
    hasOwn: own !== undefined,
    hasVolumes: volumes.some(({ spec }) => JSON.stringify(spec ?? {}).includes(`"${DRIVER}"`)),
  };
}

/** Keeps the driver's off the nodes that roll makes. */
export async function restrictPlugin(client: KubernetesClient, signal: AbortSignal): Promise<void> {
  const found = await find(client, driversPlugin.name, signal);
  if (found === undefined || found.metadata.annotations?.[AFFINITY] !== undefined) return;
  const { affinity } = (found.spec?.template.spec ?? {}) as { affinity?: { nodeAffinity?: NodeAffinity } };
  const { nodeSelectorTerms = [{}] } = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? {};
  const old = { key: kubeProxyLabel, operator: "DoesNotExist" };
  // Terms are alternatives.
  const terms = nodeSelectorTerms.map((term) => ({
    ...term,
    matchExpressions: [...(term.matchExpressions ?? []), old],
  }));
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  const body = {
    metadata: { annotations: { [AFFINITY]: JSON.stringify(affinity?.nodeAffinity ?? null) } },
    spec: { template: { spec: { affinity: { nodeAffinity: required } } } },
  };
  await client.patch(DaemonSet, { namespace, name: driversPlugin.name }, { type: "merge", body }, { signal });
}

/** Undoes `restrictPlugin`. */
export async function releasePlugin(client: KubernetesClient, signal: AbortSignal): Promise<void> {
  const found = await find(client, driversPlugin.name, signal);
  const kept = found?.metadata.annotations?.[AFFINITY];
  if (found === undefined || kept === undefined) return;
  const nodeAffinity = JSON.parse(kept) as NodeAffinity | null;
  const { affinity = {} } = (found.spec?.template.spec ?? {}) as { affinity?: object };
  const isAlone = Object.keys(affinity).length <= 1 && nodeAffinity === null;
  const required = "requiredDuringSchedulingIgnoredDuringExecution";
  const before = nodeAffinity === null ? null : { [required]: nodeAffinity[required] ?? null };
  const body = {
    metadata: { annotations: { [AFFINITY]: null } },
    spec: { template: { spec: { affinity: isAlone ? null : { nodeAffinity: before } } } },
  };
  await client.patch(DaemonSet, { namespace, name: driversPlugin.name }, { type: "merge", body }, { signal });
}
