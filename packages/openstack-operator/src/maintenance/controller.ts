import { OpenStackDeployment } from "@causeway/api";
import { messageOf, type Clock, type Log, type Metrics } from "@causeway/foundation";
import {
  runPipeline,
  isNotFound,
  keyOf,
  publishStatus,
  runController,
  watchInformer,
  type EventRecorder,
  type Informers,
  type Node,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import { guardLabel } from "./guards.ts";
import { gather, openMaintenanceInformers, type Gathered, type Memory } from "./gather.ts";
import type { MaintenanceStep } from "./steps.ts";
import type { OpenNova } from "./nova.ts";
import { perform } from "./perform.ts";
import { isClear, plan, type MaintenanceStatus } from "./plan.ts";
import { computeNodeOf } from "./plan-scope.ts";

/** What the controller needs beyond its client; tests give another `openNova`. */
export interface MaintenanceOptions {
  readonly informers: Informers;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly openNova: OpenNova;
  readonly metrics?: Metrics;
}

/** Another one than the deployment's own: each publishes its part of the status. */
const fieldManager = "causeway-openstack-maintenance";

/** Gives compute nodes free for a drain, takes them back, and evacuates those that are fenced. */
export function createMaintenance(options: MaintenanceOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, events, clock, log, openNova, metrics } = options;
  const from = openMaintenanceInformers(informers);
  const memories = new Map<string, Memory>();
  const { client } = informers;
  const pipeline: Pipeline<Gathered, MaintenanceStep, MaintenanceStatus> = {
    gather: (key, signal) => gather({ from, client, openNova, memories }, key, signal),
    plan,
    planned(observed, { status }) {
      const { nova, memory } = observed;
      if (!nova) return;
      memory.isClear = isClear(observed, status);
      forget(memory, nova.servers);
    },
    perform: (step, observed, signal) => perform({ client, clock }, step, observed, signal),
    async publish({ deployment }, status, planned, signal) {
      for (const event of planned) events.event(deployment, event);
      // Nothing to say, and nothing said: no write.
      if (status.maintenance === undefined && deployment.status?.maintenance === undefined) return;
      try {
        await publishStatus(client, OpenStackDeployment, deployment, { status, fieldManager, signal });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
    failed: (_observed, planned, step, error) => ({
      status: planned.status,
      events: [
        {
          type: "Warning",
          reason: "MaintenanceFailed",
          message: `${step.type} ${step.name}: ${messageOf(error)}`.slice(0, 1000),
        },
      ],
    }),
    isIndependent: (later, held) => later.name !== held.name,
    epochOf: ({ deployment }) => String(deployment.metadata.generation),
  };
  const everyDeployment = (): ObjectKey[] => from.deployments.list().map(keyOf);
  const ownerOf = ({ object }: { object: { metadata: { namespace?: string; labels?: Record<string, string> } } }) => {
    const name = object.metadata.labels?.[guardLabel];
    return name === undefined ? [] : [{ namespace: object.metadata.namespace ?? "", name }];
  };
  const sources = [
    watchInformer(from.deployments, ({ type, object, previous }) =>
      type === "updated" && factsOf(object) === factsOf(previous) ? [] : [keyOf(object)],
    ),
    watchInformer(from.guards, ownerOf),
    watchInformer(from.budgets, ownerOf),
    // Heartbeats change nothing.
    watchInformer(from.nodes, ({ type, object, previous }) =>
      type === "updated" && previous && sightOf(object) === sightOf(previous) ? [] : everyDeployment(),
    ),
  ];
  const name = "openstack-maintenance";
  return {
    async run(signal) {
      const reconcile = runPipeline(pipeline, { clock, log, name, ...(metrics ? { metrics } : {}) });
      const ready = (stop: AbortSignal) => informers.whenSynced(stop);
      try {
        await runController({ name, reconcile, sources, clock, log, ready }, signal);
      } finally {
        for (const { nova } of memories.values()) await nova?.open.close();
      }
    },
  };
}

/** What of a deployment matters here: its specification, and whether it has been ready. */
const factsOf = (deployment: OpenStackDeployment | undefined): string =>
  `${deployment?.metadata.generation} ${deployment?.status?.release} ${deployment?.metadata.deletionTimestamp}`;

const sightOf = (node: Node): string => JSON.stringify([computeNodeOf(node), node.metadata.labels]);

/** Servers that have left are forgotten: where they are now, a later drain begins again. */
function forget({ attempts }: Memory, servers: readonly { readonly id: string }[]): void {
  const here = new Set(servers.map(({ id }) => id));
  for (const id of attempts.keys()) if (!here.has(id)) attempts.delete(id);
}
