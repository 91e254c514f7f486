/** The Secrets and ConfigMaps that pods of a played node mount, as files. */
import { chmodSync, chownSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigMap, Secret, type KubernetesClient, type Pod } from "@causeway/kubernetes";

export const USER = 65_532;

export interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly defaultMode?: number };
  readonly configMap?: { readonly name: string; readonly defaultMode?: number };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly emptyDir?: object;
}

/** Names and contents; none of a volume of another kind. */
export async function mountedFiles(
  client: KubernetesClient,
  namespace: string,
  { secret, configMap }: Volume,
): Promise<[string, Buffer][]> {
  if (secret) {
    const { data = {} } = await client.get(Secret, { namespace, name: secret.secretName });
    return Object.entries(data).map(([file, text]) => [file, Buffer.from(text, "base64")]);
  }
  if (configMap) {
    const { data = {} } = await client.get(ConfigMap, { namespace, name: configMap.name });
    return Object.entries(data).map(([file, text]) => [file, Buffer.from(text)]);
  }
  return [];
}

/** Whole or not at all: a program may read it meanwhile. */
export function writeMounted(file: string, content: Buffer, { secret, configMap }: Volume): void {
  writeFileSync(`${file}.new`, content);
  chownSync(`${file}.new`, 0, USER);
  chmodSync(`${file}.new`, secret?.defaultMode ?? configMap?.defaultMode ?? 0o644);
  renameSync(`${file}.new`, file);
}

/** As a kubelet, which has mounted ConfigMaps follow their objects, sooner than it. `dir`: of the pod. */
export async function refreshMounts(client: KubernetesClient, pod: Pod, dir: string): Promise<void> {
  const { namespace = "" } = pod.metadata;
  for (const { name, mountPath } of pod.spec.containers[0]?.volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find((each) => each.name === name) as Volume | undefined;
    if (volume?.configMap === undefined) continue;
    for (const [file, content] of await mountedFiles(client, namespace, volume)) {
      const target = join(dir, "root", mountPath, file);
      if (!existsSync(target) || !readFileSync(target).equals(content)) writeMounted(target, content, volume);
    }
  }
}
