import { countSelected, spreadConstraints } from "../filters/spread-constraints.ts";
import type { NodeInfo } from "../../model/node-info.ts";
import type { PodInfo } from "../../model/pod-info.ts";
import type { LabelTest } from "../../model/selector.ts";
import type { ClusterView } from "../view.ts";
import { highest, type Score } from "./interface.ts";

const hostname = "kubernetes.io/hostname";

interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly selects: LabelTest;
  includes(node: NodeInfo): boolean;
}

/**
 * Nodes in domains with fewer of the selected pods are better, by the pod's ScheduleAnyway constraints. A pod that has
 * no constraint at all is spread over nodes and zones with the pods of its Services and of its controller.
 */
export const podTopologySpreadScore: Score = {
  name: "PodTopologySpread",
  weight: 2,
  rate(pod, nodes, view) {
    const isOwn = (pod.spec.topologySpreadConstraints ?? []).length > 0;
    const constraints = isOwn ? spreadConstraints(pod, "ScheduleAnyway") : defaultConstraints(pod, view);
    if (constraints.length === 0) return undefined;
    const isRated = nodes.map(
      ({ labels }) => !isOwn || constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined),
    );
    const rated = nodes.filter((_, i) => isRated[i]);
    const among = { pod, view, isOwn, constraints, rated, countOn: countsOnce(pod.namespace) };
    const counters = constraints.map((constraint) => counter(constraint, among));
    const raw = nodes.map((node, i) =>
      isRated[i] ? Math.round(counters.reduce((sum, count) => sum + count(node), 0)) : undefined,
    );
    return normalise(raw);
  },
};

function defaultConstraints(pod: PodInfo, view: ClusterView): Constraint[] {
  const selects = view.spreadSelector(pod);
  if (!selects) return [];
  const includes = ({ node }: NodeInfo) => !pod.restrictsNodes || pod.selectsNode(node);
  return [
    { topologyKey: hostname, maxSkew: 3, selects, includes },
    { topologyKey: "topology.kubernetes.io/zone", maxSkew: 5, selects, includes },
  ];
}

interface Among {
  readonly pod: PodInfo;
  readonly view: ClusterView;
  readonly isOwn: boolean;
  readonly constraints: readonly Constraint[];
  readonly rated: readonly NodeInfo[];
  readonly countOn: CountOn;
}

type CountOn = (node: NodeInfo, selects: LabelTest) => number;

/** Constraints that select alike share their counts. */
function countsOnce(namespace: string): CountOn {
  const known = new Map<LabelTest, Map<NodeInfo, number>>();
  return (node, selects) =>
    known
      .getOrInsertComputed(selects, () => new Map<NodeInfo, number>())
      .getOrInsertComputed(node, () => countSelected(node, namespace, selects));
}

function counter(
  constraint: Constraint,
  { view, isOwn, constraints, rated, countOn }: Among,
): (node: NodeInfo) => number {
  const { topologyKey, maxSkew, selects } = constraint;
  if (topologyKey === hostname) {
    const weight = Math.log(rated.length + 2);
    return (node) => (node.labels[hostname] === undefined ? 0 : countOn(node, selects) * weight + (maxSkew - 1));
  }
  const counts = new Map<string, number>();
  for (const { labels } of rated) if (labels[topologyKey] !== undefined) counts.set(labels[topologyKey], 0);
  for (const node of view.nodes) {
    const domain = node.labels[topologyKey];
    const before = domain === undefined ? undefined : counts.get(domain);
    if (domain === undefined || before === undefined || !constraint.includes(node)) continue;
    if (isOwn && !constraints.every((other) => node.labels[other.topologyKey] !== undefined)) continue;
    counts.set(domain, before + countOn(node, selects));
  }
  const weight = Math.log(counts.size + 2);
  return ({ labels }) => {
    const domain = labels[topologyKey];
    return domain === undefined ? 0 : (counts.get(domain) ?? 0) * weight + (maxSkew - 1);
  };
}

function normalise(raw: readonly (number | undefined)[]): number[] {
  const known = raw.filter((value) => value !== undefined);
  const largest = Math.max(0, ...known);
  const least = Math.min(...known);
  return raw.map((value) => {
    if (value === undefined) return 0;
    return largest === 0 ? highest : Math.floor((highest * (largest + least - value)) / largest);
  });
}
