import { ConfigMap, Pod, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { stoppable, trusteeHolders } from "../../workloads/driver.ts";
import { driversPlugin, hasDriversPlugin } from "../../workloads/node-plugin.ts";
import { deleteWorkload, findWorkloads, type Workload } from "../../workloads/workloads.ts";
import type { DriverFacts, DriverObject } from "./plan.ts";

const namespace = "kube-system";
const types = { Secret, ConfigMap } as const;

/** What the driver has left in the cluster, and what uses it. `trusteeId`: empty where it is not known. */
export async function readDriver(
  client: KubernetesClient,
  trusteeId: string,
  signal: AbortSignal,
): Promise<DriverFacts> {
  const workloads = await findWorkloads(client, stoppable, signal);
  // What the migration did not stop is the user's own.
  const own: readonly Workload[] = workloads.filter(({ isOurs }) => isOurs);
  const plugin = (await hasDriversPlugin(client, signal)) ? [driversPlugin] : [];
  const found = await Promise.all(
    trusteeHolders.map(({ kind, name }) => client.find(types[kind], { namespace, name }, { signal })),
  );
  const holders = trusteeHolders.filter((_, index) => found[index] !== undefined);
  return {
    objects: [...own, ...plugin, ...holders].map(({ kind, name }) => ({ kind, name })),
    users: await usersOf(client, signal),
    others: trusteeId === "" ? [] : await otherHolders(client, trusteeId, signal),
  };
}

/** Pods that read what is deleted: by volumes, environment or projections, all of which name it. */
async function usersOf(client: KubernetesClient, signal: AbortSignal): Promise<readonly string[]> {
  const { items } = await client.list(Pod, { namespace, signal });
  return items.flatMap(({ metadata, spec, status }) => {
    if (status?.phase === "Succeeded" || status?.phase === "Failed") return [];
    const text = JSON.stringify(spec ?? {});
    const used = trusteeHolders.find(({ name }) => text.includes(`"${name}"`));
    return used === undefined ? [] : [`Pod ${namespace}/${metadata.name}, which uses ${used.kind} ${used.name},`];
  });
}

/** Secrets and ConfigMaps that name the trustee, and are none of the driver's. */
async function otherHolders(
  client: KubernetesClient,
  trusteeId: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { items: secrets } = await client.list(Secret, { namespace, signal });
  const { items: maps } = await client.list(ConfigMap, { namespace, signal });
  const decoded = (data: Readonly<Record<string, string>> | undefined): boolean =>
    Object.values(data ?? {}).some((value) => Buffer.from(value, "base64").includes(trusteeId));
  const named = [
    ...secrets.filter(({ data }) => decoded(data)).map(({ metadata }) => ({ kind: "Secret", name: metadata.name })),
    ...maps
      .filter(({ data, binaryData }) => JSON.stringify(data ?? {}).includes(trusteeId) || decoded(binaryData))
      .map(({ metadata }) => ({ kind: "ConfigMap", name: metadata.name })),
  ];
  return named
    .filter(({ kind, name }) => !trusteeHolders.some((one) => one.kind === kind && one.name === name))
    .map(({ kind, name }) => `${kind} ${namespace}/${name}`);
}

/** Deletes one of the objects; its pods end after it. */
export async function deleteDriverObject(
  client: KubernetesClient,
  { kind, name }: DriverObject,
  signal: AbortSignal,
): Promise<void> {
  if (kind === "Secret" || kind === "ConfigMap") await client.delete(types[kind], { namespace, name }, { signal });
  else await deleteWorkload(client, { kind, name }, signal);
}
