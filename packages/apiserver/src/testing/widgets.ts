/** A CustomResourceDefinition with every feature that the tests use. */
export const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [{ name: "Replicas", type: "integer", jsonPath: ".spec.replicas" }],
        selectableFields: [{ jsonPath: ".spec.size" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  replicas: { type: "integer", default: 1, minimum: 0, description: "How many there are to be." },
                  size: { type: "string", enum: ["small", "big"] },
                },
              },
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
          },
        },
      },
      {
        name: "v1beta1",
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
} as const;

export function widget(name: string, spec: Readonly<Record<string, unknown>> = { size: "small" }) {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name }, spec };
}
