import type { Kind } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";

/** Pools of machines of a provider that only tests have, and a class of workers made of them. */

const group = "infrastructure.cluster.x-k8s.io";
const schema = {
  type: "object",
  properties: {
    apiVersion: { type: "string" },
    kind: { type: "string" },
    metadata: { type: "object" },
    spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};
const stub = (kind: string): Kind<KubeObject> =>
  ({
    group,
    version: "v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: true,
    schema,
    shortNames: [],
    columns: [],
    labels: {},
    versions: [],
  }) as unknown as Kind<KubeObject>;

/** The pool, and its template. */
export const poolKinds: readonly Kind<KubeObject>[] = [stub("StubMachinePool"), stub("StubMachinePoolTemplate")];

export function poolTemplate(): KubeObject & { spec: object } {
  return {
    apiVersion: `${group}/v1`,
    kind: "StubMachinePoolTemplate",
    metadata: { name: "class-pool" },
    spec: { template: { spec: { size: 1 } } },
  };
}

/** An entry of `spec.workers.machinePools` of a ClusterClass. */
export function poolClass() {
  return {
    class: "default-pool",
    bootstrap: {
      templateRef: {
        apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
        kind: "KubeadmConfigTemplate",
        name: "class-bootstrap",
      },
    },
    infrastructure: {
      templateRef: { apiVersion: `${group}/v1`, kind: "StubMachinePoolTemplate", name: "class-pool" },
    },
  } as {
    class: string;
    bootstrap: { templateRef: { apiVersion: string; kind: string; name: string } };
    infrastructure: { templateRef: { apiVersion: string; kind: string; name: string } };
    failureDomains?: string[];
    minReadySeconds?: number;
    deletion?: { nodeDrainTimeoutSeconds?: number; nodeDeletionTimeoutSeconds?: number };
    metadata?: { labels?: Record<string, string> };
  };
}
