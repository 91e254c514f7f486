import { OpenStackMachineTemplate } from "@causeway/api";
import type { Clock, Log, Metrics } from "@causeway/foundation";
import {
  isConflict,
  keyOf,
  publishStatus,
  runController,
  runPipeline,
  watchInformer,
  type EventRecorder,
  type Informers,
  type ObjectKey,
  type Pipeline,
  type Shards,
  type Source,
} from "@causeway/kubernetes";
import { messageOf } from "@causeway/foundation";
import { fieldManager, perform } from "./perform.ts";
import { gather, templateOf, type TemplateSources } from "./gather.ts";
import type { Observed } from "./model.ts";
import { plan } from "./plan.ts";
import type { TemplateStep } from "./steps.ts";

type Status = NonNullable<OpenStackMachineTemplate["status"]>;

/** What the controller of OpenStackMachineTemplates works with. `shards` says which namespaces are this process's. */
export interface TemplateControllerOptions {
  readonly informers: Informers;
  readonly sources: TemplateSources;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly metrics?: Metrics | undefined;
  readonly shards?: Shards | undefined;
}

/** Runs the controller of OpenStackMachineTemplates until the signal aborts. */
export function runTemplateController(options: TemplateControllerOptions, signal: AbortSignal): Promise<void> {
  const { informers, sources, clock, log, events, metrics, shards } = options;
  const { client } = informers;
  const pipeline: Pipeline<Observed, TemplateStep, Status> = {
    gather: (key, term) => gather(sources, key, term),
    plan,
    perform: (step, _observed, term) => perform(step, { client, events }, term),
    async publish({ object }, status, planned, term) {
      const now = sources.templates.get(keyOf(object));
      if (!now || now.metadata.uid !== object.metadata.uid) return;
      await publishStatus(client, OpenStackMachineTemplate, now, { status, fieldManager, signal: term });
      for (const event of planned) events.event(now, event);
    },
    failed: (_observed, { status }, _step, error) => ({
      status,
      events: isConflict(error)
        ? []
        : [{ type: "Warning", reason: "AddressPairsNotChanged", message: messageOf(error) }],
    }),
  };
  const all: Source[] = [
    watchInformer(sources.templates),
    watchInformer(sources.openStackMachines, ({ object, previous }) =>
      previous && previous.spec === object.spec ? [] : templateOf(object).map(keyAt),
    ),
    watchInformer(sources.clusters, ({ object, previous }) =>
      previous && previous.metadata.generation === object.metadata.generation
        ? []
        : ofCluster(sources, `${object.metadata.namespace ?? ""}/${object.metadata.name}`),
    ),
    watchInformer(sources.openStackClusters, ({ object, previous }) =>
      previous && previous.metadata.generation === object.metadata.generation
        ? []
        : (object.metadata.ownerReferences ?? [])
            .filter(({ kind }) => kind === "Cluster")
            .flatMap(({ name }) => ofCluster(sources, `${object.metadata.namespace ?? ""}/${name}`)),
    ),
    sources.interests.source,
  ];
  const reconcile = runPipeline(pipeline, { clock, log, name: "openstackmachinetemplate", metrics });
  return runController({ name: "openstackmachinetemplate", reconcile, sources: all, clock, log, shards }, signal);
}

function ofCluster({ templates }: TemplateSources, cluster: string): ObjectKey[] {
  return templates.byIndex("cluster", cluster).map(keyOf);
}

function keyAt(at: string): ObjectKey {
  const [namespace = "", name = ""] = at.split("/");
  return { namespace, name };
}
