import type { CustomResourceDefinition } from "@causeway/kubernetes";

/** A schema of OpenAPI v3, or its properties by name, as a CRD has them. */
export type Schema = Readonly<Record<string, unknown>>;

/** A string. */
export const text = (description: string): Schema => ({ type: "string", description });
/** A map of strings. */
export const texts = (description: string): Schema => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});
/** A boolean. */
export const flag = (description: string): Schema => ({ type: "boolean", description });
/** An integer of 64 bits that is not negative. */
export const integer = (description: string): Schema => ({ type: "integer", format: "int64", minimum: 0, description });
/** A time in RFC 3339. */
export const instant = (description: string): Schema => ({ type: "string", format: "date-time", description });
/** A quantity of Kubernetes, such as 10Gi. */
export const quantity = (description: string): Schema => ({
  "x-kubernetes-int-or-string": true,
  anyOf: [{ type: "integer" }, { type: "string" }],
  description,
});
/** An object with these properties. */
export const record = (description: string, properties: Schema, required: readonly string[] = []): Schema => ({
  type: "object",
  description,
  properties,
  ...(required.length > 0 && { required: [...required] }),
});

/** The error field of a snapshot's status. */
export const error = record("Why the last attempt failed.", {
  message: text("What failed."),
  time: instant("When it failed."),
});
/** The deletionPolicy of snapshot contents and classes. */
export const deletionPolicy: Schema = {
  type: "string",
  enum: ["Delete", "Retain"],
  description: "Whether the snapshot in the storage system is deleted with its object.",
};
/** Exactly one of the fields is set: part of a schema. */
export const onlyOne = (fields: readonly string[]): Schema => ({
  oneOf: fields.map((field) => ({ required: [field] })),
});

/** What the CRDs of snapshots differ in. */
export interface Definition {
  readonly type: { readonly group: string; readonly version: string; readonly kind: string; readonly plural: string };
  readonly scope: "Namespaced" | "Cluster";
  readonly shortNames: readonly string[];
  readonly schema: Schema;
  readonly required: readonly string[];
  readonly hasStatus: boolean;
  /** More versions with the same schema. */
  readonly alsoServed?: readonly string[];
  /** Where upstream's CRD of this name was approved: Kubernetes accepts CRDs of its own group only with that proof. */
  readonly approved: string;
  readonly columns: readonly (readonly [name: string, type: string, jsonPath: string])[];
}

/** The CRD of a kind: all versions have the same schema, and the first one is stored. */
export function definitionOf({
  type,
  scope,
  shortNames,
  schema,
  required,
  hasStatus,
  columns,
  approved,
  alsoServed = [],
}: Definition): CustomResourceDefinition {
  const { group, version, kind, plural } = type;
  const own = columns.map(([name, format, jsonPath]) => ({ name, type: format, jsonPath }));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      annotations: { "api-approved.kubernetes.io": approved },
    },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [...shortNames] },
      versions: [version, ...alsoServed].map((name) => ({
        name,
        served: true,
        storage: name === version,
        ...(hasStatus && { subresources: { status: {} } }),
        schema: { openAPIV3Schema: { type: "object", required: [...required], properties: metaOf(schema) } },
        additionalPrinterColumns: [...own, { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
      })),
    },
  };
}

const metaOf = (schema: Schema): Schema => ({
  apiVersion: { type: "string" },
  kind: { type: "string" },
  metadata: { type: "object" },
  ...schema,
});
