import { canonicalJson } from "@causeway/foundation";
import { ownerReference, type KubeObject, type ObjectMeta, type Pod, type PodTemplateSpec } from "@causeway/kubernetes";

/** On ReplicaSets and their pods; it is not part of the template that is compared. */
export const templateHashLabel = "pod-template-hash";

/** A pod of the template, controlled by `owner`; the server completes its name. */
export function podFromTemplate(owner: KubeObject, template: PodTemplateSpec): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const metadata: Partial<ObjectMeta> = {
    generateName: `${owner.metadata.name}-`,
    ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
    ownerReferences: [ownerReference(owner, { controller: true })],
  };
  return { apiVersion: "v1", kind: "Pod", metadata: metadata as ObjectMeta, spec: template.spec };
}

/** True if both templates make the same pods; the label with the hash does not count, nor do absent and empty lists. */
export function equalTemplates(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  return canonicalTemplate(a) === canonicalTemplate(b);
}

/**
 * The name part of a template: 32 bits of FNV-1a over its canonical text and the count of collisions, in the letters of
 * Kubernetes' generated names. Upstream hashes a dump of Go's structs; a ReplicaSet made by it is found by its
 * template, not by its hash.
 */
export function templateHash(template: PodTemplateSpec, collisions: number | undefined): string {
  const text = canonicalTemplate(template) + (collisions === undefined ? "" : `\n${collisions}`);
  return safeEncode(String(fnv32a(text)));
}

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A name part that is the same for the same seed: a create that is repeated meets what it created before. */
export function suffixOf(seed: string): string {
  return safeEncode(fnv32a(seed).toString(36).padStart(7, "0")).slice(-5);
}

function safeEncode(text: string): string {
  return Array.from(Buffer.from(text), (byte) => alphabet[byte % alphabet.length]).join("");
}

function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

function canonicalTemplate({ metadata = {}, spec }: PodTemplateSpec): string {
  const { [templateHashLabel]: _hash, ...labels } = metadata.labels ?? {};
  const { annotations = {}, name, finalizers } = metadata;
  return canonicalJson(withoutEmptyLists({ metadata: { name, labels, annotations, finalizers }, spec }));
}

function withoutEmptyLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmptyLists);
  if (typeof value !== "object" || value === null) return value ?? undefined;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutEmptyLists(inner)]));
}
