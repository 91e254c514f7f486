import type { KubeObject } from "@causeway/kubernetes";
import { fields, type Json } from "../json/json.ts";
import type { Column, Resource, ResourceVersion } from "../contract/resource.ts";
import { age } from "./age.ts";

const NAME_DESCRIPTION = "Name must be unique within a namespace.";

/** The first column of almost every kind. */
export const NAME: Column = {
  name: "Name",
  format: "name",
  description: NAME_DESCRIPTION,
  cell: (o) => (o["metadata"] as Json)["name"],
};

/** As kubectl prints ages: "5m3s", "2d". */
export const AGE: Column = {
  name: "Age",
  description: "How long ago the object was created.",
  cell: (o, now) => age((o["metadata"] as Json)["creationTimestamp"], now),
};
const CREATED: Column = {
  name: "Created At",
  type: "date",
  description: "When the object was created.",
  cell: (o) => (o["metadata"] as Json)["creationTimestamp"],
};

/** What a table is of, and what a client requested of it. */
export interface TableOptions {
  readonly resource: Resource;
  readonly version: ResourceVersion;
  /** includeObject: what is next to the cells. */
  readonly include: "None" | "Metadata" | "Object";
  readonly now: number;
}

/** The columns of a version, or those that kube-apiserver gives kinds without any: Age for CRDs, Created At else. */
export function columnsOf({ resource, version }: Pick<TableOptions, "resource" | "version">): readonly Column[] {
  if (version.columns) return version.columns;
  return resource.custom ? [NAME, AGE] : [NAME, CREATED];
}

/** meta.k8s.io/v1 Table of objects, in the version that the columns are for. */
export function table(
  objects: readonly KubeObject[],
  metadata: Json,
  options: TableOptions & { readonly headless?: boolean },
): Json {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: options.headless ? [] : columnDefinitions(options),
    rows: objects.map((object) => row(object, options)),
  };
}

/** The columns as `columnDefinitions` of a meta.k8s.io/v1 Table describes them. */
export function columnDefinitions(options: Pick<TableOptions, "resource" | "version">): readonly Json[] {
  return columnsOf(options).map(definition);
}

/** One object as a row of a table. */
export function row(object: KubeObject, options: TableOptions): Json {
  return {
    cells: columnsOf(options).map((c) => c.cell(fields(object), options.now) ?? null),
    ...(options.include === "None" ? {} : { object: included(object, options.include) }),
  };
}

function definition(column: Column): Json {
  const { name, type = "string", format = "", description = "", priority = 0 } = column;
  return { name, type, format, description, priority };
}

function included(object: KubeObject, include: "Metadata" | "Object"): unknown {
  return include === "Object" ? object : metadataOnly(object);
}

/** meta.k8s.io/v1 PartialObjectMetadata. */
export function metadataOnly(object: KubeObject): KubeObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}
