import type { Context, Json, Raw } from "../interface.ts";
import { eventually } from "./shorthands.ts";

export const GROUP = "contract.example.com";
export const WIDGETS = `${GROUP}/v1`;

const SCHEMA = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "string", enum: ["small", "big"], description: "How large it is." },
        replicas: { type: "integer", format: "int32", default: 1, minimum: 0, maximum: 100 },
        name: { type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 5 },
        ratio: { type: "number" },
        port: { "x-kubernetes-int-or-string": true },
        nothing: { type: "string", nullable: true },
        filled: { type: "string", default: "full", nullable: true },
        tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set", maxItems: 3 },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: { type: "string" }, count: { type: "integer", default: 7 }, kind: { type: "string" } },
          },
        },
        steps: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "atomic" },
        limits: { type: "object", additionalProperties: { type: "string" }, maxProperties: 3 },
        whole: {
          type: "object",
          "x-kubernetes-map-type": "atomic",
          properties: { a: { type: "string" }, b: { type: "string" } },
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        low: { type: "integer" },
        high: { type: "integer" },
        fixed: {
          type: "string",
          "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed never changes" }],
        },
        when: { type: "string", format: "date-time" },
      },
      "x-kubernetes-validations": [
        { rule: "!has(self.low) || !has(self.high) || self.low <= self.high", message: "low must not be above high" },
      ],
    },
    status: {
      type: "object",
      properties: {
        replicas: { type: "integer" },
        selector: { type: "string" },
        phase: { type: "string" },
        conditions: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["type"],
          items: {
            type: "object",
            required: ["type", "status"],
            properties: { type: { type: "string" }, status: { type: "string" }, reason: { type: "string" } },
          },
        },
      },
    },
  },
};

const COLUMNS = [
  { name: "Size", type: "string", jsonPath: ".spec.size", description: "How large" },
  { name: "Replicas", type: "integer", jsonPath: ".spec.replicas" },
  { name: "Team", type: "string", jsonPath: ".metadata.labels['example\\.com/team']" },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
  { name: "First", type: "string", jsonPath: ".spec.steps[0]", priority: 1 },
  { name: "Steps", type: "string", jsonPath: ".spec.steps", priority: 1 },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

/** A CustomResourceDefinition of this group, with one version unless `spec` says otherwise. */
export function definition(plural: string, kind: string, spec: Json = {}): Json & { spec: Json } {
  const { group = GROUP, ...more } = spec;
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${String(group)}` },
    spec: { group, scope: "Namespaced", names: { plural, kind }, versions: [version], ...more },
  };
}

export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Creates a CRD and waits until its resource is served. */
export async function define(api: Raw, manifest: Json & { spec: Json }): Promise<void> {
  const created = await api.post(DEFINITIONS, manifest);
  if (created.code !== 201) throw new Error(`the CRD was refused: ${created.text}`);
  const { group, names, versions } = manifest.spec as {
    group: string;
    names: { plural: string };
    versions: { name: string; served: boolean }[];
  };
  for (const { name } of versions.filter((v) => v.served)) {
    const path = `/apis/${group}/${name}/${names.plural}`;
    await eventually(async () => ((await api.get(path)).code === 200 ? true : undefined), path);
  }
}

/** The kind that most cases use: it has every feature of a CRD that does not need a webhook. */
export async function prepareWidgets(api: Raw): Promise<void> {
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: SCHEMA },
    subresources: {
      status: {},
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
    additionalPrinterColumns: COLUMNS,
    selectableFields: [{ jsonPath: ".spec.size" }],
  };
  const older = {
    name: "v1beta1",
    served: true,
    storage: false,
    deprecated: true,
    // Versions with one and the same schema are stored with a schema for all, where kube-apiserver takes no
    // selectableFields.
    schema: { openAPIV3Schema: { ...SCHEMA, description: "The older form." } },
  };
  const names = {
    plural: "widgets",
    singular: "widget",
    kind: "Widget",
    shortNames: ["ctr"],
    categories: ["all"],
  };
  await define(api, definition("widgets", "Widget", { names, versions: [version, older] }));
}

export function widget(name: string, spec: Json = {}, more: Json = {}): Json {
  const { metadata, ...rest } = more;
  return {
    apiVersion: WIDGETS,
    kind: "Widget",
    metadata: { name, ...(metadata as Json | undefined) },
    spec: { size: "small", ...spec },
    ...rest,
  };
}

/** The path of widgets in a case's namespace. */
export function widgets({ apis }: Context, name?: string): string {
  return apis(WIDGETS, "widgets", name);
}
