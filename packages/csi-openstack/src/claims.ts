import { PersistentVolumeClaim, type KubernetesClient } from "@causeway/kubernetes";

/** The annotations of a claim, read from the cluster; none when the claim is gone. */
export function claimAnnotationsFrom(client: Pick<KubernetesClient, "find">) {
  return async (namespace: string, name: string): Promise<Readonly<Record<string, string>>> => {
    const claim = await client.find(PersistentVolumeClaim, { namespace, name });
    return claim?.metadata.annotations ?? {};
  };
}
