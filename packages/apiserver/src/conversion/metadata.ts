import type { KubeObject } from "@causeway/kubernetes";
import { fields, isRecord, same, text, type Json } from "../json/json.ts";
import { annotationProblems, labelProblems } from "../syntax/names.ts";

/** Go's words for the type of a JSON value. */
function goType(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "object" ? "map[string]interface {}" : typeof value === "boolean" ? "bool" : typeof value;
}

/** What a conversion changed that it may not; undefined when all is well. */
export function changedIdentity(before: KubeObject, after: Json): string | undefined {
  const was = fields(before);
  const [from, to] = [meta(was), meta(after)];
  const compared: readonly (readonly [string, unknown, unknown])[] = [
    ["kind", was["kind"], after["kind"]],
    ["name", from["name"], to["name"]],
    ["namespace", from["namespace"], to["namespace"]],
    ["UID", from["uid"], to["uid"]],
  ];
  const changed = compared.find(([, e, a]) => text(e) !== text(a));
  return changed && `must have the same ${changed[0]}: ${text(changed[1])} != ${text(changed[2])}`;
}

function meta(object: Json): Json {
  return isRecord(object["metadata"]) ? object["metadata"] : {};
}

/**
 * The converted object with the metadata it had before, but for labels and annotations, which conversions may change.
 * Throws an Error that lists their faults.
 */
export function withMetadataOf(before: KubeObject, after: Json): KubeObject {
  if (!("metadata" in after)) throw new Error("missing metadata in converted object");
  const given = after["metadata"];
  if (!isRecord(given)) throw new Error(`invalid metadata of type ${goType(given)} in converted object`);
  const metadata: Json = { ...before.metadata };
  for (const field of ["labels", "annotations"] as const) {
    const value = given[field];
    if (value === undefined || value === null) delete metadata[field];
    else metadata[field] = checked(field, value, metadata[field]);
  }
  return { ...after, metadata } as unknown as KubeObject;
}

function checked(field: "labels" | "annotations", value: unknown, before: unknown): Json {
  if (!isRecord(value)) throw new Error(`invalid metadata.${field} of type ${goType(value)} in converted object`);
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== "string") {
      throw new Error(`metadata.${field}[${key}] must be a string, but is ${goType(item)} in converted object`);
    }
  }
  if (same(value, before)) return value;
  const problems = field === "labels" ? labelProblems(value) : annotationProblems(value);
  if (problems.length === 0) return value;
  const faults = problems.map((p) => `${p.field.replace(/annotations$/, "annotation")}: ${p.message}`);
  throw new Error(faults.length === 1 ? faults[0] : `[${faults.join(", ")}]`);
}
