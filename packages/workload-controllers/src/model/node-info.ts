import type { Node } from "@causeway/kubernetes";
import type { HostPort, PodInfo } from "./pod-info.ts";
import { amounts, type Amounts } from "./quantity.ts";
import { imagesOf } from "./spec.ts";

/** A node with the pods that are on it, and what they take, kept current as pods come and go. */
export class NodeInfo {
  readonly node: Node;
  readonly allocatable: Amounts;
  readonly pods: Map<string, PodInfo>;
  readonly requested: Record<string, number>;
  readonly scored: Record<string, number>;
  /** Pods that attract or repel others. */
  readonly withAffinity: Map<string, PodInfo>;
  #images: ReadonlyMap<string, number> | undefined;

  constructor(node: Node, pods: Iterable<PodInfo> = []) {
    this.node = node;
    this.allocatable = amounts(node.status?.allocatable);
    this.pods = new Map();
    this.requested = {};
    this.scored = {};
    this.withAffinity = new Map();
    for (const pod of pods) this.add(pod);
  }

  get name(): string {
    return this.node.metadata.name;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.node.metadata.labels ?? {};
  }

  /** Sizes in bytes by image name. */
  get images(): ReadonlyMap<string, number> {
    this.#images ??= new Map(
      // A kubelet reports null for an image that lost its names.
      imagesOf(this.node).flatMap(({ names, sizeBytes = 0 }) =>
        (names ?? []).map((name) => [name, sizeBytes] as const),
      ),
    );
    return this.#images;
  }

  add(pod: PodInfo): void {
    this.remove(pod.key);
    this.pods.set(pod.key, pod);
    count(this.requested, pod.requests, 1);
    count(this.scored, pod.scored, 1);
    const terms = [pod.affinity, pod.antiAffinity, pod.preferredAffinity, pod.preferredAntiAffinity];
    if (terms.some(({ length }) => length > 0)) this.withAffinity.set(pod.key, pod);
  }

  remove(key: string): void {
    const pod = this.pods.get(key);
    if (!pod) return;
    this.pods.delete(key);
    this.withAffinity.delete(key);
    count(this.requested, pod.requests, -1);
    count(this.scored, pod.scored, -1);
  }

  /** The same node with other pods on it. */
  with(pods: Iterable<PodInfo>): NodeInfo {
    return new NodeInfo(this.node, pods);
  }

  hasFree(port: HostPort): boolean {
    for (const { hostPorts } of this.pods.values()) {
      if (hostPorts.some((used) => collides(used, port))) return false;
    }
    return true;
  }
}

function collides(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === "0.0.0.0" || b.ip === "0.0.0.0";
}

function count(total: Record<string, number>, of: Amounts, sign: 1 | -1): void {
  for (const [name, value] of Object.entries(of)) total[name] = (total[name] ?? 0) + sign * value;
}
