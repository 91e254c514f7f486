import { messageOf, type Clock, type Log } from "@causeway/foundation";
import {
  followRoad,
  isNotFound,
  Node,
  runController,
  watchInformer,
  type EventRecorder,
  type Informers,
  type KubernetesClient,
  type ObjectKey,
  type Road,
  type Source,
} from "@causeway/kubernetes";
import type { CloudWatch, Port, Server } from "@causeway/openstack";
import type { CloudControllerConfig } from "../config/config.ts";
import { Denials, gather, type Observed } from "./gather.ts";
import { plan } from "./plan.ts";
import { parseProviderId } from "./provider-id.ts";
import type { Step } from "./steps.ts";

export interface NodeControllerOptions {
  readonly informers: Informers;
  readonly watch: CloudWatch;
  readonly region: string;
  readonly config: CloudControllerConfig;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

/** Initialises nodes, keeps their addresses and labels, taints those of stopped servers and deletes those of gone ones. */
export function createNodeController(options: NodeControllerOptions): { run(signal: AbortSignal): Promise<void> } {
  const { informers, watch, events, clock, log } = options;
  const nodes = informers.for(Node);
  informers.index(nodes, {
    server: (node) => [parseProviderId(node.spec?.providerID)?.serverId ?? `name:${node.metadata.name}`],
  });
  const from = { nodes, watch, region: options.region, config: options.config, denials: new Denials(watch) };
  const road: Road<Observed, Step, undefined> = {
    gather: (key, signal) => gather(from, key, signal),
    plan,
    perform: (step, observed, signal) => perform(informers.client, step, { node: observed.node, signal, events }),
    async publish(observed, _status, planned) {
      for (const event of planned) events.event(observed.node, event);
    },
    failed: (_observed, _plan, step, error) => ({
      status: undefined,
      events: [{ type: "Warning", reason: "NodeSyncFailed", message: `${step.type}: ${messageOf(error)}` }],
    }),
  };
  const keysOf = (serverId: string, name: string): ObjectKey[] =>
    [...nodes.byIndex("server", serverId), ...nodes.byIndex("server", `name:${name}`)].map((node) => ({
      namespace: "",
      name: node.metadata.name,
    }));
  const serverChanges: Source = (enqueue) =>
    watch.servers.onChange(({ object }: { object: Server }) => keysOf(object.id, object.name).forEach(enqueue));
  const portChanges: Source = (enqueue) =>
    watch.ports.onChange(({ object }: { object: Port }) => {
      if (object.device_id !== "") keysOf(object.device_id, "").forEach(enqueue);
    });
  const sources = [watchInformer(nodes), serverChanges, portChanges];
  return {
    run: (signal) =>
      runController({ name: "cloud-node", reconcile: followRoad(road, { clock, log }), sources, clock, log }, signal),
  };
}

async function perform(
  client: KubernetesClient,
  step: Step,
  on: { node: Node; signal: AbortSignal; events: EventRecorder },
): Promise<void> {
  const { node, signal } = on;
  const key = { namespace: "", name: node.metadata.name };
  switch (step.type) {
    case "set-addresses":
      await client.patch(
        Node,
        key,
        { type: "merge", body: { status: { addresses: step.addresses } } },
        { subresource: "status", signal },
      );
      return;
    case "set-node": {
      // The resourceVersion keeps another's change of the taints from being undone: they are one atomic list.
      const metadata = {
        labels: step.labels,
        ...(step.taints && node.metadata.resourceVersion !== undefined
          ? { resourceVersion: node.metadata.resourceVersion }
          : {}),
      };
      const spec = {
        ...(step.providerId === undefined ? {} : { providerID: step.providerId }),
        ...(step.taints ? { taints: step.taints } : {}),
      };
      await client.patch(Node, key, { type: "merge", body: { metadata, spec } }, { signal });
      return;
    }
    case "delete-node":
      on.events.event(node, { type: "Normal", reason: "DeletingNode", message: step.reason });
      await client
        .delete(Node, key, {
          signal,
          ...(node.metadata.uid === undefined ? {} : { preconditions: { uid: node.metadata.uid } }),
        })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      return;
  }
}
