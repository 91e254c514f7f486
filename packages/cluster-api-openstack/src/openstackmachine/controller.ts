import { OpenStackMachine, type Machine, type OpenStackMachineStatus } from "@causeway/api";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  runPipeline,
  publishStatus,
  runController,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Reconcile,
  type Secret,
  type Pipeline,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import { unreadReport } from "../reactions/unread.ts";
import { gather, type MachineGathered, type MachineSources } from "./gather.ts";
import type { MachineStep } from "./steps.ts";
import { plan, type MachinePlan } from "./plan.ts";
import { fieldManager, perform } from "./perform.ts";
import { serverFailure } from "./failure.ts";

/** What the controller of OpenStackMachines works with. `shards` says which namespaces are this process's. */
export interface MachineControllerOptions {
  readonly informers: Informers;
  readonly sources: MachineSources;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
  readonly shards?: Shards | undefined;
}

/** How long an informer reads a list more often, in milliseconds. */
const REFRESH_WITHIN = 6_000;

/** The reconcile pipeline of OpenStackMachines. */
export function reconcileMachine(options: MachineControllerOptions): Reconcile {
  const { informers, sources, clock, events } = options;
  const { client } = informers;
  const pipeline: Pipeline<MachineGathered, MachineStep, OpenStackMachineStatus, MachinePlan> = {
    gather: (key, signal) => gather(sources, key, signal),
    async unread(key, error, signal) {
      const object = sources.openStackMachines.get(key);
      if (!object) return;
      const { conditions, event } = unreadReport(object, { type: "InstanceReady", error, now: clock.now() });
      const status = conditions && { ...object.status, conditions };
      if (status) await publishStatus(client, OpenStackMachine, object, { status, fieldManager, signal });
      if (event) events.event(object, event);
    },
    plan,
    planned({ session }, { refresh = [] }, now) {
      for (const name of refresh) session?.watch[name].hurry(now + REFRESH_WITHIN);
    },
    perform(step, observed, signal) {
      const object = latest(sources, observed);
      return perform(step, { object, session: observed.session, client, secrets: sources.secrets, events }, signal);
    },
    async publish(observed, status, planned, signal) {
      const object = sources.openStackMachines.get(keyOf(observed));
      if (!object || object.metadata.uid !== observed.object.metadata.uid) return;
      await publishStatus(client, OpenStackMachine, object, { status, fieldManager, signal });
      for (const event of planned) events.event(object, event);
    },
    failed(observed, plan, step, error) {
      return serverFailure({ ...observed, status: plan.status }, { step, error }, sources);
    },
  };
  return runPipeline(pipeline, { clock, log: options.log, name: "openstackmachine", metrics: options.metrics });
}

/** Runs the controller until the signal aborts. */
export function runMachineController(options: MachineControllerOptions, signal: AbortSignal): Promise<void> {
  const { sources, clock, log, shards } = options;
  const all: Source[] = [
    watchInformer(sources.openStackMachines),
    watchInformer(sources.machines, ({ object }) => infrastructureOf(object)),
    watchInformer(sources.secrets, ({ object }) => [
      ...sources.machines.byIndex("secret", secretKey(object)).flatMap(infrastructureOf),
      ...leavingWith(sources, object),
    ]),
    watchInformer(sources.openStackClusters, ({ object, previous }) => {
      // Machines wait for the cluster to be provisioned, for its credentials, and for its network.
      const same = previous && object.metadata.generation === previous.metadata.generation;
      const provisioned = object.status?.initialization?.provisioned;
      if (same && provisioned === previous.status?.initialization?.provisioned) return [];
      return (
        object.metadata.ownerReferences
          ?.filter((r) => r.kind === "Cluster")
          .flatMap((r) => ofCluster(sources, object.metadata.namespace, r.name)) ?? []
      );
    }),
    watchInformer(sources.clusters, ({ object, previous }) =>
      previous && object.spec.paused === previous.spec.paused
        ? []
        : ofCluster(sources, object.metadata.namespace, object.metadata.name),
    ),
    watchInformer(sources.claims, ({ object: { metadata } }) =>
      (metadata.ownerReferences ?? [])
        .filter(({ kind }) => kind === "OpenStackMachine")
        .map(({ name }) => ({ namespace: metadata.namespace ?? "", name })),
    ),
    sources.interests.source,
  ];
  return runController(
    { name: "openstackmachine", reconcile: reconcileMachine(options), sources: all, clock, log, shards },
    signal,
  );
}

/** Machines of the clusters with these credentials whose deletion may wait for others. */
function leavingWith(sources: MachineSources, secret: Secret): ObjectKey[] {
  return sources.openStackClusters.byIndex("identity", secretKey(secret)).flatMap(({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ kind }) => kind === "Cluster");
    const keys = owner === undefined ? [] : ofCluster(sources, metadata.namespace, owner.name);
    return keys.filter((key) => sources.openStackMachines.get(key)?.metadata.deletionTimestamp !== undefined);
  });
}

function ofCluster({ openStackMachines }: MachineSources, namespace = "", name: string): ObjectKey[] {
  return openStackMachines
    .byIndex("cluster", `${namespace}/${name}`)
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name }));
}

function infrastructureOf({ metadata, spec }: Machine): ObjectKey[] {
  if (spec.infrastructureRef.kind !== "OpenStackMachine") return [];
  return [{ namespace: metadata.namespace ?? "", name: spec.infrastructureRef.name }];
}

function secretKey({ metadata }: { metadata: { name: string; namespace?: string } }): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function keyOf({ object }: MachineGathered): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}

/** An earlier step of the same plan may have changed the object. */
function latest(sources: MachineSources, observed: MachineGathered): OpenStackMachine {
  const object = sources.openStackMachines.get(keyOf(observed));
  return object?.metadata.uid === observed.object.metadata.uid && object ? object : observed.object;
}
