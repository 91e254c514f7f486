import { CausewayError, isRecord, messageOf } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { parseAllDocuments } from "yaml";

/** Bounds of the manifests of one add-on. */
const MOST_BYTES = 4 * 2 ** 20;
const MOST_OBJECTS = 1_000;
const DEEPEST = 64;

/** An object as its manifest has it, without what only a server writes. */
export type ManifestObject = KubeObject & { readonly [field: string]: unknown };

/**
 * The objects of YAML documents, in their order. Lists are opened, tests of Helm charts left out.
 * @throws ADDON_MANIFEST_REFUSED
 */
export function parseManifests(texts: readonly string[]): ManifestObject[] {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > MOST_BYTES) throw refused(`the manifests have ${bytes} bytes; ${MOST_BYTES} are the most`);
  const objects = texts.flatMap((text) => documents(text).flatMap(opened)).filter((object) => !isTest(object));
  if (objects.length > MOST_OBJECTS) throw refused(`there are ${objects.length} objects; ${MOST_OBJECTS} are the most`);
  return objects.map(checkedObject);
}

function documents(text: string): unknown[] {
  try {
    const parsed = parseAllDocuments(text, { maxAliasCount: 100 } as Parameters<typeof parseAllDocuments>[1]);
    if (!Array.isArray(parsed)) return [];
    return parsed.map((document) => {
      const [problem] = document.errors;
      if (problem) throw problem;
      return document.toJS({ maxAliasCount: 100 }) as unknown;
    });
  } catch (error) {
    throw refused(`the YAML cannot be read: ${messageOf(error).split("\n")[0] ?? ""}`);
  }
}

/** The items of a v1 List, and of a document that is empty nothing. */
function opened(document: unknown): unknown[] {
  if (document === null || document === undefined) return [];
  const { kind, apiVersion, items } = document as { kind?: unknown; apiVersion?: unknown; items?: unknown };
  return kind === "List" && apiVersion === "v1" && Array.isArray(items) ? (items as unknown[]) : [document];
}

function isTest(object: unknown): boolean {
  const hooks = hooksOf(object);
  return hooks.length > 0 && hooks.every((hook) => hook.startsWith("test"));
}

function hooksOf(object: unknown): string[] {
  const metadata = (object as { metadata?: { annotations?: Record<string, unknown> } } | undefined)?.metadata;
  const hook = metadata?.annotations?.["helm.sh/hook"];
  return typeof hook === "string" ? hook.split(",").map((each) => each.trim()) : [];
}

function checkedObject(document: unknown): ManifestObject {
  if (!isRecord(document)) throw refused("a document is not an object");
  const { apiVersion, kind, metadata } = document;
  if (typeof apiVersion !== "string" || typeof kind !== "string") throw refused("a document lacks apiVersion or kind");
  if (!isRecord(metadata) || typeof metadata["name"] !== "string" || metadata["name"] === "")
    throw refused(`an object of kind ${kind} lacks metadata.name; generated names are not supported`);
  const name = metadata["name"];
  const hooks = hooksOf(document);
  if (hooks.length > 0)
    throw refused(`${kind} ${name} is a Helm hook (${hooks.join(", ")}); render the chart with --no-hooks`);
  if (!isShallow(document, DEEPEST)) throw refused(`${kind} ${name} is nested more than ${DEEPEST} deep`);
  const { status: _status, ...rest } = document;
  return { ...rest, apiVersion, kind, metadata: writable(metadata, `${kind} ${name}`) } as unknown as ManifestObject;
}

/** Metadata without the fields that a server sets. */
function writable(metadata: Record<string, unknown>, what: string): Record<string, unknown> {
  if (metadata["ownerReferences"] !== undefined)
    throw refused(`${what} has ownerReferences: the uid of an owner is not known before it is applied`);
  const kept = ["name", "namespace", "labels", "annotations", "finalizers"] as const;
  return Object.fromEntries(kept.filter((key) => metadata[key] !== undefined).map((key) => [key, metadata[key]]));
}

function isShallow(value: unknown, deepest: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return deepest > 0 && Object.values(value).every((inner) => isShallow(inner, deepest - 1));
}

function refused(why: string): CausewayError {
  return new CausewayError("ADDON_MANIFEST_REFUSED", why, { hint: "Correct the manifests of the add-on." });
}
