import type { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import type { Clock, Log } from "@causeway/foundation";
import {
  addFinalizer,
  removeFinalizer,
  runController,
  Secret,
  watchInformer,
  type Change,
  type Informer,
  type Informers,
  type ObjectKey,
  type Shards,
} from "@causeway/kubernetes";

/** Keeps a Secret with credentials as long as something needs them to be deleted. */
export const identityFinalizer = "infrastructure.cluster.x-k8s.io/openstack-identity";

type User = OpenStackCluster | OpenStackMachine;

/** Names of the OpenStackClusterIdentity that an object names, for the index "clusterIdentity". */
export function clusterIdentityOf({ spec: { identityRef } }: User): string[] {
  return identityRef?.type === "ClusterIdentity" ? [identityRef.name] : [];
}

/** What `runIdentityHolder` watches: Secrets and the objects that name them. */
export interface HolderOptions {
  readonly informers: Informers;
  readonly secrets: Informer<Secret>;
  /** Both indexed by "identity": "namespace/name" of the Secret. */
  readonly openStackClusters: Informer<OpenStackCluster>;
  readonly openStackMachines: Informer<OpenStackMachine>;
  readonly clock: Clock;
  readonly log: Log;
  readonly shards?: Shards | undefined;
}

/**
 * "namespace/name" of the Secret that an object names, for the index "identity". The Secret of an
 * OpenStackClusterIdentity is in a namespace of its own, which is not deleted with a tenant's.
 */
export function identityOf({ metadata, spec: { identityRef } }: User): string[] {
  if (identityRef === undefined || identityRef.type === "ClusterIdentity") return [];
  return [`${metadata.namespace ?? ""}/${identityRef.name}`];
}

/**
 * Deleting a namespace deletes its credentials too, in any order, and without them the controllers could not delete the
 * cloud's resources. So each Secret that an object names is held until the last such object is gone.
 */
export function runIdentityHolder(options: HolderOptions, signal: AbortSignal): Promise<void> {
  const { informers, secrets, openStackClusters, openStackMachines, clock, log, shards } = options;
  const { client } = informers;
  const reconcile = async (key: ObjectKey, stop: AbortSignal) => {
    const secret = secrets.get(key);
    if (!secret) return;
    const id = `${key.namespace}/${key.name}`;
    const used =
      openStackClusters.byIndex("identity", id).length + openStackMachines.byIndex("identity", id).length > 0;
    const held = secret.metadata.finalizers?.includes(identityFinalizer) === true;
    const change = { finalizer: identityFinalizer, signal: stop };
    if (used && !held && secret.metadata.deletionTimestamp === undefined)
      await addFinalizer(client, Secret, secret, change);
    if (!used && held) await removeFinalizer(client, Secret, secret, change);
  };
  const sources = [
    watchInformer(secrets),
    watchInformer(openStackClusters, secretsOf),
    watchInformer(openStackMachines, secretsOf),
  ];
  const ready = (stop: AbortSignal) => informers.whenSynced(stop);
  return runController({ name: "openstack-identity", reconcile, sources, clock, log, ready, shards }, signal);
}

/** The Secret that an object names now, and the one that it named before. */
function secretsOf({ object, previous }: Change<User>): ObjectKey[] {
  return [object, ...(previous ? [previous] : [])].flatMap((user) => {
    const { namespace = "" } = user.metadata;
    return identityOf(user).length === 0 ? [] : [{ namespace, name: user.spec.identityRef?.name ?? "" }];
  });
}
