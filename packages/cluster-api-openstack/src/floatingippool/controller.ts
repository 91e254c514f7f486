import { OpenStackFloatingIPPool, type OpenStackFloatingIPPoolStatus } from "@causeway/api";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  runPipeline,
  publishStatus,
  runController,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Pipeline,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import { failureOf } from "../reactions/failure.ts";
import { publishedMessage, refusalOf } from "../reactions/refusals.ts";
import { gather, poolOf, type PoolGathered, type PoolSources } from "./gather.ts";
import { fieldManager, perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { PoolStep } from "./steps.ts";

/** What the controller of OpenStackFloatingIPPools works with. `shards` says which namespaces are this process's. */
export interface PoolControllerOptions {
  readonly informers: Informers;
  readonly sources: PoolSources;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
  readonly shards?: Shards | undefined;
}

/** Runs the controller of OpenStackFloatingIPPools until the signal aborts. */
export function runPoolController(options: PoolControllerOptions, signal: AbortSignal): Promise<void> {
  const { informers, sources, clock, log, events, metrics, shards } = options;
  const { client } = informers;
  const type = "OpenstackFloatingIPPoolReadyCondition";
  const pipeline: Pipeline<PoolGathered, PoolStep, OpenStackFloatingIPPoolStatus> = {
    gather: (key, term) => gather(sources, key, term),
    plan,
    perform: (step, observed, term) =>
      perform(step, { object: latest(sources, observed), session: observed.session, client, events, sources }, term),
    async publish(observed, status, planned, term) {
      const object = sources.pools.get(keyOf(observed));
      if (!object || object.metadata.uid !== observed.object.metadata.uid) return;
      await publishStatus(client, OpenStackFloatingIPPool, object, { status, fieldManager, signal: term });
      for (const event of planned) events.event(object, event);
    },
    failed(observed, plan, step, error) {
      const refusal = refusalOf(error, step.reason, { known: publishedMessage(observed.object, type) });
      sources.refusals.note(observed.object, type, refusal);
      const moment = { generation: observed.object.metadata.generation, now: clock.now() };
      return failureOf(plan.status, { type, refusal }, moment);
    },
  };
  const toPool = (at: string): ObjectKey => {
    const [namespace = "", name = ""] = at.split("/");
    return { namespace, name };
  };
  const all: Source[] = [
    watchInformer(sources.pools),
    watchInformer(sources.claims, ({ object }) => poolOf(object).map(toPool)),
    watchInformer(sources.addresses, ({ object }) => poolOf(object).map(toPool)),
    sources.interests.source,
  ];
  const reconcile = runPipeline(pipeline, { clock, log, name: "openstackfloatingippool", metrics });
  return runController({ name: "openstackfloatingippool", reconcile, sources: all, clock, log, shards }, signal);
}

function keyOf({ object }: PoolGathered): ObjectKey {
  return { namespace: object.metadata.namespace ?? "", name: object.metadata.name };
}

/** An earlier step of the same plan may have changed the object. */
function latest(sources: PoolSources, observed: PoolGathered): OpenStackFloatingIPPool {
  const object = sources.pools.get(keyOf(observed));
  return object?.metadata.uid === observed.object.metadata.uid && object ? object : observed.object;
}
