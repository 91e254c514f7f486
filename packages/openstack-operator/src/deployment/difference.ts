import type { KubeObject } from "@causeway/kubernetes";
import { labels } from "../model/names.ts";
import { digestAnnotation } from "../render/stamp.ts";

/** Must the object be written? It is what was last written, and no other program changed what we set. */
export function differs(wanted: KubeObject, found: KubeObject | undefined): boolean {
  if (!found) return true;
  if (found.metadata.annotations?.[digestAnnotation] !== wanted.metadata.annotations?.[digestAnnotation]) return true;
  return !holds(withoutMetadata(wanted), withoutMetadata(found));
}

/** Must an object of the foundation be written? The name of immutable content is its digest: what exists is right. */
export function isMissing(wanted: KubeObject, objects: ReadonlyMap<string, KubeObject>): boolean {
  const found = objects.get(`${wanted.kind}/${wanted.metadata.name}`);
  return wanted.metadata.labels?.[labels.revision] === undefined ? differs(wanted, found) : found === undefined;
}

function withoutMetadata(object: KubeObject): Record<string, unknown> {
  const {
    metadata: _metadata,
    apiVersion: _version,
    kind: _kind,
    ...rest
  } = object as KubeObject & Record<string, unknown>;
  return rest;
}

/** Fields that the server writes in another form: quantities. */
const REWRITTEN = new Set(["resources"]);

/** Is everything of `wanted` in `found`? The server adds defaults. */
export function holds(wanted: unknown, found: unknown): boolean {
  if (wanted === found) return true;
  if (Array.isArray(wanted)) {
    if (wanted.length === 0) return found === undefined || (Array.isArray(found) && found.length === 0);
    if (!Array.isArray(found) || wanted.length !== found.length) return false;
    return wanted.every((item, index) => holds(item, found[index]));
  }
  if (typeof wanted !== "object" || wanted === null) return false;
  const entries = Object.entries(wanted).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return found === undefined || typeof found === "object";
  if (typeof found !== "object" || found === null) return false;
  return entries.every(([key, value]) => REWRITTEN.has(key) || holds(value, (found as Record<string, unknown>)[key]));
}
