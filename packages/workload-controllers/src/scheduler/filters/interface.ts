import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import type { ClusterView } from "../view.ts";

/** Why a pod cannot run on a node. */
export interface Failure {
  /** As `kubectl describe pod` counts them. */
  readonly reasons: readonly string[];
  /** True: it would not help to remove pods from the node. */
  readonly final: boolean;
}

/** A filter that was prepared for one pod. Undefined: the pod can run on the node. */
export type NodeTest = (node: NodeInfo) => Failure | undefined;

/** Why a pod cannot run on any node. */
export interface Rejection {
  readonly rejected: string;
}

/** What may happen in a cluster that lets a pod run which could not before. */
export type ClusterEvent =
  | "node-added"
  | "node-changed"
  | "pod-added"
  | "pod-changed"
  | "pod-removed"
  | "claim-changed"
  | "volume-changed"
  | "storage-class-changed"
  | "csi-node-changed"
  | "storage-capacity-changed";

/** One rule about where a pod can run. */
export interface Filter {
  readonly name: string;
  /** The events after which a pod that this filter kept from nodes is tried again. */
  readonly wokenBy: readonly ClusterEvent[];
  /** Reads what it needs once for a pod. Undefined: the filter has no say about this pod. */
  prepare(pod: PodInfo, view: ClusterView): NodeTest | Rejection | undefined;
}

/** A failure that goes away when pods do. */
export function busy(reason: string): Failure {
  return { reasons: [reason], final: false };
}

/** A failure that remains when pods go: preemption does not try the node. */
export function final(reason: string): Failure {
  return { reasons: [reason], final: true };
}
