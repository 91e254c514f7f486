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
  type Pipeline,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import { unreadReport } from "../reactions/unread.ts";
import { isDeleting } from "../openstackcluster/gather.ts";
import { gatherMachine, usesVolumes, type MachineGathered, type MachineSources } from "./gather.ts";
import type { MachineStep } from "./steps.ts";
import { planMachine } from "./plan.ts";
import { fieldManager, performMachineStep } from "./perform.ts";
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

/** The reconcile pipeline of OpenStackMachines. */
export function reconcileMachine(options: MachineControllerOptions): Reconcile {
  const { informers, sources, clock, events } = options;
  const { client } = informers;
  const pipeline: Pipeline<MachineGathered, MachineStep, OpenStackMachineStatus> = {
    gather: (key, signal) => gatherMachine(sources, key, signal),
    async unread(key, error, signal) {
      const object = sources.openStackMachines.get(key);
      if (!object) return;
      const { conditions, event } = unreadReport(object, { type: "InstanceReady", error, now: clock.now() });
      const status = conditions && { ...object.status, conditions };
      if (status) await publishStatus(client, OpenStackMachine, object, { status, fieldManager, signal });
      events.event(object, event);
    },
    plan(observed, now) {
      const plan = planMachine(observed, now);
      hurryFor(observed, plan.wait !== undefined, now);
      return plan;
    },
    perform(step, observed, signal) {
      const object = latest(sources, observed);
      return performMachineStep(
        step,
        { object, session: observed.session, client, secrets: sources.secrets, events },
        signal,
      );
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
    watchInformer(sources.secrets, ({ object }) =>
      sources.machines.byIndex("secret", secretKey(object)).flatMap(infrastructureOf),
    ),
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

/** Changes that follow from our own, in types whose informers cannot tell that they are due. */
function hurryFor(observed: MachineGathered, waits: boolean, now: number): void {
  const { object, session } = observed;
  // Nova lists an attached floating IP a moment later, and its servers are read seldom while nothing changes.
  if (session && lacksAddress(observed)) session.watch.servers.hurry(now + 6_000);
  if (!session || !waits || !isDeleting(object)) return;
  if (usesVolumes(object)) session.watch.volumes.hurry(now + 6_000);
}

/** The claimed floating IP is attached, and the server's addresses do not have it yet. */
function lacksAddress({ object, claim, identity }: MachineGathered): boolean {
  const { address } = claim ?? {};
  if (address === undefined || !identity.ok || isDeleting(object)) return false;
  const { floatingIps = [], servers } = identity.cloud;
  const attached = floatingIps.some((ip) => ip.floating_ip_address === address && ip.port_id !== null);
  const own = servers.find(({ id }) => id === object.status?.instanceID);
  const listed = Object.values(own?.addresses ?? {}).flat();
  return attached && own !== undefined && !listed.some(({ addr }) => addr === address);
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
