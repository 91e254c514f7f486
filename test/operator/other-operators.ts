/** Operators of others, as a simulated cluster has them: a CRD, and what a test writes in their place. */
import {
  CustomResourceDefinition,
  type KubernetesClient,
  type KubeObject,
  type ResourceType,
} from "@causeway/kubernetes";

export type Foreign = KubeObject & { spec: Record<string, unknown> };

const namespaced = (group: string, version: string, kind: string, plural: string): ResourceType<Foreign> => ({
  group,
  version,
  kind,
  plural,
  namespaced: true,
});

export const Certificate = namespaced("cert-manager.io", "v1", "Certificate", "certificates");
export const Percona = namespaced("pxc.percona.com", "v1", "PerconaXtraDBCluster", "perconaxtradbclusters");
export const Rabbitmq = namespaced("rabbitmq.com", "v1beta1", "RabbitmqCluster", "rabbitmqclusters");

/** Installs the CRD. It keeps every field. */
export async function install(client: KubernetesClient, type: ResourceType<Foreign>): Promise<void> {
  const { group, version, kind, plural } = type;
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await client.create(CustomResourceDefinition, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [
        { name: version, served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {} } },
      ],
    },
  });
}
