import {
  CustomResourceDefinition,
  type KubernetesClient,
  type KubeObject,
  type ResourceType,
} from "@causeway/kubernetes";
import { Gateway, GatewayClass, HTTPRoute, ReferenceGrant, refusedRoutes, TLSRoute } from "../objects/gateway.ts";

/** Kinds at the versions of an older release: the newest ones are tested with the real CRDs. */
export const OldTlsRoute = { ...TLSRoute, version: "v1alpha2" };
export const OldReferenceGrant = { ...ReferenceGrant, version: "v1beta1" };

/** CRDs of the Gateway API's names without its schemas: what the tests write is what they read. */
export async function installGatewayKinds(client: KubernetesClient): Promise<void> {
  const kinds = [GatewayClass, Gateway, HTTPRoute, OldTlsRoute, OldReferenceGrant, ...refusedRoutes];
  const all = kinds as readonly ResourceType<KubeObject>[];
  for (const type of all) {
    const { group, version, kind, plural, namespaced } = type;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await client.create(CustomResourceDefinition, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: {
        name: `${plural}.${group}`,
        annotations: { "api-approved.kubernetes.io": "https://github.com/kubernetes-sigs/gateway-api/pull/1" },
      },
      spec: {
        group,
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        scope: namespaced ? "Namespaced" : "Cluster",
        versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
      },
    } as CustomResourceDefinition);
    for (let i = 0; i < 500; i += 1) {
      const ready = await client.list(type).catch(() => undefined);
      if (ready) break;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}
