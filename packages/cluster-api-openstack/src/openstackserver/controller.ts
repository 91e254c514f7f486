import { OpenStackServer, type OpenStackServerStatus } from "@causeway/api";
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
import { serverFailure } from "../openstackmachine/failure.ts";
import { gather, type ServerGathered, type ServerSources } from "./gather.ts";
import { fieldManager, perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { ServerStep } from "./steps.ts";

/** What the controller of OpenStackServers works with. `shards` says which namespaces are this process's. */
export interface ServerControllerOptions {
  readonly informers: Informers;
  readonly sources: ServerSources;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
  readonly shards?: Shards | undefined;
}

/** The reconcile pipeline of OpenStackServers. */
export function reconcileServer(options: ServerControllerOptions): Reconcile {
  const { informers, sources, clock, events } = options;
  const { client } = informers;
  const pipeline: Pipeline<ServerGathered, ServerStep, OpenStackServerStatus> = {
    gather: (key, signal) => gather(sources, key, signal),
    plan,
    perform: (step, observed, signal) =>
      perform(
        step,
        { object: latest(sources, observed), session: observed.session, client, secrets: sources.secrets, events },
        signal,
      ),
    async publish(observed, status, planned, signal) {
      const object = sources.openStackServers.get(keyOf(observed));
      if (!object || object.metadata.uid !== observed.object.metadata.uid) return;
      await publishStatus(client, OpenStackServer, object, { status, fieldManager, signal });
      for (const event of planned) events.event(object, event);
    },
    failed(observed, plan, step, error) {
      return serverFailure({ ...observed, status: plan.status }, { step, error }, sources);
    },
  };
  return runPipeline(pipeline, { clock, log: options.log, name: "openstackserver", metrics: options.metrics });
}

/** Runs the controller until the signal aborts. */
export function runServerController(options: ServerControllerOptions, signal: AbortSignal): Promise<void> {
  const { sources, clock, log, shards } = options;
  const ofNamespace = (namespace: string, wanted: (server: OpenStackServer) => boolean): ObjectKey[] =>
    sources.openStackServers
      .list(namespace)
      .filter(wanted)
      .map(({ metadata }) => ({ namespace, name: metadata.name }));
  const all: Source[] = [
    watchInformer(sources.openStackServers),
    watchInformer(sources.secrets, ({ object: { metadata } }) =>
      ofNamespace(
        metadata.namespace ?? "",
        ({ spec }) => spec.userDataRef?.name === metadata.name || spec.identityRef.name === metadata.name,
      ),
    ),
    watchInformer(sources.claims, ({ object: { metadata } }) =>
      (metadata.ownerReferences ?? [])
        .filter(({ kind }) => kind === "OpenStackServer")
        .map(({ name }) => ({ namespace: metadata.namespace ?? "", name })),
    ),
    sources.interests.source,
  ];
  return runController(
    { name: "openstackserver", reconcile: reconcileServer(options), sources: all, clock, log, shards },
    signal,
  );
}

function keyOf({ object }: ServerGathered): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}

/** An earlier step of the same plan may have changed the object. */
function latest(sources: ServerSources, observed: ServerGathered): OpenStackServer {
  const object = sources.openStackServers.get(keyOf(observed));
  return object?.metadata.uid === observed.object.metadata.uid && object ? object : observed.object;
}
