import type { KubeObject } from "@causeway/kubernetes";
import { isObject, type Json } from "../../json/values.ts";
import { compare } from "./compare.ts";
import { difference, type FieldSet } from "./field-set.ts";
import type { Typed } from "./ownership.ts";
import { typeProblem } from "./check.ts";
import { fieldsOf } from "./values.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const ANNOTATIONS_LIMIT = 256 * 1024;

/**
 * What kubectl may take over without force: what it applied itself in the client-side way, as far as it is still there
 * so. The annotation that it left says what; undefined without one that can be read.
 */
export function allowedByAnnotation(live: KubeObject | undefined, before: Json, typed: Typed): FieldSet | undefined {
  const applied = parsed(live?.metadata.annotations?.[LAST_APPLIED] ?? "");
  if (!isObject(applied) || applied["apiVersion"] !== typed.apiVersion) return undefined;
  if (typeProblem(applied, typed.type, "allowed") !== undefined) return undefined;
  const { added, modified, removed } = compare(applied, before, typed.type);
  return [modified, added, removed].reduce(difference, fieldsOf(applied, typed.type));
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // An annotation that cannot be parsed proves nothing.
    return undefined;
  }
}

/**
 * Where kubectl keeps a record of what it applied in the client-side way, that goes along with what it applies here.
 */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (!annotations?.[LAST_APPLIED]) return object;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  const record = `${goJson(withoutRecord(applied) as unknown as Json)}\n`;
  const size = Object.entries({ ...others, [LAST_APPLIED]: record }).reduce((n, [k, v]) => n + k.length + v.length, 0);
  const next = size > ANNOTATIONS_LIMIT ? others : { ...others, [LAST_APPLIED]: record };
  return { ...object, metadata: { ...object.metadata, annotations: next } };
}

/** The configuration as it is recorded. Annotations that it names remain an object, even without members. */
function withoutRecord(applied: KubeObject): KubeObject {
  const { annotations } = applied.metadata;
  if (!annotations) return applied;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return { ...applied, metadata: { ...applied.metadata, annotations: others } };
}

/** JSON with fields in order, and with what HTML minds escaped. */
function goJson(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(goJson).join(",")}]`;
  if (!isObject(value)) {
    return JSON.stringify(value).replaceAll(
      /[<>&\u2028\u2029]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  }
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, child]) => `${goJson(name)}:${goJson(child)}`).join(",")}}`;
}
