import { ConfigMap, Pod, Secret, type KubernetesClient } from "@causeway/kubernetes";
import { stoppable, trusteeHolders } from "../../workloads/driver.ts";
import { driversPlugin, hasDriversPlugin } from "../../workloads/node-plugin.ts";
import { deleteWorkload, findWorkloads, type Workload } from "../../workloads/workloads.ts";
import type { DriverFacts, DriverObject, DriverReads } from "./plan.ts";

const namespace = "kube-system";
const types = { Secret, ConfigMap } as const;

type Holder = (typeof trusteeHolders)[number];
type Content = Pick<ConfigMap, "data" | "binaryData">;

const holderText = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  `${kind} ${namespace}/${name}`;

/**
 * What the driver has left in the cluster, and what uses it, as far as `reads` says. `trusteeId`: empty where it is not
 * known. An object that has one of the driver's names, and does not name the trustee, is a user's: it is kept.
 */
export async function readDriver(
  client: KubernetesClient,
  trusteeId: string,
  reads: DriverReads,
  signal: AbortSignal,
): Promise<DriverFacts> {
  const workloads = await findWorkloads(client, stoppable, signal);
  // What the migration did not stop is the user's own.
  const own: readonly Workload[] = workloads.filter(({ isOurs }) => isOurs);
  const plugin = (await hasDriversPlugin(client, signal)) ? [driversPlugin] : [];
  const found = await Promise.all(
    trusteeHolders.map(({ kind, name }) => client.find(types[kind], { namespace, name }, { signal })),
  );
  const kept = trusteeHolders.filter((one, index) => {
    const object = found[index];
    return object !== undefined && !names(one.kind, object, trusteeId);
  });
  const holders = trusteeHolders.filter((one, index) => found[index] !== undefined && !kept.includes(one));
  return {
    objects: [...own, ...plugin, ...holders].map(({ kind, name }) => ({ kind, name })),
    kept: kept.map(holderText),
    // Also of those that are gone: their pods may run still.
    users:
      trusteeId === "" || !reads.users
        ? []
        : await usersOf(
            client,
            trusteeHolders.filter((one) => !kept.includes(one)),
            signal,
          ),
    others: trusteeId === "" || !reads.others ? [] : await otherHolders(client, trusteeId, signal),
  };
}

/** Whether the content of an object names the trustee. One that is not known is named by none. */
function names(kind: "Secret" | "ConfigMap", { data, binaryData }: Content, trusteeId: string): boolean {
  if (trusteeId === "") return false;
  const has = (values: Content["data"], encoding: "base64" | "utf8"): boolean =>
    Object.values(values ?? {}).some((value) => Buffer.from(value, encoding).includes(trusteeId));
  return has(data, kind === "Secret" ? "base64" : "utf8") || has(binaryData, "base64");
}

/** Pods that read one of the holders: by volumes, environment or projections, all of which name it. */
async function usersOf(
  client: KubernetesClient,
  holders: readonly Holder[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { items } = await client.list(Pod, { namespace, signal });
  return items.flatMap(({ metadata, spec, status }) => {
    if (status?.phase === "Succeeded" || status?.phase === "Failed") return [];
    const text = JSON.stringify(spec ?? {});
    const used = holders.find(({ name }) => text.includes(`"${name}"`));
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
  const named = [
    ...secrets
      .filter((one) => names("Secret", one, trusteeId))
      .map(({ metadata }) => ({ kind: "Secret", name: metadata.name })),
    ...maps
      .filter((one) => names("ConfigMap", one, trusteeId))
      .map(({ metadata }) => ({ kind: "ConfigMap", name: metadata.name })),
  ];
  return named
    .filter(({ kind, name }) => !trusteeHolders.some((one) => one.kind === kind && one.name === name))
    .map(holderText);
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
