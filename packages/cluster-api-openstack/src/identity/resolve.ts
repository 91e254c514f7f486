import type { IdentityReference } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import { Secret, secretText, type KubeObject, type KubernetesClient } from "@causeway/kubernetes";
import { loadCloudsYaml, type CloudConfig } from "@causeway/openstack";

/** An object that says which credentials are its own. */
export type IdentityOwner = KubeObject & { readonly spec: { readonly identityRef?: IdentityReference } };

/**
 * The cloud that an object's identityRef leads to, read from its Secret. Throws IDENTITY_MISSING,
 * IDENTITY_SECRET_NOT_FOUND, IDENTITY_SECRET_INVALID, IDENTITY_TYPE_NOT_SERVED.
 */
export async function resolveIdentity(
  { client, owner }: { readonly client: KubernetesClient; readonly owner: IdentityOwner },
  signal?: AbortSignal,
): Promise<CloudConfig> {
  const reference = owner.spec.identityRef;
  if (!reference)
    throw new CausewayError("IDENTITY_MISSING", `${owner.kind} ${owner.metadata.name} names no identityRef`);
  const key = { namespace: owner.metadata.namespace ?? "", name: reference.name };
  const secret = await client.find(Secret, key, signal ? { signal } : {});
  return readIdentity(secret, reference, key.namespace);
}

/** The cloud that a reference leads to, from a Secret read before. */
export function readIdentity(secret: Secret | undefined, reference: IdentityReference, namespace: string): CloudConfig {
  const { name, cloudName, region, type } = reference;
  if (type === "ClusterIdentity") {
    throw new CausewayError(
      "IDENTITY_TYPE_NOT_SERVED",
      "identityRef.type ClusterIdentity is not supported; use a Secret",
    );
  }
  if (!secret) {
    throw new CausewayError("IDENTITY_SECRET_NOT_FOUND", `Secret ${namespace}/${name} of identityRef does not exist`, {
      hint: "Create it with the key clouds.yaml.",
    });
  }
  const text = secretText(secret, "clouds.yaml");
  if (text === undefined) {
    throw new CausewayError(
      "IDENTITY_SECRET_INVALID",
      `Secret ${namespace}/${name} of identityRef has no key clouds.yaml`,
    );
  }
  const ca = secretText(secret, "cacert");
  const config = loadCloudsYaml({ text, cloud: cloudName, ...(ca ? { ca } : {}) });
  return region ? { ...config, region } : config;
}
