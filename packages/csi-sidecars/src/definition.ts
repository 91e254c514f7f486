import type { CustomResourceDefinition } from "@causeway/kubernetes";

export type Schema = Readonly<Record<string, unknown>>;

export const text = (description: string): Schema => ({ type: "string", description });
export const texts = (description: string): Schema => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});
export const flag = (description: string): Schema => ({ type: "boolean", description });
export const integer = (description: string): Schema => ({ type: "integer", format: "int64", minimum: 0, description });
export const instant = (description: string): Schema => ({ type: "string", format: "date-time", description });
export const quantity = (description: string): Schema => ({
  "x-kubernetes-int-or-string": true,
  anyOf: [{ type: "integer" }, { type: "string" }],
  description,
});
export const record = (description: string, properties: Schema, required: readonly string[] = []): Schema => ({
  type: "object",
  description,
  properties,
  ...(required.length > 0 && { required: [...required] }),
});

export const error = record("Why the last attempt failed.", {
  message: text("What failed."),
  time: instant("When it failed."),
});
export const deletionPolicy: Schema = {
  type: "string",
  enum: ["Delete", "Retain"],
  description: "Whether the snapshot in the storage system is deleted with its object.",
};
export const onlyOne = (fields: readonly string[]): Schema => ({
  oneOf: fields.map((field) => ({ required: [field] })),
});

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
