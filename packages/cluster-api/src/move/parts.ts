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
  // Whose it is decides when it is handed over: its owner says so, and no label that a tenant may write.
  if (member.object.kind === "HostedControlPlane") return [];
  const named = isRecord(spec) ? spec["clusterName"] : undefined;
  const label = metadata.labels?.[clusterLabel];
  return [...(label === undefined ? [] : [label]), ...(typeof named === "string" ? [named] : [])];
}

/** Clusters that move together. */
export interface Wave {
  readonly clusters: readonly string[];
  /** All is in the target and compared. */
  readonly isCopied: boolean;
  /** Everything in the namespace moves at once. */
  readonly isWhole: boolean;
}

/**
 * The next clusters: those of an attempt that ended come first. Undefined: none is left. `target`: as the marks of the
 * source have it. `size`: how many; undefined: all that there are, with all that there is.
 */
export function nextWave(
  graph: readonly Member[],
  { target, size }: { readonly target: string; readonly size: number | undefined },
): Wave | undefined {
  const clusters = graph.filter(isCluster).map(({ object: { metadata } }) => ({
    name: metadata.name,
    isCopied: metadata.annotations?.[marks.copied] === target,
    isPaused: metadata.annotations?.[marks.target] === target,
  }));
  if (clusters.length === 0) return undefined;
  if (size === undefined)
    return {
      clusters: clusters.map(({ name }) => name),
      isCopied: clusters.every((each) => each.isCopied),
      isWhole: true,
    };
  const groups = [
    clusters.filter((each) => each.isCopied),
    clusters.filter((each) => each.isPaused && !each.isCopied),
    clusters,
  ];
  const group = groups.find(({ length }) => length > 0) ?? clusters;
  const chosen = group.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, size);
  return {
    clusters: chosen.map(({ name }) => name),
    isCopied: chosen.every((each) => each.isCopied),
    isWhole: false,
  };
}

/** What belongs to clusters of the wave only; with the last ones of the graph, all that there is. */
export function belongings(graph: readonly Member[], { clusters, isWhole }: Wave): Member[] {
  const present = graph.filter(isCluster).map(({ object }) => object.metadata.name);
  if (isWhole || present.every((name) => clusters.includes(name))) return [...graph];
  const { own } = partsOf(graph);
  const included = new Set(clusters.flatMap((name) => own.get(name) ?? []));
  return graph.filter((member) => included.has(member));
}

/** What moves with a wave, in the order of the graph: what is shared, too, as its clusters need it. */
export function membersOf(graph: readonly Member[], { clusters, isWhole }: Wave): Member[] {
  if (isWhole) return [...graph];
  const { own, shared } = partsOf(graph);
  const included = new Set([...shared, ...clusters.flatMap((name) => own.get(name) ?? [])]);
  return graph.filter((member) => included.has(member));
}
