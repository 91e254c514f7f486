import { isRecord, parseBoundedJson } from "@causeway/foundation";
import { applyJsonPatch, applyMergePatch } from "@causeway/apiserver/patch";
import type { ProviderObject } from "../contract/provider-object.ts";

/** A patch that an extension made for one template. */
export interface GeneratedPatch {
  readonly uid: string;
  readonly type: "JSONPatch" | "JSONMergePatch";
  readonly patch: unknown;
}

/** What extensions made, in order, by the names of the patches in the ClusterClass. */
export type Generated = ReadonlyMap<string, readonly GeneratedPatch[]>;

/** Patches that a response has at most for each template: each costs as much as the template is long. */
const mostForOne = 16;
/** Bytes of a template at most, after its patches. */
const longestTemplate = 1024 * 1024;

const deepestPatch = 100;

/** The patches in a response to GeneratePatches. @throws Error that says what is wrong with it */
export function readGenerated(
  response: Readonly<Record<string, unknown>>,
  uids: readonly string[],
): readonly GeneratedPatch[] {
  const { items = [] } = response;
  if (!Array.isArray(items)) throw new Error("items of the response are no list");
  if (items.length > uids.length * mostForOne)
    throw new Error(`the response has more than ${mostForOne} patches for each template`);
  const known = new Set(uids);
  return items.map((entry: unknown): GeneratedPatch => {
    const { uid, patchType, patch } = isRecord(entry) ? entry : {};
    if (typeof uid !== "string" || !known.has(uid))
      throw new Error(`generated patch is targeted at the template with ID ${JSON.stringify(uid)} that does not exist`);
    if (patchType !== "JSONPatch" && patchType !== "JSONMergePatch")
      throw new Error(`patchType of ${uid} is neither JSONPatch nor JSONMergePatch: ${JSON.stringify(patchType)}`);
    if (typeof patch !== "string") throw new Error(`patch of ${uid} is no text in base64`);
    return { uid, type: patchType, patch: readPatch(uid, patch) };
  });
}

function readPatch(uid: string, text: string): unknown {
  try {
    return parseBoundedJson(Buffer.from(text, "base64").toString("utf8"), deepestPatch);
  } catch (cause) {
    throw new Error(`patch of ${uid} is no JSON in base64`, { cause });
  }
}

/** The template with a patch. Only its spec is changed, whatever the patch says. @throws Error */
export function withGenerated(template: ProviderObject, { type, patch }: GeneratedPatch): ProviderObject {
  const changed = type === "JSONPatch" ? applyJsonPatch(template, patch) : applyMergePatch(template, patch);
  const spec = isRecord(changed) ? changed["spec"] : undefined;
  if (!isRecord(spec) || !isRecord(spec["template"])) throw new Error("spec.template must be an object");
  if (Buffer.byteLength(JSON.stringify(spec)) > longestTemplate)
    throw new Error(`the patched template has more than ${longestTemplate} bytes`);
  return { ...template, spec } as ProviderObject;
}
