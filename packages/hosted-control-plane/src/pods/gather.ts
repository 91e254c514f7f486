import { secretText, type Secret, type KubeObject } from "@causeway/kubernetes";
import type { ControlPlaneSpec } from "../runtime.ts";
import type { ServiceCluster } from "./service-cluster.ts";
import { neighboursOf, volumesOf } from "./ceilings.ts";
import type { Observed } from "./observed.ts";
import { idOf } from "./live.ts";
import { capacityOf, shareFor, sharesWanted, type ShareRequest } from "./storage/shares.ts";
import type { PodsSettings } from "./options.ts";
import { keyspaceOf } from "./keyspace.ts";
import { isResized } from "./plan-members.ts";
import type { EtcdMembers, EtcdMembership } from "./pool/membership.ts";
import type { PoolState } from "./pool/state.ts";

/** Where the state of control planes in a service cluster is read. */
export interface GatherFrom {
  readonly cluster: ServiceCluster;
  readonly settings: PodsSettings;
  readonly pool: () => PoolState | undefined;
  /** Every control plane that was requested of this process. */
  readonly requested: () => readonly ControlPlaneSpec[];
  /** Those of all processes: they have one etcd. */
  readonly sharing: () => readonly ShareRequest[];
  readonly members: Pick<EtcdMembers, "read">;
  /** Reads a Secret of the management cluster. */
  readonly readSecret: (namespace: string, name: string, signal: AbortSignal) => Promise<Secret | undefined>;
}

/** What this process remembers of one control plane. */
export interface Tenant {
  readonly spec: ControlPlaneSpec;
  readonly namespaceName: string;
  readonly joinedAt: string | undefined;
  readonly hasEtcdUser: boolean;
  readonly restored: boolean;
}

/** From the caches of the service cluster; only the Secret with cloud.conf is read from a server. */
export async function gather(from: GatherFrom, tenant: Tenant, signal: AbortSignal): Promise<Observed> {
  const { cluster, settings, readSecret } = from;
  const { spec, namespaceName, joinedAt, hasEtcdUser, restored } = tenant;
  const objects = cluster.objects.flatMap((informer) => informer.list(namespaceName));
  const secretName = spec.pods?.cloudConfigSecret;
  const secret =
    secretName === undefined ? undefined : await readSecret(spec.id.slice(0, spec.id.indexOf(".")), secretName, signal);
  const live = new Map(objects.map((object) => [idOf(object), object]));
  const pods = cluster.pods.list(namespaceName);
  return {
    spec,
    settings,
    namespaceName,
    namespace: cluster.namespaces.get({ namespace: "", name: namespaceName }),
    live,
    pods,
    membership: await membershipOf(from, { spec, live, pods, namespaceName }, signal),
    cloudConfig: secretText(secret, "cloud.conf"),
    joinedAt,
    pool: from.pool(),
    hasEtcdUser,
    restored,
    neighbours: neighboursOf(spec.id, {
      namespaces: cluster.namespaces.list(),
      requested: from.requested().map((each) => volumesOf({ spec: each })),
      etcdOf: (name) => objectNamed(cluster, name, "StatefulSet/etcd"),
    }),
    share: shareFor(
      spec.id,
      sharesWanted({ owner: settings.owner, namespaces: cluster.namespaces.list(), requested: from.sharing() }),
      capacityOf(settings),
    ),
  };
}

/** An etcd that does not answer is looked at again: its members are left as they are meanwhile. */
async function membershipOf(
  { members }: GatherFrom,
  of: Pick<Observed, "spec" | "live" | "pods" | "namespaceName">,
  signal: AbortSignal,
): Promise<EtcdMembership | undefined> {
  if (!isResized(of)) return undefined;
  const keyspace = keyspaceOf({ ...of, pool: undefined });
  return keyspace && members.read(keyspace.access, signal).catch(() => undefined);
}

function objectNamed({ objects }: ServiceCluster, namespace: string, id: string): KubeObject | undefined {
  return objects.flatMap((informer) => informer.list(namespace)).find((object) => idOf(object) === id);
}
