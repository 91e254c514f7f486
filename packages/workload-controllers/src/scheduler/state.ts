import type { Node } from "@causeway/kubernetes";
import { NodeInfo } from "../model/node-info.ts";
import type { PodInfo } from "../model/pod-info.ts";

/**
 * The nodes with what is on them, kept current by events: a pod for which a node has been chosen counts there at once
 * (it is assumed), though the API server does not show it yet.
 */
export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>();
  /** By pod, the node that it counts for. */
  readonly #placed = new Map<string, { readonly pod: PodInfo; readonly node: string; readonly assumed: boolean }>();
  /** By node that is not known (yet), the pods that are on it. */
  readonly #elsewhere = new Map<string, Map<string, PodInfo>>();
  readonly #nominated = new Map<string, { readonly pod: PodInfo; readonly node: string }>();
  #list: readonly NodeInfo[] | undefined;

  get nodes(): readonly NodeInfo[] {
    this.#list ??= [...this.#nodes.values()];
    return this.#list;
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name);
  }

  setNode(node: Node): void {
    const { name } = node.metadata;
    const pods = this.#nodes.get(name)?.pods ?? this.#elsewhere.get(name);
    this.#elsewhere.delete(name);
    this.#nodes.set(name, new NodeInfo(node, pods?.values() ?? []));
    this.#list = undefined;
  }

  removeNode(name: string): void {
    const pods = this.#nodes.get(name)?.pods;
    if (pods && pods.size > 0) this.#elsewhere.set(name, new Map(pods));
    this.#nodes.delete(name);
    this.#list = undefined;
  }

  isPlaced(key: string): boolean {
    return this.#placed.has(key);
  }

  /** The API server shows the pod on a node. */
  place(pod: PodInfo, node: string): void {
    this.#put(pod, node, false);
  }

  /** A node has been chosen for the pod. */
  assume(pod: PodInfo, node: string): void {
    this.#put(pod, node, true);
  }

  /** The choice came to nothing. */
  forget(key: string): void {
    if (this.#placed.get(key)?.assumed) this.remove(key);
  }

  isAssumed(key: string): boolean {
    return this.#placed.get(key)?.assumed === true;
  }

  /** Returns whether it counted for a node. */
  remove(key: string): boolean {
    const placed = this.#placed.get(key);
    if (!placed) return false;
    this.#placed.delete(key);
    this.#nodes.get(placed.node)?.remove(key);
    const elsewhere = this.#elsewhere.get(placed.node);
    elsewhere?.delete(key);
    if (elsewhere?.size === 0) this.#elsewhere.delete(placed.node);
    return true;
  }

  /** Pods are being removed from the node for this pod. An empty name takes it back. */
  nominate(pod: PodInfo, node: string): void {
    if (node === "") this.#nominated.delete(pod.key);
    else this.#nominated.set(pod.key, { pod, node });
  }

  dropNomination(key: string): void {
    this.#nominated.delete(key);
  }

  nominatedTo(node: string): readonly PodInfo[] {
    if (this.#nominated.size === 0) return [];
    return [...this.#nominated.values()].filter((one) => one.node === node).map(({ pod }) => pod);
  }

  #put(pod: PodInfo, node: string, assumed: boolean): void {
    const before = this.#placed.get(pod.key);
    if (before && before.node !== node) this.remove(pod.key);
    this.#placed.set(pod.key, { pod, node, assumed });
    const info = this.#nodes.get(node);
    if (info) info.add(pod);
    else this.#elsewhere.getOrInsertComputed(node, () => new Map<string, PodInfo>()).set(pod.key, pod);
  }
}
