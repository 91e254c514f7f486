import type { Node, Pod } from "@causeway/kubernetes";
import { NodeInfo } from "../../model/node-info.ts";
import { podInfo, type PodInfo } from "../../model/pod-info.ts";
import { labelTest } from "../../model/selector.ts";
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
} from "../../objects/storage.ts";
import { keyText, type SchedulingSpec } from "../../model/spec.ts";
import type { ClusterView } from "../view.ts";

/** Objects for the tables of the scheduler's tests. */

export interface NodeFields {
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: Node["spec"]["taints"];
  readonly unschedulable?: boolean;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly images?: readonly { readonly names: readonly string[] | null; readonly sizeBytes: number }[];
}

export function node(name: string, facts: NodeFields = {}): Node {
  const allocatable = { cpu: "4", memory: "8Gi", pods: "110", ...facts.allocatable };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, ...facts.labels } },
    spec: {
      ...(facts.taints ? { taints: facts.taints } : {}),
      ...(facts.unschedulable === undefined ? {} : { unschedulable: facts.unschedulable }),
    },
    status: { capacity: allocatable, allocatable, ...(facts.images ? { images: facts.images } : {}) },
  };
}

export interface PodFacts extends Omit<Partial<SchedulingSpec>, "containers"> {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
  readonly containers?: SchedulingSpec["containers"];
  readonly nominated?: string;
  readonly created?: number;
  readonly terminating?: boolean;
  readonly preempted?: boolean;
}

export function pod(name: string, facts: PodFacts = {}): Pod {
  const {
    namespace = "default",
    labels = {},
    requests,
    nominated,
    created = 0,
    terminating,
    preempted,
    ...spec
  } = facts;
  const conditions = [{ type: "DisruptionTarget", status: "True", reason: "PreemptionByScheduler" }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      labels,
      creationTimestamp: new Date(created).toISOString(),
      ...(terminating ? { deletionTimestamp: new Date(created).toISOString() } : {}),
    },
    spec: { containers: [{ name: "main", image: "web:1", ...(requests ? { resources: { requests } } : {}) }], ...spec },
    status: {
      ...(nominated === undefined ? {} : { nominatedNodeName: nominated }),
      ...(preempted ? { conditions } : {}),
    },
  } as unknown as Pod;
}

export function info(name: string, facts: PodFacts = {}): PodInfo {
  return podInfo(pod(name, facts));
}

export function nodeWith(object: Node, ...pods: readonly PodInfo[]): NodeInfo {
  return new NodeInfo(object, pods);
}

export interface ViewFacts {
  readonly nodes?: readonly NodeInfo[];
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly spreadBy?: Readonly<Record<string, string>>;
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
  readonly storageClasses?: readonly StorageClass[];
  readonly csiNodes?: readonly CSINode[];
  readonly csiDrivers?: readonly CSIDriver[];
  readonly capacities?: readonly CSIStorageCapacity[];
}

export function view(facts: ViewFacts): ClusterView {
  const {
    nodes = [],
    namespaces = {},
    spreadBy,
    claims = [],
    volumes = [],
    storageClasses = [],
    csiNodes = [],
    csiDrivers = [],
    capacities = [],
  } = facts;
  const named = <T extends { metadata: { name: string } }>(all: readonly T[], name: string) =>
    all.find(({ metadata }) => metadata.name === name);
  return {
    nodes,
    namespaceLabels: (name) => namespaces[name] ?? {},
    spreadSelector: () => spreadBy && labelTest({ matchLabels: spreadBy }),
    storage: {
      claim: (namespace, name) => claims.find(({ metadata }) => keyText(metadata) === `${namespace}/${name}`),
      volume: (name) => named(volumes, name),
      volumesOf: (name) => volumes.filter(({ spec }) => (spec.storageClassName ?? "") === name),
      storageClass: (name) => named(storageClasses, name),
      csiNode: (name) => named(csiNodes, name),
      csiDriver: (name) => named(csiDrivers, name),
      capacitiesOf: (name) => capacities.filter(({ storageClassName }) => storageClassName === name),
    },
  };
}
