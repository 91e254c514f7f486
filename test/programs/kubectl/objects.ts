/** What the cases about kubectl are about. */
type Json = Record<string, unknown>;

export function configMap(name: string, data: Json, more: Json = {}): Json {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...more }, data };
}

export function deployment(name: string, replicas = 1): Json {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "main:1" }] } },
    },
  };
}

export function pod(name: string, more: Json = {}): Json {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: name }, ...more },
    spec: { containers: [{ name: "main", image: "main:1" }] },
  };
}

/** A kind with a status, a scale and columns, in a group of its own. */
export const GROUP = "toys.example.com";

export function definition(group: string): Json {
  const text = { type: "string" };
  const whole = { type: "integer" };
  const spec = {
    type: "object",
    description: "What is wanted of the gizmo.",
    required: ["color"],
    properties: {
      color: { ...text, description: "The color.", enum: ["red", "blue"] },
      size: { ...whole, default: 1, maximum: 9 },
      parts: { type: "array", items: { type: "object", properties: { name: text, weight: whole } } },
    },
  };
  const status = { type: "object", properties: { phase: text, size: whole, selector: text } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gizmos.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "gizmos", singular: "gizmo", kind: "Gizmo", shortNames: ["giz"], categories: ["all"] },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", required: ["spec"], properties: { spec, status } } },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: ".spec.size",
              statusReplicasPath: ".status.size",
              labelSelectorPath: ".status.selector",
            },
          },
          additionalPrinterColumns: [
            { name: "Color", type: "string", jsonPath: ".spec.color" },
            { name: "Size", type: "integer", jsonPath: ".spec.size", priority: 1 },
          ],
        },
      ],
    },
  };
}

export function gizmo(group: string, name: string, spec: Json = { color: "red" }): Json {
  return { apiVersion: `${group}/v1`, kind: "Gizmo", metadata: { name }, spec };
}
