import { canonicalJson, CausewayError, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  type Namespace,
  runController,
  watchInformer,
  type Change,
  type Informers,
  type ObjectKey,
  type Informer,
  type Secret,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import type { HostedControlPlane } from "@causeway/api";
import { createNodeClocks } from "./clocks/clocks.ts";
import type { Backups } from "../backup/backups.ts";
import { createBackupController } from "../backup/controller.ts";
import { keyOfId, type ControlPlaneRuntime, type ControlPlaneSpec, type ControlPlaneState } from "../runtime.ts";
import { gather } from "./gather.ts";
import { joinMachines } from "./join-machines.ts";
import { unseen, type Known } from "./known.ts";
import { createHandOverController } from "./hand-over/controller.ts";
import { isHandedOver, isOwnedBy } from "./hand-over/request.ts";
import { namespaceNameOf } from "./names.ts";
import { endCopy, type Migrations } from "./migration/perform-migration.ts";
import { migrationFailureAfter } from "./migration/plan-migration.ts";
import { servedFrom, usesPool } from "./migration/served.ts";
import { mayBeFrozen, withShortPauses } from "./migration/urgent.ts";
import type { Observed } from "./observed.ts";
import type { PodsSettings } from "./options.ts";
import { perform, type PerformContext } from "./perform.ts";
import { backupTarget } from "./keyspace.ts";
import { plan } from "./plan.ts";
import { memberProgress } from "./plan-members.ts";
import { createEtcdAdmin, type EtcdAdmin } from "../etcd/etcd-admin.ts";
import { createEtcdMembers, type EtcdMembers } from "./pool/membership.ts";
import { createPools } from "./pool/pools.ts";
import { idOfObject, poolUser, shareRequest } from "./pool/users.ts";
import { removeControlPlane } from "./removal.ts";
import { openServiceCluster, type ServiceCluster } from "./service-cluster.ts";
import { failedState, leftover, requestedState, restoreFailureAfter, withBackup } from "./states.ts";
import type { Step } from "./steps.ts";
import { idAnnotation, ownerAnnotation, poolAnnotation, poolNamespaceOf } from "./tenant.ts";
import { outputOf } from "./output.ts";
import { tunnelAccess } from "./tunnel-access.ts";

/** The service cluster, images, sizes and etcd of the control planes. */
export interface PodsRuntimeOptions {
  /** Of the service cluster. */
  readonly informers: Informers;
  readonly settings: PodsSettings;
  /** Reads a Secret of the management cluster. */
  readonly readSecret: (namespace: string, name: string, signal: AbortSignal) => Promise<Secret | undefined>;
  /** Makes users of the shared etcd. Default: by its HTTP API. */
  readonly etcd?: EtcdAdmin;
  /** Adds and removes members of etcds. Default: by their HTTP API. */
  readonly members?: EtcdMembers;
  /** Where control planes are backed up and restored from. Undefined: none is. */
  readonly backups?: Backups;
  /** The work is shared with other processes, by namespaces of the management cluster. Default: this one has all. */
  readonly shared?: SharedControlPlanes | undefined;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Control planes that this process has a share of. */
export interface SharedControlPlanes {
  readonly shards: Shards;
  /** Those of all processes: the shared etcd serves them all. */
  readonly controlPlanes: Informer<HostedControlPlane>;
}

/** Control planes as pods of a service cluster. */
export interface PodsRuntime extends ControlPlaneRuntime {
  /** Keeps the control planes as requested until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Control planes as pods of a service cluster: each has a namespace with an etcd, API servers, a controller manager and
 * a scheduler. What was requested is remembered as long as the process runs; a new process receives each request again
 * for each control plane.
 */
export function createPodsRuntime(options: PodsRuntimeOptions): PodsRuntime {
  const { informers, settings, readSecret, shared, clock, log, metrics } = options;
  const shards = shared?.shards;
  const cluster = openServiceCluster(informers);
  const known = new Map<string, Known>();
  /** Their users and keys are being removed: they are not handed over before that ended. */
  const leaving = new Set<string>();
  /** Those whose namespace was deleted and may still be there. */
  const removing = new Set<string>();
  const listeners = new Set<(id: string) => void>();
  let wake: (key: ObjectKey) => void = () => {};
  const namespaceOfId = (id: string): string => namespaceNameOf(cluster, settings.owner, id);
  const report = (id: string): void => {
    for (const listener of listeners) listener(id);
  };
  const onNamespace = ({ type, object: { metadata }, previous }: Change<Namespace>): void => {
    const id = metadata.annotations?.[idAnnotation];
    if (id === undefined) return;
    const isOurs = metadata.annotations?.[ownerAnnotation] === settings.owner;
    // It was handed over: it is requested of another management cluster from now on.
    if (!isOurs && previous && isOwnedBy(previous, settings.owner, id)) {
      known.delete(id);
      endCopy(migrations, metadata.name);
    }
    if (!isOurs) return;
    // Those that are removed are not known any more, and wait for this.
    if (type === "deleted") return report(id);
    // It was created by a request that was under way when it was removed: it is to be removed again.
    if (metadata.deletionTimestamp === undefined && !known.has(id) && removing.delete(id)) report(id);
  };
  const etcd = options.etcd ?? createEtcdAdmin({ clock });
  const members = options.members ?? createEtcdMembers({ clock });
  const pools = createPools({
    cluster,
    settings,
    etcd,
    clock,
    log,
    ...(metrics ? { metrics } : {}),
    shards,
    users: () => shared?.controlPlanes.list().flatMap(usersHere) ?? requested().filter(usesOwnPool),
    changed: () => {
      for (const [id, { spec }] of known) if (isInPool(spec)) wake(keyOfId(id));
    },
  });
  const nodeClocks = createNodeClocks({
    client: informers.client,
    changed: () => {
      for (const id of known.keys()) wake(keyOfId(id));
    },
    metrics,
    clock,
    log,
  });
  const migrations: Pick<Migrations, "copies"> = { copies: new Map() };
  const isInPool = (spec: ControlPlaneSpec): boolean => usesPool(spec, servedFrom(cluster, namespaceOfId(spec.id)));
  const poolOfId = (id: string): string | undefined =>
    cluster.namespaces.get({ namespace: "", name: namespaceOfId(id) })?.metadata.annotations?.[poolAnnotation];
  const ownPool = poolNamespaceOf(settings.owner);
  const isHere = (id: string): boolean => (poolOfId(id) ?? ownPool) === ownPool;
  const usesOwnPool = (spec: ControlPlaneSpec): boolean => isInPool(spec) && isHere(spec.id);
  const usersHere = (object: HostedControlPlane) => (isHere(idOfObject(object)) ? poolUser(object) : []);
  const usingFor = ({ spec, requested: request }: Observed): PerformContext => ({
    client: informers.client,
    clock,
    etcd,
    members,
    ...(options.backups ? { backups: options.backups } : {}),
    join: (step, signal) => joinMachines(spec, step, signal),
    migrations: {
      ...migrations,
      remember(change) {
        const tenant = known.get(request.id);
        if (tenant === undefined) return;
        const isSame = tenant.migration?.attempt === change.attempt;
        tenant.migration = { ...(isSame ? tenant.migration : {}), ...change };
      },
    },
    done(step) {
      const tenant = known.get(spec.id);
      if (tenant && step.type === "create-join-objects") tenant.joinedAt = step.mark;
      if (tenant && step.type === "ensure-etcd-user") tenant.hasEtcdUser = true;
      if (tenant && step.type === "restore") tenant.restored = true;
    },
  });
  const requested = () => [...known.values()].map(({ spec }) => spec);
  const sharing = () => shared?.controlPlanes.list().flatMap(shareRequest) ?? requested();
  const from = {
    cluster,
    settings,
    readSecret,
    requested,
    sharing,
    members,
    clock,
    clocks: (nodes: readonly string[]) => nodeClocks.of(nodes),
    pool: (namespace: string | undefined) => pools.state(namespace),
    copied: () => [...migrations.copies.keys()],
  };
  const check = async (tenant: Known, signal: AbortSignal): Promise<Observed> => {
    tenant.namespaceName = namespaceOfId(tenant.spec.id);
    const observed = await gather(from, tenant, signal);
    const seen = memberProgress(observed);
    if (tenant.members.seen !== seen) tenant.members = { seen, since: clock.now() };
    const { restoreFailure } = tenant;
    const isHeld = restoreFailure?.of === canonicalJson(tenant.spec);
    return { ...observed, membersSince: tenant.members.since, ...(isHeld ? { restoreFailure } : {}) };
  };
  const pipeline = {
    gather: async ({ name: id }: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> => {
      const tenant = known.get(id);
      return tenant && check(tenant, signal);
    },
    plan,
    perform: (step: Step, observed: Observed, signal: AbortSignal) =>
      perform(usingFor(observed), step, observed, signal),
    async publish({ spec: { id } }: Observed, planned: ControlPlaneState): Promise<void> {
      const tenant = known.get(id);
      if (tenant === undefined) return;
      const state = withBackup(planned, tenant.backup);
      if (state.ready && !tenant.state.ready) backupController.wake(id);
      const same = canonicalJson(tenant.state) === canonicalJson(state);
      tenant.state = state;
      if (!same) report(id);
    },
    failed({ requested: request }: Observed, planned: { status: ControlPlaneState }, step: Step, error: unknown) {
      const status = failedState(planned.status, step, error);
      const tenant = known.get(request.id);
      const failure = restoreFailureAfter({ step, error, problem: status.problem }, clock.now());
      if (tenant && failure) tenant.restoreFailure = { ...failure, of: canonicalJson(request) };
      if (tenant) tenant.migration = migrationFailureAfter(tenant.migration, step, error);
      return { status, events: [] };
    },
    epochOf: ({ requested: request }: Observed) => canonicalJson(request),
  };
  const backupController = createBackupController({
    name: "pods-backup",
    backups: options.backups,
    observe: async (id, signal) => {
      const tenant = known.get(id);
      const observed = tenant && (await check(tenant, signal));
      return observed && !isHandedOver(observed) ? backupTarget(observed) : undefined;
    },
    ids: () => [...known.keys()],
    shards,
    publish(id, backup) {
      const tenant = known.get(id);
      if (tenant === undefined || canonicalJson(tenant.backup ?? null) === canonicalJson(backup ?? null)) return;
      tenant.backup = backup;
      tenant.state = withBackup(tenant.state, backup);
      report(id);
    },
    clock,
    log,
    ...(metrics ? { metrics } : {}),
  });
  return {
    async ensure(spec, signal) {
      await informers.whenSynced(signal);
      const { id } = spec;
      // What is known of a namespace that was given up is old when it comes back.
      if (shards?.owns(keyOfId(id).namespace) === false)
        throw new CausewayError("KUBERNETES_SHARD_LOST", `${id} now belongs to another process`);
      const before = known.get(id);
      removing.delete(id);
      if (before) before.spec = spec;
      else {
        const namespaceName = namespaceOfId(id);
        const state = requestedState(spec);
        const fresh: Known = { spec, namespaceName, state, ...unseen };
        known.set(id, fresh);
        // What an earlier process started serves: it must not be reported as starting.
        const planned = plan(await check(fresh, signal), clock.now());
        if (fresh.state === state) fresh.state = planned.status;
      }
      const now = known.get(id) as Known;
      now.state = { ...now.state, requested: spec };
      if (isInPool(spec)) pools.wake();
      wake(keyOfId(id));
      backupController.wake(id);
      return now.state;
    },
    async observe(id, signal) {
      await informers.whenSynced(signal);
      const namespace = cluster.namespaces.get({ namespace: "", name: namespaceOfId(id) });
      const isOurs = namespace !== undefined && isOwnedBy(namespace, settings.owner, id);
      if (!isOurs) removing.delete(id);
      const isGoing = removing.has(id) || namespace?.metadata.deletionTimestamp !== undefined;
      if (isOurs && isGoing && !known.has(id)) return { ...leftover(), removing: true };
      return known.get(id)?.state ?? (isOurs ? leftover() : undefined);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    assignsEndpoint: () => true,
    async tunnel(id) {
      return settings.tunnel && tunnelAccess(settings.tunnel, cluster, namespaceOfId(id));
    },
    output: (id, signal) => outputOf(cluster, namespaceOfId(id), signal),
    async remove(id, signal) {
      leaving.add(id);
      known.delete(id);
      endCopy(migrations, namespaceOfId(id));
      const named = (): string => namespaceOfId(id);
      const removeData = (name: string) => pools.remove(poolOfId(id), name, signal);
      const removal = removeControlPlane(cluster, { id, owner: settings.owner, named, removeData }, signal);
      if (await removal.finally(() => leaving.delete(id))) removing.add(id);
    },
    async run(signal) {
      const reconcile = withShortPauses(
        runPipeline(pipeline, { clock, log, name: "pods-runtime", ...(metrics ? { metrics } : {}) }),
        { isFrozen: (id) => mayBeFrozen(servedFrom(cluster, namespaceOfId(id)), known.get(id)?.migration), log },
      );
      const requests: Source = (enqueue) => {
        wake = enqueue;
        for (const id of known.keys()) enqueue(keyOfId(id));
        return () => (wake = () => {});
      };
      const sources = [requests, ...sourcesOf(cluster, known, onNamespace)];
      const ready = (stop: AbortSignal) => informers.whenSynced(stop);
      const forget = shards?.onChange(() => {
        for (const id of [...known.keys(), ...removing]) {
          if (shards.owns(keyOfId(id).namespace)) continue;
          endCopy(migrations, namespaceOfId(id));
          known.delete(id);
          removing.delete(id);
        }
      });
      const stopPool = shared?.controlPlanes.onChange(() => pools.wake());
      await Promise.all([
        runController({ name: "pods-runtime", reconcile, sources, clock, log, ready, shards }, signal),
        pools.run(signal),
        createHandOverController({
          cluster,
          settings,
          isKnown: (id) => known.has(id) || leaving.has(id),
          shards,
          metrics,
          clock,
          log,
        }).run(signal),
        backupController.run(signal),
        nodeClocks.run(signal),
      ]).finally(() => {
        for (const name of migrations.copies.keys()) endCopy(migrations, name);
        forget?.();
        stopPool?.();
      });
    },
  };
}

function sourcesOf(
  cluster: ServiceCluster,
  known: ReadonlyMap<string, Known>,
  onNamespace: (change: Change<Namespace>) => void,
): Source[] {
  const byNamespace = (namespace: string | undefined): ObjectKey[] => {
    if (namespace === undefined) return [];
    for (const [id, { namespaceName }] of known) if (namespaceName === namespace) return [keyOfId(id)];
    return [];
  };
  return [
    watchInformer(cluster.namespaces, (change) => {
      onNamespace(change);
      return byNamespace(change.object.metadata.name);
    }),
    watchInformer(cluster.pods, ({ object }) => byNamespace(object.metadata.namespace)),
    ...cluster.objects.map((informer) =>
      watchInformer(informer, ({ object }) => byNamespace(object.metadata.namespace)),
    ),
  ];
}
