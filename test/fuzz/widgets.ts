/** A CRD with every feature that a custom resource can be attacked through; it exists from the start. */
export const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.fuzz.example" },
  spec: {
    group: "fuzz.example",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "Text", type: "string", jsonPath: ".spec.text" }],
        selectableFields: [{ jsonPath: ".spec.text" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  text: { type: "string", pattern: "^(a|b|ab)*c?$", maxLength: 100_000 },
                  count: { type: "integer", default: 1, minimum: 0 },
                  either: { "x-kubernetes-int-or-string": true },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
                  map: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                    items: {
                      type: "object",
                      required: ["key"],
                      properties: { key: { type: "string" }, value: { type: "string", default: "v".repeat(40) } },
                    },
                  },
                  unique: { type: "array", maxItems: 10_000, items: { type: "string", format: "date-time" } },
                  choices: {
                    type: "array",
                    items: {
                      type: "object",
                      "x-kubernetes-preserve-unknown-fields": true,
                      anyOf: [{ required: ["a"] }, { required: ["b"] }, { not: { required: ["c"] } }],
                    },
                  },
                },
              },
              status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            },
          },
        },
      },
    ],
  },
} as const;
