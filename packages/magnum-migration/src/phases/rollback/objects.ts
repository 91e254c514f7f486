import {
  AddonSet,
  Cluster,
  HostedControlPlane,
  KubeadmConfigTemplate,
  labels,
  Machine,
  MachineDeployment,
  MachineHealthCheck,
  MachineSet,
  MagnumCluster,
  OpenStackCluster,
  OpenStackMachine,
  OpenStackMachineTemplate,
  KubeadmConfig,
} from "@causeway/api";
import { addonSetNameOf } from "@causeway/magnum-api";
import { isNotFound, Secret, type KubeObject, type KubernetesClient, type ResourceType } from "@causeway/kubernetes";
import type { MigrationRecord } from "../../record/record.ts";

type AnyType = ResourceType<KubeObject>;

/** The objects of machines, from those that have servers upwards. */
const machineTypes: readonly AnyType[] = [
  // What it has in the cluster remains until the masters serve.
  AddonSet,
  MachineHealthCheck,
  OpenStackMachine,
  Machine,
  MachineSet,
  MachineDeployment,
  KubeadmConfig,
  KubeadmConfigTemplate,
  OpenStackMachineTemplate,
  OpenStackCluster,
] as unknown as readonly AnyType[];
/** The hosted control plane deletes its own data: its finalizer is kept. */
const otherTypes: readonly AnyType[] = [
  Cluster,
  HostedControlPlane,
  MagnumCluster,
  Secret,
] as unknown as readonly AnyType[];

/** "KIND NAME" of the cluster's objects, in the order in which they are forgotten. */
export interface ObjectsOf {
  readonly machines: readonly string[];
  readonly others: readonly string[];
}

/** "KIND NAME" of all objects of the cluster. */
export async function objectsOf(
  client: KubernetesClient,
  record: MigrationRecord,
  signal: AbortSignal,
): Promise<ObjectsOf> {
  const named = async (types: readonly AnyType[]) =>
    (await Promise.all(types.map((type) => listOf(client, type, record, signal)))).flatMap((items, index) =>
      items.map(({ metadata }) => `${types[index]?.kind ?? ""} ${metadata.name}`),
    );
  return { machines: await named(machineTypes), others: await named(otherTypes) };
}

async function listOf(
  client: KubernetesClient,
  type: AnyType,
  { namespace, name }: MigrationRecord,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const { items } = await client.list(type, { namespace, signal });
  // Other AddonSets of the cluster are the operator's.
  if (type.kind === AddonSet.kind) return items.filter(({ metadata }) => metadata.name === addonSetNameOf(name));
  return items.filter(
    ({ metadata }) =>
      (metadata.name === name && type.kind !== "Secret") || metadata.labels?.[labels.clusterName] === name,
  );
}

const OWN = "hostedcontrolplane.controlplane.cluster.x-k8s.io";

/** Deletes an object, and keeps its controllers from deleting what it represents: the finalizers are removed first. */
export async function forgetObject(
  client: KubernetesClient,
  { namespace }: MigrationRecord,
  object: string,
  signal: AbortSignal,
): Promise<void> {
  const [kind = "", name = ""] = object.split(" ");
  const type = [...machineTypes, ...otherTypes].find((one) => one.kind === kind);
  if (!type) return;
  const key = { namespace, name };
  const found = await client.find(type, key, { signal });
  if (!found) return;
  const kept = kind === HostedControlPlane.kind ? (found.metadata.finalizers ?? []).filter((one) => one === OWN) : [];
  const { uid } = found.metadata;
  const metadata = { uid, finalizers: kept, ...(kept.length > 0 ? {} : { ownerReferences: [] }) };
  try {
    await client.patch(type, key, { type: "merge", body: { metadata } }, { signal });
  } catch (error) {
    // Its controller has ended its own work meanwhile.
    if (isNotFound(error)) return;
    throw error;
  }
  await client.delete(type, key, { propagationPolicy: "Orphan", signal });
}

/** Upstream's names of an OpenStackCluster's security groups: whole, since one cluster's name can begin another's. */
export const securityGroupNames = ({
  namespace,
  name,
}: Pick<MigrationRecord, "namespace" | "name">): readonly string[] =>
  ["controlplane", "worker", "bastion"].map((role) => `k8s-cluster-${namespace}-${name}-secgroup-${role}`);
