import type { KubeObject } from "@causeway/kubernetes";
import type { Kind, KindVersion, PrinterColumn } from "../kind.ts";
import { described, descriptionsOf } from "./describe.ts";

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
    /** Present: a webhook converts between the versions. */
    conversion?: {
      strategy: "Webhook";
      webhook: { clientConfig: WebhookClient; conversionReviewVersions: string[] };
    };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      deprecated?: true;
      schema: { openAPIV3Schema: JsonSchema };
      subresources?: {
        status?: Record<string, never>;
        scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
      };
      additionalPrinterColumns?: PrinterColumn[];
    }[];
  };
}

/** Where an API server reaches a webhook: at a URL, or at a Service of the cluster. */
export interface WebhookClient {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path: string;
    readonly port?: number;
  };
  /** Certificate of the authority of the webhook's certificate, PEM in base64. */
  readonly caBundle?: string;
}

/** The CRD, converted by a webhook if it has several versions. */
export function withConversionWebhook(
  crd: CustomResourceDefinitionObject,
  clientConfig: WebhookClient,
): CustomResourceDefinitionObject {
  if (crd.spec.versions.length < 2) return crd;
  const webhook = { clientConfig, conversionReviewVersions: ["v1"] };
  return { ...crd, spec: { ...crd.spec, conversion: { strategy: "Webhook", webhook } } };
}

/**
 * The CRD of a kind, with every version that is served, in the category "cluster-api" if it follows the contract, else
 * in "openstack".
 * @example
 * toCustomResourceDefinition(Cluster).metadata.name; // "clusters.cluster.x-k8s.io"
 */
export function toCustomResourceDefinition(kind: Kind<KubeObject>): CustomResourceDefinitionObject {
  const singular = kind.kind.toLowerCase();
  const stored = { name: kind.version, schema: kind.schema, columns: kind.columns, deprecated: false, storage: true };
  const others = kind.versions.map((version) => ({ ...version, storage: false }));
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
        categories: [kind.group.endsWith("cluster.x-k8s.io") ? "cluster-api" : "openstack"],
      },
      versions: [stored, ...others].map((version) => crdVersion(kind, version)),
    },
  };
}

type Version = Pick<KindVersion, "name" | "schema" | "columns" | "deprecated"> & { readonly storage: boolean };

function crdVersion(
  kind: Kind<KubeObject>,
  { name, schema: given, columns, deprecated, storage }: Version,
): CustomResourceDefinitionObject["spec"]["versions"][number] {
  const alike = storage ? {} : descriptionsOf(described(plainJson(kind.schema), kind.group));
  const schema = described(plainJson(given), kind.group, alike);
  const properties = schema["properties"] as JsonSchema;
  return {
    name,
    served: true,
    storage,
    ...(deprecated ? { deprecated } : {}),
    schema: { openAPIV3Schema: serverSchema(schema) },
    subresources: {
      ...("status" in properties ? { status: {} } : {}),
      ...(kind.scale ? { scale: { ...kind.scale } } : {}),
    },
    ...(columns.length > 0 ? { additionalPrinterColumns: [...columns] } : {}),
  };
}

/** The server itself adds apiVersion, kind and metadata to the required fields. */
function serverSchema(schema: JsonSchema): JsonSchema {
  const required = ((schema["required"] as string[] | undefined) ?? []).filter((name) => name === "spec");
  const { required: _, ...rest } = schema;
  return required.length > 0 ? { ...rest, required } : rest;
}

/** Drops what TypeBox adds to the JSON Schema (symbols, hidden kinds). */
function plainJson(schema: object): JsonSchema {
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}
