import { AddonSet, type AddonSetStatus } from "@causeway/api";
import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  publishStatus,
  runController,
  runPipeline,
  setConditions,
  watchInformer,
  type Informers,
  type KubeObject,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import { gather, openInformers, type Observed } from "./gather.ts";
import { fieldManager, perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { Step } from "./steps.ts";

/** What the controller runs with. */
export interface SelectionOptions {
  readonly informers: Informers;
  readonly metrics?: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

const name = "addons-selection";
/** A set may select many clusters: each is a step. */
const ROUNDS = 100;

/** The controller of AddonSets that select clusters by labels. */
export function createSelection({ informers, clock, log, metrics }: SelectionOptions): {
  run(signal: AbortSignal): Promise<void>;
} {
  const from = openInformers(informers);
  const pipeline: Pipeline<Observed, Step, AddonSetStatus> = {
    gather: (key) => gather(from, key),
    plan,
    perform: (step, observed, signal) => perform({ client: informers.client }, step, observed, signal),
    async publish({ set }, status, _events, signal) {
      await publishStatus(informers.client, AddonSet, set, { status, fieldManager, signal });
    },
    failed: ({ set }, { status }, step, error) => {
      const message = `${step.type}: ${messageOf(error)}`.slice(0, 4_000);
      const wanted = { type: "Applied", status: "False", reason: "Failed", message } as const;
      const { generation } = set.metadata;
      const conditions = setConditions(status.conditions, [wanted], { generation, now: clock.now() });
      return { status: { ...status, conditions }, events: [{ type: "Warning", reason: "AddonFailed", message }] };
    },
  };
  const selecting = (namespace: string | undefined): ObjectKey[] =>
    from.sets
      .list(namespace)
      .filter(({ spec }) => spec.clusterSelector !== undefined)
      .map(({ metadata }) => ({ namespace: metadata.namespace ?? "", name: metadata.name }));
  const sources = [
    // A set that was made for another one changes that one's status.
    watchInformer(from.sets, ({ object }) => [
      { namespace: object.metadata.namespace ?? "", name: object.metadata.name },
      ...ownersOf(object),
    ]),
    watchInformer(from.clusters, ({ object }) => selecting(object.metadata.namespace)),
  ];
  const reconcile = runPipeline(pipeline, { clock, log, name, maxRounds: ROUNDS, ...(metrics ? { metrics } : {}) });
  const ready = (signal: AbortSignal) => informers.whenSynced(signal);
  return { run: (signal) => runController({ name, reconcile, sources, clock, log, ready }, signal) };
}

function ownersOf({ kind, metadata: { namespace = "", ownerReferences = [] } }: KubeObject): ObjectKey[] {
  return ownerReferences.filter((each) => each.kind === kind).map((each) => ({ namespace, name: each.name }));
}
