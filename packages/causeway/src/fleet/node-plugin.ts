import { cinderCsiNodeObjects } from "@causeway/addons";
import { kubeProxyLabel } from "@causeway/magnum-api";
import { DaemonSet, isAlreadyExists, keyOf, ServiceAccount, type KubernetesClient } from "@causeway/kubernetes";

/** Of what this fleet installed, and may change. */
const MANAGED_BY = "app.kubernetes.io/managed-by";
const MANAGER = "causeway-fleet";

const namespace = "kube-system";
const FIRST = "csi-cinder-nodeplugin";
/** In a cluster whose other nodes have the one of Magnum's Heat driver, which needs files that only those have. */
const SECOND = "causeway-csi-cinder-nodeplugin";
/** By it the driver's is known: it reads the credentials of Magnum's trustee. */
const DRIVERS_SECRET = "cinder-csi-cloud-config";

/**
 * The Cinder CSI node plugin with this image in a workload cluster. A DaemonSet of that name which a user, a chart or
 * an AddonSet made is left as it is; one that is missing is created, and an earlier one of the fleet gets the image.
 * Next to that of Magnum's Heat driver it has a name of its own, which it keeps, and runs on nodes that the driver did
 * not make; on all when the driver's is gone.
 */
export async function installNodePlugin(client: KubernetesClient, image: string, signal: AbortSignal): Promise<void> {
  const place = await placeIn(client, signal);
  for (const object of cinderCsiNodeObjects(image, place)) {
    const labels = { ...object.metadata.labels, [MANAGED_BY]: MANAGER };
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
  const volumes = first?.spec?.template.spec?.volumes ?? [];
  if (JSON.stringify(volumes).includes(`"${DRIVERS_SECRET}"`))
    return { name: SECOND, nodeSelector: { [kubeProxyLabel]: "true" } };
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
