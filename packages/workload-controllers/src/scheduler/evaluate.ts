import type { Failure, NodeTest } from "./filters/interface.ts";
import { filters } from "./filters/table.ts";
import type { NodeInfo } from "../model/node-info.ts";
import type { PodInfo } from "../model/pod-info.ts";
import { withNode, type ClusterView } from "./view.ts";

/** A failure, and the filter it comes from. */
export interface NodeFailure extends Failure {
  readonly filter: string;
}

/** The filters for one pod: `test` returns the first failure on a node, or undefined where the pod fits. */
export interface Prepared {
  /** Why the pod cannot run anywhere, if so. */
  readonly rejection?: { readonly filter: string; readonly message: string };
  readonly test: (node: NodeInfo) => NodeFailure | undefined;
}

/** All filters, ready for one pod and one view. */
export function prepareFilters(pod: PodInfo, view: ClusterView): Prepared {
  const tests: { filter: string; test: NodeTest }[] = [];
  for (const filter of filters) {
    const prepared = filter.prepare(pod, view);
    if (prepared === undefined) continue;
    if (typeof prepared !== "function") {
      return { rejection: { filter: filter.name, message: prepared.rejected }, test: () => undefined };
    }
    tests.push({ filter: filter.name, test: prepared });
  }
  return {
    test(node) {
      for (const { filter, test } of tests) {
        const failure = test(node);
        if (failure) return { ...failure, filter };
      }
      return undefined;
    },
  };
}

/** Whether a pod could run on a node if the node were so. */
export function failureOn(pod: PodInfo, node: NodeInfo, view: ClusterView): NodeFailure | undefined {
  const { rejection, test } = prepareFilters(pod, withNode(view, node));
  if (rejection) return { filter: rejection.filter, reasons: [rejection.message], final: true };
  return test(node);
}

/** The nodes on which the pod can run, as many as were enough, and why it cannot run on others. */
export interface Evaluation {
  readonly feasible: readonly NodeInfo[];
  /** By node name. */
  readonly failures: ReadonlyMap<string, NodeFailure>;
  readonly rejection?: { readonly filter: string; readonly message: string };
  /** How many nodes have been tested. */
  readonly tested: number;
}

/** What the search depends on in addition to pod and cluster. */
export interface EvaluationOptions {
  /** Pods of the same or a higher priority for which victims have been removed from a node. */
  readonly nominatedTo: (node: string) => readonly PodInfo[];
  /** The node to start with, so that large clusters are used evenly. */
  readonly start: number;
}

/** Tests nodes until enough are found. */
export function evaluate(pod: PodInfo, view: ClusterView, options: EvaluationOptions): Evaluation {
  const { rejection, test } = prepareFilters(pod, view);
  if (rejection) return { feasible: [], failures: new Map(), rejection, tested: 0 };
  const { nodes } = view;
  const feasible: NodeInfo[] = [];
  const failures = new Map<string, NodeFailure>();
  const enough = nodesToFind(nodes.length);
  let tested = 0;
  while (tested < nodes.length && feasible.length < enough) {
    const node = nodes[(options.start + tested) % nodes.length];
    tested++;
    if (!node) continue;
    const failure = test(node) ?? failureWithNominated(pod, node, { view, options });
    if (failure) failures.set(node.name, failure);
    else feasible.push(node);
  }
  return { feasible, failures, tested };
}

function failureWithNominated(
  pod: PodInfo,
  node: NodeInfo,
  { view, options }: { readonly view: ClusterView; readonly options: EvaluationOptions },
): NodeFailure | undefined {
  const expected = options
    .nominatedTo(node.name)
    .filter(({ key, priority }) => key !== pod.key && priority >= pod.priority && !node.pods.has(key));
  if (expected.length === 0) return undefined;
  return failureOn(pod, node.with([...node.pods.values(), ...expected]), view);
}

const leastNodes = 100;

/**
 * All nodes up to 100; then between 50 % and 5 % of them, the fewer the more there are (kube-scheduler's adaptive
 * percentage).
 */
export function nodesToFind(count: number): number {
  if (count <= leastNodes) return count;
  const percentage = Math.max(5, 50 - Math.floor(count / 125));
  return Math.max(leastNodes, Math.floor((count * percentage) / 100));
}
