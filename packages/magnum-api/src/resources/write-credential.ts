import { credentialsManifest, type MagnumCluster } from "@causeway/api";
import { isAlreadyExists, isConflict, ownerReference, Secret } from "@causeway/kubernetes";
import { renderCloudsYaml } from "@causeway/openstack";
import { credentialData, readHeld, type ClusterCredential, type HeldCredential } from "../cluster/credentials.ts";
import { CLOUD, magnumLabels } from "../cluster/names.ts";
import type { Api } from "../call/call.ts";
import { conflict } from "../wire/error.ts";

/** A credential, and the one that the cluster had when it was made. */
export interface CredentialWrite {
  readonly before: ClusterCredential | undefined;
  readonly made: ClusterCredential;
}

const ATTEMPTS = 5;

/**
 * Writes a cluster's credential in place of that which it replaces, and of no other: of two requests at the same time,
 * in one process or in two, one is refused. @throws MagnumError 409
 */
export async function writeCredential(
  api: Api,
  cluster: MagnumCluster,
  { before, made }: CredentialWrite,
  signal: AbortSignal,
): Promise<void> {
  const { client } = api.store;
  const wanted = secretOf(api, cluster, made);
  let failure: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const held = await readHeld(client, cluster, signal);
    // The answer to the write was lost.
    if (held.credential?.id === made.id) return;
    if (held.credential?.id !== before?.id)
      throw conflict(`The credentials of cluster ${cluster.spec.name} were renewed by another request meanwhile.`);
    if (failure !== undefined && !isConflict(failure) && !isAlreadyExists(failure)) throw failure;
    try {
      await (held.secret === undefined
        ? client.create(Secret, wanted, { signal })
        : client.update(Secret, merged(held.secret, wanted), { signal }));
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Whether the cluster surely has another credential than this one. */
export async function isUnused(api: Api, cluster: MagnumCluster, made: ClusterCredential): Promise<boolean> {
  const held = await readHeld(api.store.client, cluster, AbortSignal.timeout(READ)).catch(() => undefined);
  return held !== undefined && held.credential?.id !== made.id;
}

/** Milliseconds, whether or not the client still waits. */
const READ = 10_000;

function secretOf(api: Api, cluster: MagnumCluster, made: ClusterCredential): Secret {
  const { spec, metadata } = cluster;
  const config = {
    name: CLOUD,
    authUrl: api.keystone.authUrl,
    auth: { type: "application_credential", id: made.id, secret: made.secret } as const,
    ...(api.region === undefined ? {} : { region: api.region }),
    ...(api.keystone.certificateAuthority === undefined ? {} : { tls: { ca: api.keystone.certificateAuthority } }),
  };
  const place = {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    labels: { [magnumLabels.uuid]: spec.uuid },
    owner: ownerReference(cluster),
  };
  const secret = credentialsManifest(place, renderCloudsYaml(config)).object as Secret;
  return { ...secret, data: { ...secret.data, ...credentialData(made) } };
}

/** The Secret as it is, of the same revision, with what is wanted of it. */
function merged({ metadata, data, ...rest }: NonNullable<HeldCredential["secret"]>, wanted: Secret): Secret {
  const owners = (metadata.ownerReferences ?? []).filter(
    ({ uid }) => !(wanted.metadata.ownerReferences ?? []).some((own) => own.uid === uid),
  );
  return {
    ...rest,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...wanted.metadata.labels },
      ownerReferences: [...owners, ...(wanted.metadata.ownerReferences ?? [])],
    },
    data: { ...data, ...wanted.data },
  };
}
