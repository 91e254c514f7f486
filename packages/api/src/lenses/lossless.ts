import type { KubeObject } from "@causeway/kubernetes";
import { graft } from "./graft.ts";
import { isJson, type Json } from "./json.ts";
import { says } from "./says.ts";
import type { Lens } from "./lens.ts";

/** Where the older version keeps the object of the stored version: Cluster API's own annotation, with its content. */
export const conversionData = "cluster.x-k8s.io/conversion-data";
/** Where the stored version keeps what only an older version can say, followed by "/" and that version. */
export const olderData = "conversion.causeway.dev";

/** The conversion of one version, in both directions. Pure; neither changes what it is given. */
export interface VersionConversion {
  readonly toStored: (object: KubeObject) => KubeObject;
  readonly fromStored: (object: KubeObject) => KubeObject;
}

/** A version, by the lens that leads to the stored one. */
export interface VersionOf {
  readonly group: string;
  readonly version: string;
  readonly stored: string;
  readonly lens: Lens;
}

/**
 * Conversions that lose nothing. What the target version cannot say is kept in an annotation, and comes back with the
 * way back, unless the field that it belongs to was changed in between.
 */
export function lossless({ group, version, stored, lens }: VersionOf): VersionConversion {
  const olderKey = `${olderData}/${version}`;
  const up = plain(lens, "up");
  const down = plain(lens, "down");
  return {
    toStored: (object) =>
      convert(object, {
        apiVersion: `${group}/${stored}`,
        there: up,
        back: down,
        kept: conversionData,
        keep: olderKey,
      }),
    fromStored: (object) =>
      convert(object, {
        apiVersion: `${group}/${version}`,
        there: down,
        back: up,
        kept: olderKey,
        keep: conversionData,
      }),
  };
}

type Parts = (parts: Json, namespace: string | undefined) => Json;

interface Way {
  readonly apiVersion: string;
  readonly there: Parts;
  readonly back: Parts;
  /** The annotation that holds what an earlier conversion in the other direction dropped. */
  readonly kept: string;
  /** The annotation that holds what this one drops. */
  readonly keep: string;
}

function plain(lens: Lens, direction: "up" | "down"): Parts {
  return (parts, namespace) => {
    const json = structuredClone(parts);
    lens[direction](json, { namespace });
    return json;
  };
}

function convert(object: KubeObject, { apiVersion, there, back, kept, keep }: Way): KubeObject {
  const { apiVersion: _, kind, metadata, ...rest } = object as KubeObject & Json;
  const parts: Json = rest;
  const { namespace } = metadata;
  const annotations = { ...metadata.annotations };
  const text = annotations[kept];
  delete annotations[kept];
  delete annotations[keep];
  const poor = there(parts, namespace);
  const result = text === undefined ? poor : restored(text, poor, (rich) => there(back(rich, namespace), namespace));
  if (!says(back(result, namespace), parts)) annotations[keep] = JSON.stringify(parts);
  const { annotations: _a, ...others } = metadata;
  const some = Object.keys(annotations).length > 0;
  return { ...result, apiVersion, kind, metadata: { ...others, ...(some ? { annotations } : {}) } } as KubeObject;
}

/** `poor` with what the annotation says beyond it. An annotation that a user broke, at any depth, adds nothing. */
function restored(text: string, poor: Json, reduced: (rich: Json) => Json): Json {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJson(value)) return poor;
    const { metadata: _, apiVersion: _v, kind: _k, ...rich } = value;
    return graft(rich, reduced(rich), poor) as Json;
  } catch {
    return poor;
  }
}
