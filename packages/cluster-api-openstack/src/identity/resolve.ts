import { OpenStackClusterIdentity, type IdentityReference } from "@causeway/api";
import { CausewayError } from "@causeway/foundation";
import {
  Namespace,
  Secret,
  secretText,
  type KubeObject,
  type KubernetesClient,
  type ObjectKey,
} from "@causeway/kubernetes";
import { loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import { allowsNamespace } from "./namespaces.ts";

/** An object that says which credentials are its own. */
export type IdentityOwner = KubeObject & { readonly spec: { readonly identityRef?: IdentityReference } };

/** The objects that a reference may lead through, as informers hold them. */
export interface IdentityObjects {
  secret(key: ObjectKey): Secret | undefined;
  clusterIdentity(name: string): OpenStackClusterIdentity | undefined;
  namespace(name: string): Namespace | undefined;
}

/**
 * The cloud that an object's identityRef leads to. Throws IDENTITY_MISSING, IDENTITY_NOT_FOUND, IDENTITY_NOT_ALLOWED,
 * IDENTITY_SECRET_NOT_FOUND, IDENTITY_SECRET_INVALID.
 */
export async function resolveIdentity(
  { client, owner }: { readonly client: KubernetesClient; readonly owner: IdentityOwner },
  signal?: AbortSignal,
): Promise<CloudConfig> {
  const reference = owner.spec.identityRef;
  if (!reference)
    throw new CausewayError("IDENTITY_MISSING", `${owner.kind} ${owner.metadata.name} names no identityRef`);
  const namespace = owner.metadata.namespace ?? "";
  const options = signal ? { signal } : {};
  const shared = reference.type === "ClusterIdentity";
  const [identity, place] = shared
    ? await Promise.all([
        client.find(OpenStackClusterIdentity, { namespace: "", name: reference.name }, options),
        client.find(Namespace, { namespace: "", name: namespace }, options),
      ])
    : [];
  const key = secretKeyOf({ reference, namespace }, { clusterIdentity: () => identity, namespace: () => place });
  return readIdentity(await client.find(Secret, key, options), reference, key);
}

/** An identityRef and where it is: a plain one leads to a Secret of that namespace. */
export interface IdentityPlace {
  readonly reference: IdentityReference;
  /** Of the object that has the reference. */
  readonly namespace: string;
}

/** The Secret that a reference leads to: one of the object's namespace, or that of an OpenStackClusterIdentity. */
export function secretKeyOf(
  { reference, namespace }: IdentityPlace,
  objects: Pick<IdentityObjects, "clusterIdentity" | "namespace">,
): ObjectKey {
  const { name } = reference;
  if (reference.type !== "ClusterIdentity") return { namespace, name };
  const identity = objects.clusterIdentity(name);
  if (!identity) {
    throw new CausewayError("IDENTITY_NOT_FOUND", `OpenStackClusterIdentity ${name} of identityRef does not exist`, {
      hint: "Create it, or use a Secret.",
    });
  }
  if (!allowsNamespace(identity.spec.namespaceSelector, objects.namespace(namespace)?.metadata.labels)) {
    throw new CausewayError(
      "IDENTITY_NOT_ALLOWED",
      `OpenStackClusterIdentity ${name} does not allow objects of namespace ${namespace}`,
      { hint: "Its namespaceSelector must match the labels of the namespace." },
    );
  }
  return identity.spec.secretRef;
}

/** The cloud that a reference leads to, from its Secret, which was read before. */
export function readIdentity(
  secret: Secret | undefined,
  { cloudName, region }: IdentityReference,
  { namespace, name, ca: otherwise }: ObjectKey & { readonly ca?: string | undefined },
): CloudConfig {
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
  const ca = secretText(secret, "cacert") ?? otherwise;
  const config = loadCloudsYaml({ text, cloud: cloudName, ...(ca ? { ca } : {}) });
  return region ? { ...config, region } : config;
}
