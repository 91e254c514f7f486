import { Cluster, ClusterClass, KubeadmControlPlane } from "@causeway/api";
import { classKeyOf, type Related } from "@causeway/cluster-api";
import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient } from "@causeway/kubernetes";

/** The client by which rules read other objects. @throws ADMISSION_NOT_READY while there is none */
export function openedClient(client: KubernetesClient | undefined): KubernetesClient {
  if (client) return client;
  throw new CausewayError("ADMISSION_NOT_READY", "a write came before the rules could read other objects", {
    hint: "Repeat the write.",
  });
}

/** What Cluster API's rules of admission read, from the API server. `client` is called when something is read. */
export function relatedBy(client: () => KubernetesClient | undefined): Related {
  const opened = (): KubernetesClient => openedClient(client());
  return {
    class: (key) => opened().find(ClusterClass, key),
    controlPlane: (key) => opened().find(KubeadmControlPlane, key),
    async users({ namespace, name }) {
      const { items } = await opened().list(Cluster);
      return items.filter((one) => {
        const key = classKeyOf(one);
        return key?.name === name && key.namespace === namespace;
      });
    },
  };
}
