import { isRecord } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { isCluster, marks, secretsNamedBy, type Member } from "./graph.ts";

/** A graph by the clusters that its objects belong to. */
export interface Parts {
  /** By the names of clusters: what belongs to this one only, the Cluster included. */
  readonly own: ReadonlyMap<string, readonly Member[]>;
  /** What several clusters use, such as credentials, or none: it moves with the last of them. */
  readonly shared: readonly Member[];
}

const clusterLabel = "cluster.x-k8s.io/cluster-name";

/** `graph` has owners first. */
export function partsOf(graph: readonly Member[]): Parts {
  const clusters = new Set(graph.filter(isCluster).map(({ object }) => object.metadata.name));
  const belongsTo = new Map<string, Set<string>>();
  const of = ({ metadata }: KubeObject): Set<string> => {
    const uid = metadata.uid ?? "";
    const found = belongsTo.get(uid) ?? new Set<string>();
    belongsTo.set(uid, found);
    return found;
  };
  for (const member of graph) {
    const found = of(member.object);
    for (const name of namedIn(member)) if (clusters.has(name)) found.add(name);
    for (const { uid } of member.object.metadata.ownerReferences ?? [])
      for (const name of belongsTo.get(uid) ?? []) found.add(name);
  }
  const secrets = new Map(graph.filter(isSecret).map(({ object }) => [object.metadata.name, object]));
  for (const { object } of graph)
    for (const name of secretsNamedBy(object)) {
      const secret = secrets.get(name);
      for (const cluster of secret ? of(object) : []) of(secret as KubeObject).add(cluster);
    }
  const own = new Map([...clusters].map((name): [string, Member[]] => [name, []]));
  const shared: Member[] = [];
  for (const member of graph) {
    const [only, ...more] = of(member.object);
    (only === undefined || more.length > 0 ? shared : (own.get(only) ?? shared)).push(member);
  }
  return { own, shared };
}

const isSecret = ({ object }: Member): boolean => object.kind === "Secret" && object.apiVersion === "v1";

function namedIn(member: Member): string[] {
  const { metadata, spec } = member.object as KubeObject & { spec?: unknown };
  if (isCluster(member)) return [metadata.name];
  const named = isRecord(spec) ? spec["clusterName"] : undefined;
  const label = metadata.labels?.[clusterLabel];
  return [...(label === undefined ? [] : [label]), ...(typeof named === "string" ? [named] : [])];
}

/** Clusters that move together, and whether they are the last ones. */
export interface Wave {
  readonly clusters: readonly string[];
  /** All is in the target and compared. */
  readonly isCopied: boolean;
  readonly isLast: boolean;
}

/**
 * The next clusters: those of an attempt that ended come first. Undefined: none is left. `target`: as the marks of the
 * source have it.
 */
export function nextWave(
  graph: readonly Member[],
  { target, size }: { readonly target: string; readonly size: number },
): Wave | undefined {
  const clusters = graph.filter(isCluster).map(({ object: { metadata } }) => ({
    name: metadata.name,
    isCopied: metadata.annotations?.[marks.copied] === target,
    isPaused: metadata.annotations?.[marks.target] === target,
  }));
  const groups = [
    clusters.filter((each) => each.isCopied),
    clusters.filter((each) => each.isPaused && !each.isCopied),
    clusters,
  ];
  const group = groups.find(({ length }) => length > 0);
  if (group === undefined) return undefined;
  const chosen = group.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, size);
  return {
    clusters: chosen.map(({ name }) => name),
    isCopied: chosen.every((each) => each.isCopied),
    isLast: chosen.length === clusters.length,
  };
}

/** What moves with a wave, in the order of the graph: what is shared, too, as its clusters need it. */
export function membersOf(graph: readonly Member[], { clusters }: Pick<Wave, "clusters">): Member[] {
  const { own, shared } = partsOf(graph);
  const included = new Set([...shared, ...clusters.flatMap((name) => own.get(name) ?? [])]);
  return graph.filter((member) => included.has(member));
}
