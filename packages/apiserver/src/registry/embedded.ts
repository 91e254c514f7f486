import type { ObjectMeta } from "@causeway/kubernetes";
import { isRecord, text, type Json } from "../json.ts";
import { invalidValue, required } from "../server/problems.ts";
import type { FieldProblem } from "../server/status.ts";
import { metadataProblem } from "../wire/decode.ts";
import type { Tables } from "../wire/tables.ts";
import { label1035Faults, labelFaults } from "./dns.ts";
import { partProblems } from "./metadata.ts";

/** What is wrong with an object within an object: what it says it is, and its metadata. */
export function embeddedProblems(tables: Tables, { path, object }: { path: string; object: Json }): FieldProblem[] {
  return [...typeProblems(path, object), ...metadataProblems(tables, `${path}.metadata`, object["metadata"])];
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
  const stray = metadataProblem(tables, metadata);
  if (stray !== undefined || !isRecord(metadata)) return [invalidValue(field, metadata, stray ?? "must be an object")];
  const at = (name: string): string => `${field}.${name}`;
  const [name, prefix, namespace] = [
    text(metadata["name"]),
    text(metadata["generateName"]),
    text(metadata["namespace"]),
  ];
  return [
    ...segmentFaults(prefix).map((why) => invalidValue(at("generateName"), prefix, why)),
    ...segmentFaults(name).map((why) => invalidValue(at("name"), name, why)),
    ...(namespace === "" ? [] : labelFaults(namespace)).map((why) => invalidValue(at("namespace"), namespace, why)),
    ...partProblems(metadata as unknown as ObjectMeta).map((p) => ({
      ...p,
      field: p.field.replace(/^metadata/, field),
    })),
  ];
}

/** What keeps a name from being a part of a path. */
function segmentFaults(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((c) => name.includes(c)).map((c) => `may not contain '${c}'`);
}
