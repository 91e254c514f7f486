import { cinderCsiNodeObjects } from "@causeway/addons";
import { fleetLabel, isDriversNodePlugin, isFleets, kubeProxyLabel, nodePluginNames } from "@causeway/magnum-api";
import { DaemonSet, isAlreadyExists, keyOf, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";

const namespace = "kube-system";
const { first: FIRST, second: SECOND } = nodePluginNames;
const fieldManager = fleetLabel.value;

/**
 * The Cinder CSI node plugin with this image in a workload cluster. A DaemonSet of that name which a user, a chart or
 * an AddonSet made is left as it is; one that is missing is created, and an earlier one of the fleet gets the image.
 * Next to that of Magnum's Heat driver it has a name of its own, which it keeps, and runs on nodes that the driver did
 * not make; on all when the driver's is gone.
 */
export async function installNodePlugin(client: KubernetesClient, image: string, signal: AbortSignal): Promise<void> {
  const place = await placeIn(client, signal);
  for (const object of cinderCsiNodeObjects(image, place)) {
    const labels = { ...object.metadata.labels, [fleetLabel.name]: fleetLabel.value };
    const wanted = { ...object, metadata: { ...object.metadata, labels } };
    if (wanted.kind === "ServiceAccount") await create(client, ServiceAccount, wanted as ServiceAccount, signal);
    else await applyDaemonSet(client, wanted as unknown as DaemonSet, signal);
  }
}

async function placeIn(
  client: KubernetesClient,
  signal: AbortSignal,
): Promise<NonNullable<Parameters<typeof cinderCsiNodeObjects>[1]>> {
  const first = await client.find(DaemonSet, { namespace, name: FIRST }, { signal });
  // It needs files that only nodes of that driver have.
  if (isDriversNodePlugin(first)) return { name: SECOND, nodeSelector: { [kubeProxyLabel]: "true" } };
  const second = await client.find(DaemonSet, { namespace, name: SECOND }, { signal });
  return second === undefined ? {} : { name: SECOND };
}

async function create(
  client: KubernetesClient,
  type: typeof ServiceAccount,
  object: ServiceAccount,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(type, object, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function applyDaemonSet(client: KubernetesClient, object: DaemonSet, signal: AbortSignal): Promise<void> {
  const found = await client.find(DaemonSet, keyOf(object), { signal });
  if (found && !isFleets(found)) return;
  await client.apply(DaemonSet, object, { fieldManager, signal });
}
