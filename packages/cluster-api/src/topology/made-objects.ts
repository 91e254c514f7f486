import { annotations, convertObject, labels, type Cluster, type Kind } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { ownerReference, type KubeObject } from "@causeway/kubernetes";
import { templateOf, type ProviderObject } from "../contract/provider-object.ts";
import type { BlueprintTemplate } from "./model.ts";
import { TopologyProblem } from "./problem.ts";

/** An object that a topology wants: its kind, and what the topology says of it, at the version that is stored. */
export interface MadeObject {
  readonly kind: Kind<KubeObject>;
  readonly object: KubeObject & { readonly spec: Readonly<Record<string, unknown>> };
}

type Marks = Readonly<Record<string, string>>;

/** What an object gets in addition to its template. */
export interface ObjectHead {
  readonly cluster: Cluster;
  readonly name: string;
  readonly labels?: Marks;
  readonly annotations?: Marks;
  /** Another object is to be its controller. */
  readonly shared?: true;
}

/** Every object of a topology has these labels. */
export function ownedLabels(cluster: Cluster): Marks {
  return { [labels.clusterName]: cluster.metadata.name, [labels.topologyOwned]: "" };
}

function clonedFrom(template: BlueprintTemplate): Marks {
  const { kind, object } = template;
  return {
    [annotations.clonedFromName]: object.metadata.name,
    [annotations.clonedFromGroupKind]: `${kind.kind}.${kind.group}`,
  };
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * An object from a patched template: its spec is spec.template.spec. The Cluster is its controller, unless `shared`.
 */
export function objectFrom(
  template: BlueprintTemplate,
  patched: ProviderObject,
  kind: Kind<KubeObject>,
  making: ObjectHead,
): MadeObject {
  const stored = asStored(template.kind, patched);
  const { labels: own, annotations: notes, spec } = templateOf(stored);
  return {
    kind,
    object: {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: {
        name: making.name,
        ...namespaceOf(making.cluster),
        labels: { ...own, ...making.labels, ...ownedLabels(making.cluster) },
        annotations: { ...notes, ...making.annotations, ...clonedFrom(template) },
        ownerReferences: [ownerReference(making.cluster, making.shared ? {} : { controller: true })],
      },
      spec: structuredClone(spec),
    },
  };
}

/** A Cluster's own copy of a patched template. */
export function templateFrom(template: BlueprintTemplate, patched: ProviderObject, making: ObjectHead): MadeObject {
  const { kind } = template;
  const stored = asStored(kind, patched);
  const notes = Object.fromEntries(
    Object.entries(template.object.metadata.annotations ?? {}).filter(([name]) => name !== lastApplied),
  );
  return {
    kind,
    object: {
      apiVersion: `${kind.group}/${kind.version}`,
      kind: kind.kind,
      metadata: {
        name: making.name,
        ...namespaceOf(making.cluster),
        labels: { ...template.object.metadata.labels, ...making.labels, ...ownedLabels(making.cluster) },
        annotations: { ...notes, ...making.annotations, ...clonedFrom(template) },
        // Should nothing ever refer to it, it goes with its Cluster.
        ownerReferences: [ownerReference(making.cluster)],
      },
      spec: structuredClone((stored.spec ?? {}) as Record<string, unknown>),
    },
  };
}

function namespaceOf(cluster: Cluster): { namespace?: string } {
  return cluster.metadata.namespace === undefined ? {} : { namespace: cluster.metadata.namespace };
}

/**
 * Patches are written for the version that the ClusterClass refers to; objects are compared and applied at the stored
 * one.
 */
function asStored(kind: Kind<KubeObject>, object: ProviderObject): ProviderObject {
  try {
    return convertObject([kind], structuredClone(object), `${kind.group}/${kind.version}`);
  } catch (error) {
    throw new TopologyProblem(
      `${object.kind} ${object.metadata.name} cannot be converted to ${kind.version} after its patches: ${messageOf(error)}`,
    );
  }
}
