import type { OpenStackCluster, OpenStackMachine } from "@causeway/api";
import type { Clock, Log } from "@causeway/foundation";
import {
  runController,
  runPipeline,
  watchInformer,
  type Change,
  type Informers,
  type ObjectKey,
  type Pipeline,
  type Shards,
} from "@causeway/kubernetes";
import { gather, type GatherFrom } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type Observed } from "./plan.ts";
import type { Step } from "./steps.ts";

type User = OpenStackCluster | OpenStackMachine;

/** Names of the OpenStackClusterIdentity that an object names, for the index "clusterIdentity". */
export function clusterIdentityOf({ spec: { identityRef } }: User): string[] {
  return identityRef?.type === "ClusterIdentity" ? [identityRef.name] : [];
}

/** What `runIdentityHolder` watches: Secrets and the objects that name them. */
export interface HolderOptions extends GatherFrom {
  readonly informers: Informers;
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

const name = "openstack-identity";

/** Keeps Secrets with credentials while objects name them. */
export function runIdentityHolder(options: HolderOptions, signal: AbortSignal): Promise<void> {
  const { informers, secrets, openStackClusters, openStackMachines, clock, log, shards } = options;
  const pipeline: Pipeline<Observed, Step, undefined> = {
    gather: (key) => gather(options, key),
    plan,
    perform: (step, observed, stop) => perform(informers.client, step, observed, stop),
    publish: async () => {},
    failed: () => ({ status: undefined, events: [] }),
  };
  const reconcile = runPipeline(pipeline, { clock, log, name });
  const sources = [
    watchInformer(secrets),
    watchInformer(openStackClusters, secretsOf),
    watchInformer(openStackMachines, secretsOf),
  ];
  const ready = (stop: AbortSignal) => informers.whenSynced(stop);
  return runController({ name, reconcile, sources, clock, log, ready, shards }, signal);
}

/** The Secret that an object names now, and the one that it named before. */
function secretsOf({ object, previous }: Change<User>): ObjectKey[] {
  return [object, ...(previous ? [previous] : [])].flatMap((user) => {
    const { namespace = "" } = user.metadata;
    return identityOf(user).length === 0 ? [] : [{ namespace, name: user.spec.identityRef?.name ?? "" }];
  });
}
