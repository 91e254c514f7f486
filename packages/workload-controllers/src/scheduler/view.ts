import type { LabelSelector } from "../model/spec.ts";
import type { NodeInfo } from "../model/node-info.ts";
import type { PodInfo } from "../model/pod-info.ts";
import type { Labels, LabelTest } from "../model/selector.ts";
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../objects/storage.ts";

/** Looks up what pods' volumes refer to. */
export interface StorageView {
  claim(namespace: string, name: string): PersistentVolumeClaim | undefined;
  volume(name: string): PersistentVolume | undefined;
  /** Volumes of a storage class. */
  volumesOf(storageClass: string): readonly PersistentVolume[];
  storageClass(name: string): StorageClass | undefined;
  csiNode(name: string): CSINode | undefined;
  csiDriver(name: string): CSIDriver | undefined;
  /** Of a storage class. */
  capacitiesOf(storageClass: string): readonly CSIStorageCapacity[];
}

/** The cluster at one moment, as filters and scores see it. */
export interface ClusterView {
  readonly nodes: readonly NodeInfo[];
  readonly namespaceLabels: (namespace: string) => Labels;
  /**
   * What selects the pods that are spread with this one where it has no constraint of its own; undefined: nothing does.
   */
  readonly spreadSelector: (pod: PodInfo) => LabelTest | undefined;
  readonly storage: StorageView;
}

/** The cluster as it would be if this node were so. */
export function withNode(view: ClusterView, replaced: NodeInfo): ClusterView {
  return { ...view, nodes: view.nodes.map((node) => (node.name === replaced.name ? replaced : node)) };
}

/** Budgets say how many of the pods they select may still be disrupted. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly selector: LabelSelector | null | undefined;
  readonly allowed: number;
  /** Names of pods whose disruption has been accepted already. */
  readonly disrupted: ReadonlySet<string>;
}
