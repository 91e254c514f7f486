import { messageOf, type Clock } from "@causeway/foundation";
import { secretText, type Secret, type KubeObject } from "@causeway/kubernetes";
import type { ControlPlaneSpec, NodeClock } from "../runtime.ts";
import type { ServiceCluster } from "./service-cluster.ts";
import { neighboursOf, volumesOf } from "./ceilings.ts";
import type { Observed } from "./observed.ts";
import { idOf } from "./live.ts";
import { capacityOf, shareFor, sharesWanted, type ShareRequest } from "./storage/shares.ts";
import type { PodsSettings } from "./options.ts";
import { keyspaceOf } from "./keyspace.ts";
import type { MigrationMemory } from "./migration/memory.ts";
import { isBetween, isCopying, servedFrom, servedSpec } from "./migration/served.ts";
import { namespaceNameOf } from "./names.ts";
import { isResizing } from "./plan-members.ts";
import type { EtcdMembers } from "./pool/membership.ts";
import type { PoolState } from "./pool/state.ts";
import { budgetAnnotation, poolAnnotation, poolNamespaceOf } from "./tenant.ts";

/** Where the state of control planes in a service cluster is read. */
export interface GatherFrom {
  readonly cluster: ServiceCluster;
  readonly settings: PodsSettings;
  /** The shared etcd in a namespace. Default: that of this management cluster. */
  readonly pool: (namespace: string | undefined) => PoolState | undefined;
  /** Every control plane that was requested of this process. */
  readonly requested: () => readonly ControlPlaneSpec[];
  /** Those of all processes: they have one etcd. */
  readonly sharing: () => readonly ShareRequest[];
  /** Namespaces whose data this process copies now. Default: none. */
  readonly copied?: () => readonly string[];
  readonly members: Pick<EtcdMembers, "read">;
  readonly clock: Clock;
  /** Of these nodes, those whose clocks are wrong. Undefined: nothing is known yet. */
  readonly clocks?: (nodes: readonly string[]) => readonly NodeClock[] | undefined;
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
  readonly migration?: MigrationMemory | undefined;
}

/** From the caches of the service cluster; only the Secret with cloud.conf is read from a server. */
export async function gather(from: GatherFrom, tenant: Tenant, signal: AbortSignal): Promise<Observed> {
  const { cluster, settings, readSecret } = from;
  const { spec: requested, namespaceName, joinedAt, hasEtcdUser, restored } = tenant;
  const objects = cluster.objects.flatMap((informer) => informer.list(namespaceName));
  const secretName = requested.pods?.cloudConfigSecret;
  const secret =
    secretName === undefined
      ? undefined
      : await readSecret(requested.id.slice(0, requested.id.indexOf(".")), secretName, signal);
  const live = new Map(objects.map((object) => [idOf(object), object]));
  const namespace = cluster.namespaces.get({ namespace: "", name: namespaceName });
  const spec = servedSpec(requested, { namespace, live });
  const pods = cluster.pods.list(namespaceName);
  const clocks = from.clocks?.(pods.flatMap((pod) => pod.spec.nodeName ?? []));
  const poolNamespace = namespace?.metadata.annotations?.[poolAnnotation];
  return {
    spec,
    requested,
    migration: tenant.migration,
    otherCopies: otherCopiesOf(from, { namespaceName, namespace, live }),
    isOtherCopied: (from.copied?.() ?? []).some((name) => name !== namespaceName),
    settings,
    namespaceName,
    namespace,
    live,
    pods,
    ...(clocks === undefined ? {} : { clocks }),
    ...(await membershipOf(from, { spec, live, pods, namespaceName }, signal)),
    cloudConfig: secretText(secret, "cloud.conf"),
    joinedAt,
    ...(poolNamespace === undefined ? {} : { poolNamespace }),
    pool: from.pool(poolNamespace),
    hasEtcdUser,
    restored,
    otherControlPlanes: neighboursOf(spec.id, {
      namespaces: cluster.namespaces.list(),
      requested: from.requested().map((each) => volumesOf({ spec: each })),
      etcdOf: (name) => objectNamed(cluster, name, "StatefulSet/etcd"),
    }),
    share: shareOf(from, spec.id, namespace),
  };
}

/** Others that are copied now. Only one that moves itself needs to know them. */
function otherCopiesOf(
  { cluster, settings, requested }: GatherFrom,
  { namespaceName, ...from }: Pick<Observed, "namespaceName" | "namespace" | "live">,
): string[] {
  if (!isBetween(from)) return [];
  const names = requested().map(({ id }) => namespaceNameOf(cluster, settings.owner, id));
  return names.filter((name) => name !== namespaceName && isCopying(servedFrom(cluster, name)));
}

/** In the shared etcd of another management cluster, which knows what is left of it: what was granted. */
function shareOf(
  { cluster, settings, sharing }: GatherFrom,
  id: string,
  namespace: ReturnType<ServiceCluster["namespaces"]["get"]>,
): number {
  const { owner } = settings;
  const annotations = namespace?.metadata.annotations ?? {};
  const { [poolAnnotation]: pool = poolNamespaceOf(owner) } = annotations;
  if (pool !== poolNamespaceOf(owner)) return Number(annotations[budgetAnnotation] ?? 0);
  const wanted = sharesWanted({ owner, namespaces: cluster.namespaces.list(), requested: sharing() });
  return shareFor(id, wanted, capacityOf(settings));
}

/** Milliseconds for all of it: one etcd that does not answer holds back none of the others. */
const READ_WITHIN = 3_000;

/** Reads the members of an etcd. If it does not respond, its members remain unchanged until the next read. */
async function membershipOf(
  { members, clock }: GatherFrom,
  of: Pick<Observed, "spec" | "live" | "pods" | "namespaceName">,
  signal: AbortSignal,
): Promise<Pick<Observed, "membership" | "membershipFailure">> {
  const keyspace = isResizing(of) ? keyspaceOf({ ...of, pool: undefined }) : undefined;
  if (keyspace === undefined) return { membership: undefined };
  const [reading, waiting] = [new AbortController(), new AbortController()];
  const late = clock.sleep(READ_WITHIN, AbortSignal.any([signal, waiting.signal])).then(
    () => reading.abort(new Error(`no answer within ${READ_WITHIN / 1000} s`)),
    () => {},
  );
  try {
    return { membership: await members.read(keyspace.access, AbortSignal.any([signal, reading.signal])) };
  } catch (error) {
    if (signal.aborted) throw error;
    return {
      membership: undefined,
      membershipFailure: messageOf(reading.signal.aborted ? reading.signal.reason : error),
    };
  } finally {
    waiting.abort();
    await late;
  }
}

function objectNamed({ objects }: ServiceCluster, namespace: string, id: string): KubeObject | undefined {
  return objects.flatMap((informer) => informer.list(namespace)).find((object) => idOf(object) === id);
}
