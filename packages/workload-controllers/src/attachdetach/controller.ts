import { canonicalJson } from "@causeway/foundation";
import {
  runPipeline,
  Node,
  Pod,
  watchInformer,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { pipelineOptions } from "../objects/pipeline.ts";
import { Deletions } from "../objects/deletions.ts";
import { claimsUsedBy, CSIDriver, PersistentVolumeClaim, VolumeAttachment, volumesOf } from "../objects/storage.ts";
import { gather, index, type Observed } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan, type PodEvent } from "./plan.ts";
import type { Step } from "./steps.ts";

const byClaim = "claims";

/** Keys are names of nodes. */
export function attachDetachController(context: Context): ControllerOptions {
  const { clock, log, informers } = context;
  const nodes = informers.for(Node);
  const pods = informers.for(Pod);
  const claims = informers.for(PersistentVolumeClaim);
  const volumes = volumesOf(context);
  const drivers = informers.for(CSIDriver);
  const attachments = informers.for(VolumeAttachment);
  informers.index(pods, {
    [index.podNode]: ({ spec }) => (spec.nodeName ? [spec.nodeName] : []),
    [byClaim]: claimsUsedBy,
  });
  informers.index(attachments, {
    [index.node]: ({ spec }) => [spec.nodeName],
    [index.volume]: ({ spec }) => [spec.source.persistentVolumeName ?? ""],
  });
  const deletions = new Deletions(context);
  const caches = { nodes, pods, claims, volumes, drivers, attachments, idle: new Map<string, number>() };
  const pipeline: Pipeline<Observed, Step, readonly PodEvent[]> = {
    gather(key) {
      const observed = gather(caches, key, clock.now());
      return Promise.resolve({ ...observed, attachments: observed.attachments.map((each) => deletions.view(each)) });
    },
    plan,
    perform: (step, observed, signal) => perform({ context, deletions }, observed, step, signal),
    publish(_observed, reports) {
      for (const { pod, event } of reports) context.events.event(pod, event);
      return Promise.resolve();
    },
    failed: (_observed, { status }) => ({ status, events: [] }),
  };
  const nodesUsing = (claim: string): ObjectKey[] =>
    pods.byIndex(byClaim, claim).flatMap(({ spec }) => (spec.nodeName ? [nodeKey(spec.nodeName)] : []));
  const nodesWaitingFor = (volume: string): ObjectKey[] => {
    const { claimRef } = volumes.get({ namespace: "", name: volume })?.spec ?? {};
    return claimRef ? nodesUsing(`${claimRef.namespace}/${claimRef.name}`) : [];
  };
  return {
    name: "attachdetach",
    reconcile: runPipeline(pipeline, pipelineOptions(context, "attachdetach")),
    sources: [
      watchInformer(nodes, ({ type, object, previous }) => {
        const isSame = type === "updated" && previous && stateOf(previous) === stateOf(object);
        return isSame ? [] : [nodeKey(object.metadata.name)];
      }),
      watchInformer(pods, ({ type, object, previous }) => {
        if (!object.spec.nodeName || claimsUsedBy(object).length === 0) return [];
        const isSame = type === "updated" && previous?.spec.nodeName && previous.status?.phase === object.status?.phase;
        return isSame ? [] : [nodeKey(object.spec.nodeName)];
      }),
      watchInformer(claims, ({ object, previous }) =>
        previous?.spec.volumeName === object.spec.volumeName
          ? []
          : nodesUsing(`${object.metadata.namespace}/${object.metadata.name}`),
      ),
      watchInformer(volumes, ({ object: { metadata } }) => nodesWaitingFor(metadata.name)),
      watchInformer(attachments, ({ type, object: { metadata, spec } }) => {
        if (type === "deleted") caches.idle.delete(metadata.name);
        return [nodeKey(spec.nodeName), ...nodesWaitingFor(spec.source.persistentVolumeName ?? "")];
      }),
    ],
    ready: (signal) =>
      Promise.all([nodes, pods, claims, volumes, drivers, attachments].map((each) => each.whenSynced(signal))).then(
        () => {},
      ),
    clock,
    log,
  };
}

function nodeKey(name: string): ObjectKey {
  return { namespace: "", name };
}

/** What of a node decides: not its heartbeats. */
function stateOf({ metadata, spec, status }: Node): string {
  const { volumesInUse, volumesAttached } = (status ?? {}) as { volumesInUse?: unknown; volumesAttached?: unknown };
  const ready = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  const { annotations = {} } = metadata;
  return canonicalJson([annotations, spec.taints, volumesInUse, volumesAttached, ready]);
}
