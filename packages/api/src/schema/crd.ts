import type { KubeObject } from "@causeway/kubernetes";
import type { Kind, PrinterColumn } from "../kind.ts";
import { described } from "./describe.ts";

/** A structural schema as a CRD carries it. */
export type JsonSchema = { [key: string]: unknown };

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as far as we write it. */
export interface CustomResourceDefinitionObject extends KubeObject {
  apiVersion: "apiextensions.k8s.io/v1";
  kind: "CustomResourceDefinition";
  spec: {
    group: string;
    scope: "Namespaced" | "Cluster";
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: string[];
      categories: string[];
    };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      schema: { openAPIV3Schema: JsonSchema };
      subresources?: {
        status?: Record<string, never>;
        scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
      };
      additionalPrinterColumns?: PrinterColumn[];
    }[];
  };
}

/** The CRD of a kind: one version, served and stored, in the category "cluster-api". */
export function toCustomResourceDefinition(kind: Kind<KubeObject>): CustomResourceDefinitionObject {
  const schema = described(plainJson(kind.schema), kind.group);
  const properties = schema["properties"] as JsonSchema;
  const singular = kind.kind.toLowerCase();
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${kind.plural}.${kind.group}`, labels: { ...kind.labels } },
    spec: {
      group: kind.group,
      scope: kind.namespaced ? "Namespaced" : "Cluster",
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular,
        ...(kind.shortNames.length > 0 ? { shortNames: [...kind.shortNames] } : {}),
        categories: ["cluster-api"],
      },
      versions: [
        {
          name: kind.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: serverSchema(schema) },
          subresources: {
            ...("status" in properties ? { status: {} } : {}),
            ...(kind.scale ? { scale: { ...kind.scale } } : {}),
          },
          ...(kind.columns.length > 0 ? { additionalPrinterColumns: [...kind.columns] } : {}),
        },
      ],
    },
  };
}

/** The server itself adds apiVersion, kind and metadata to the required fields. */
function serverSchema(schema: JsonSchema): JsonSchema {
  const required = (schema["required"] as string[]).filter((name) => name === "spec");
  const { required: _, ...rest } = schema;
  return required.length > 0 ? { ...rest, required } : rest;
}

/** Drops what TypeBox adds to the JSON Schema (symbols, hidden kinds). */
function plainJson(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}
