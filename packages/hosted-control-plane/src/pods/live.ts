import { canonicalJson, isRecord } from "@causeway/foundation";
import type { KubeObject, StatefulSet } from "@causeway/kubernetes";
import { appliedAnnotation, digestOf } from "./tenant.ts";

/** `Secret/etcd-ca`: unique in a namespace, as no two kinds here have one name. */
export function idOf({ kind, metadata }: Pick<KubeObject, "kind" | "metadata">): string {
  return `${kind}/${metadata.name}`;
}

/** The object with the digest of itself, by which fields that were removed from it are noticed. */
export function stamped<T extends KubeObject>(object: T): T {
  const annotations = { ...object.metadata.annotations, [appliedAnnotation]: digestOf(object) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Must it be written? What the server and others add is left alone. */
export function differs(live: KubeObject | undefined, wanted: KubeObject): boolean {
  return live === undefined || !covers(live, wanted);
}

/** Do the pods of a program start with other settings when it is written as wanted? */
export function restarts(live: KubeObject | undefined, wanted: KubeObject): boolean {
  const templateOf = (object: KubeObject | undefined) => (object as Partial<StatefulSet> | undefined)?.spec?.template;
  return !covers(templateOf(live), templateOf(wanted));
}

/** Does `live` have everything that `wanted` has? Lists are compared entry by entry, by name where entries have one. */
function covers(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return Array.isArray(live) && coversList(live, wanted);
  if (!isRecord(wanted)) return canonicalJson(live ?? null) === canonicalJson(wanted ?? null);
  if (!isRecord(live)) return Object.keys(wanted).length === 0 && live === undefined;
  return Object.entries(wanted).every(([name, value]) => value === undefined || covers(live[name], value));
}

function coversList(live: readonly unknown[], wanted: readonly unknown[]): boolean {
  const named = wanted.every((item) => isRecord(item) && typeof item["name"] === "string");
  if (!named) return live.length === wanted.length && wanted.every((item, index) => covers(live[index], item));
  return wanted.every((item) => {
    const { name } = item as { name: string };
    return live.some((other) => isRecord(other) && other["name"] === name && covers(other, item));
  });
}
