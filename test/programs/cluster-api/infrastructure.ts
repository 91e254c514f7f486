/**
 * An infrastructure provider that is played by the test: kinds that keep the contract of v1beta2, with nothing behind
 * them.
 */
type Json = Record<string, unknown>;

export const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io";

const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function definition(kind: string): Json {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${INFRASTRUCTURE}`,
      labels: { "cluster.x-k8s.io/v1beta2": "v1beta2", "clusterctl.cluster.x-k8s.io": "" },
    },
    spec: {
      group: INFRASTRUCTURE,
      scope: "Namespaced",
      names: { plural, singular: kind.toLowerCase(), kind, categories: ["cluster-api"] },
      versions: [
        {
          name: "v1beta2",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } },
          subresources: { status: {} },
        },
      ],
    },
  };
}

export const infrastructure: readonly Json[] = [
  "StubCluster",
  "StubClusterTemplate",
  "StubMachine",
  "StubMachineTemplate",
].map(definition);

export function stub(kind: string, name: string, spec: Json = {}): Json {
  return { apiVersion: `${INFRASTRUCTURE}/v1beta2`, kind, metadata: { name }, spec };
}
