import { cinderCsiNodeObjects } from "@causeway/addons";
import { DaemonSet, isAlreadyExists, keyOf, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";

/** Of what this fleet installed, and may change. */
const MANAGED_BY = "app.kubernetes.io/managed-by";
const MANAGER = "causeway-fleet";

/**
 * The Cinder CSI node plugin with this image in a workload cluster. A DaemonSet of that name which a user, a chart or
 * an AddonSet made is left as it is; one that is missing is created, and an earlier one of the fleet gets the image.
 */
export async function installNodePlugin(client: KubernetesClient, image: string, signal: AbortSignal): Promise<void> {
  for (const object of cinderCsiNodeObjects(image)) {
    const labels = { ...object.metadata.labels, [MANAGED_BY]: MANAGER };
    const wanted = { ...object, metadata: { ...object.metadata, labels } };
    if (wanted.kind === "ServiceAccount") await create(client, ServiceAccount, wanted as ServiceAccount, signal);
    else await applyDaemonSet(client, wanted as unknown as DaemonSet, signal);
  }
}

async function create(
  client: KubernetesClient,
  type: typeof ServiceAccount,
  object: ServiceAccount,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(type, object, { fieldManager: MANAGER, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

async function applyDaemonSet(client: KubernetesClient, object: DaemonSet, signal: AbortSignal): Promise<void> {
  const found = await client.find(DaemonSet, keyOf(object), { signal });
  if (found && found.metadata.labels?.[MANAGED_BY] !== MANAGER) return;
  await client.apply(DaemonSet, object, { fieldManager: MANAGER, signal });
}
