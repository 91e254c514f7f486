import type { ObjectMeta } from "@causeway/kubernetes";
import { goJson, isRecord, text, type Json } from "../json/json.ts";
import { invalidValue, required } from "../errors/problems.ts";
import type { FieldProblem } from "../errors/status.ts";
import { metadataProblem } from "../wire/decode.ts";
import type { Tables } from "../wire/tables.ts";
import { label1035Faults, labelFaults } from "../syntax/dns.ts";
import { partProblems } from "./metadata.ts";
import { pathFaults } from "../syntax/names.ts";

/** What is wrong with an object within an object: what it says it is, and its metadata. */
export function embeddedProblems(tables: Tables, { path, object }: { path: string; object: Json }): FieldProblem[] {
  return [...typeProblems(path, object), ...metadataProblems(tables, `${path}.metadata`, object["metadata"])];
}

/** Why such an object cannot even be read. */
export function malformedInner(tables: Tables, path: string, object: Json): string | undefined {
  for (const name of ["apiVersion", "kind"]) {
    const value = object[name];
    if (value === undefined || typeof value === "string") continue;
    return `${path}.${name}: Invalid value: ${goJson(value)}: must be a string`;
  }
  const { metadata } = object;
  if (metadata === undefined || metadata === null) return undefined;
  const problem = metadataFault(tables, metadata);
  return problem && `${path}.metadata: Invalid value: ${goJson(metadata)}: ${problem}`;
}

function metadataFault(tables: Tables, metadata: unknown): string | undefined {
  if (isRecord(metadata)) {
    const inOrder = Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return metadataProblem(tables, Object.fromEntries(inOrder));
  }
  const type = Array.isArray(metadata) ? "array" : typeof metadata === "boolean" ? "bool" : typeof metadata;
  return `json: cannot unmarshal ${type} into Go value of type v1.ObjectMeta`;
}

function typeProblems(path: string, object: Json): FieldProblem[] {
  return [
    ...named(`${path}.apiVersion`, object["apiVersion"], versionFaults),
    ...named(`${path}.kind`, object["kind"], kindFaults),
  ];
}

function named(field: string, value: unknown, faults: (value: string) => readonly string[]): FieldProblem[] {
  if (value === undefined) return [required(field)];
  if (typeof value !== "string") return [invalidValue(field, value, "must be a string")];
  if (value === "") return [invalidValue(field, value, "must not be empty")];
  return faults(value).map((why) => invalidValue(field, value, why));
}

function versionFaults(apiVersion: string): string[] {
  return apiVersion.split("/").length > 2 ? [`unexpected GroupVersion string: ${apiVersion}`] : [];
}

function kindFaults(kind: string): string[] {
  const faults = label1035Faults(kind.toLowerCase());
  return faults.length === 0 ? [] : [`may have mixed case, but should otherwise match: ${faults.join(",")}`];
}

function metadataProblems(tables: Tables, field: string, metadata: unknown): FieldProblem[] {
  if (metadata === undefined || metadata === null) return [];
  const fault = metadataFault(tables, metadata);
  if (fault !== undefined || !isRecord(metadata)) return [invalidValue(field, metadata, fault ?? "")];
  const at = (name: string): string => `${field}.${name}`;
  const [name, prefix, namespace] = [
    text(metadata["name"]),
    text(metadata["generateName"]),
    text(metadata["namespace"]),
  ];
  return [
    ...pathFaults(prefix).map((why) => invalidValue(at("generateName"), prefix, why)),
    ...pathFaults(name).map((why) => invalidValue(at("name"), name, why)),
    ...(namespace === "" ? [] : labelFaults(namespace)).map((why) => invalidValue(at("namespace"), namespace, why)),
    ...partProblems(metadata as unknown as ObjectMeta).map((p) => ({
      ...p,
      field: p.field.replace(/^metadata/, field),
    })),
  ];
}
