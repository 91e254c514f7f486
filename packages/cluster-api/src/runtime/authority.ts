import type { ExtensionConfig } from "@causeway/api";
import { Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";

/** Annotation: the authority of an extension is in this Secret, "namespace/name", under ca.crt. */
const caFromSecret = "runtime.cluster.x-k8s.io/inject-ca-from-secret";

/** The authority in the Secret that an annotation of an ExtensionConfig names. */
export async function authorityOf(
  kubernetes: KubernetesClient,
  { metadata }: ExtensionConfig,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [namespace, name] = metadata.annotations?.[caFromSecret]?.split("/") ?? [];
  if (!namespace || !name) return undefined;
  const secret = await kubernetes.find(Secret, { namespace, name }, { signal });
  return secretText(secret, "ca.crt");
}
