import { createHash } from "node:crypto";
import { canonicalJson } from "@causeway/foundation";
import type { CSINode, Informer, Node, StorageClass } from "@causeway/kubernetes";

type Segments = Readonly<Record<string, string>>;

/** The values of a node's topology keys. */
interface Place {
  readonly keys: string;
  /** The same for each node of the place. */
  readonly id: string;
  readonly segments: Segments;
}

/** The informers that topologies are read from. */
export interface TopologyCaches {
  readonly nodes: Informer<Node>;
  readonly csiNodes: Informer<CSINode>;
  /** Of each node as it is now: every claim reads those of all nodes. */
  readonly places: WeakMap<Node, Place>;
}

/** CSI's TopologyRequirement: all places that are allowed, and the same ones beginning with the preferred one. */
export interface Topologies {
  readonly requisite: readonly { readonly segments: Record<string, string> }[];
  readonly preferred: readonly { readonly segments: Record<string, string> }[];
}

/** Where a volume may be; "none": the driver's nodes have no topology keys. */
export type TopologyResult =
  | { readonly type: "none" }
  | { readonly type: "waiting"; readonly why: string }
  | { readonly type: "known"; readonly topologies: Topologies };

/** Which volume `topologyOf` is about. */
export interface TopologyQuery {
  readonly driver: string;
  readonly storageClass: StorageClass;
  /** The node that the scheduler chose. */
  readonly node: string | undefined;
  /** Which zone is preferred when no node was chosen: the claim's name. */
  readonly seed: string;
}

/**
 * The zones of all nodes with the driver, within the StorageClass's allowedTopologies; that of the chosen node first.
 */
export function topologyOf(caches: TopologyCaches, query: TopologyQuery): TopologyResult {
  const { driver, storageClass, node, seed } = query;
  const keys = keysOf(caches, driver, node);
  if (keys === undefined) {
    const why = node === undefined ? `no node has driver ${driver}` : `node ${node} does not have driver ${driver}`;
    return { type: "waiting", why };
  }
  if (keys.length === 0) return { type: "none" };
  const known = new Map<string, Segments>();
  for (const csiNode of caches.csiNodes.list()) {
    const place = hasDriver(csiNode, driver) ? placeOf(caches, csiNode.metadata.name, keys) : undefined;
    if (place) known.set(place.id, place.segments);
  }
  const allowed = [...known.entries()]
    .filter(([, segments]) => isAllowed(storageClass, segments))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const chosen = node === undefined ? undefined : placeOf(caches, node, keys);
  if (allowed.length === 0 || (node !== undefined && (!chosen || !isAllowed(storageClass, chosen.segments)))) {
    return { type: "waiting", why: "no topology of a node is allowed by the StorageClass" };
  }
  const begin = chosen ? allowed.findIndex(([id]) => id === chosen.id) : hashOf(seed) % allowed.length;
  const all = allowed.map(([, segments]) => ({ segments: { ...segments } }));
  return { type: "known", topologies: { requisite: all, preferred: [...all.slice(begin), ...all.slice(0, begin)] } };
}

/** Each different segment of the nodes that have the driver. */
export function segmentsOfDriver(caches: TopologyCaches, driver: string): readonly Record<string, string>[] {
  const known = new Map<string, Record<string, string>>();
  for (const csiNode of caches.csiNodes.list()) {
    const keys = driverOf(csiNode, driver)?.topologyKeys;
    const place = keys ? placeOf(caches, csiNode.metadata.name, keys) : undefined;
    if (place) known.set(place.id, { ...place.segments });
  }
  return [...known.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, segments]) => segments);
}

const driverOf = (csiNode: CSINode | undefined, driver: string) =>
  csiNode?.spec.drivers?.find(({ name }) => name === driver);
const hasDriver = (csiNode: CSINode, driver: string): boolean => driverOf(csiNode, driver) !== undefined;

/** The topology keys of the chosen node, else of any; undefined: there is none. */
function keysOf({ csiNodes }: TopologyCaches, driver: string, node: string | undefined): readonly string[] | undefined {
  const candidates = node === undefined ? csiNodes.list() : [csiNodes.get({ namespace: "", name: node })];
  return (
    candidates.map((each) => driverOf(each, driver)).find((each) => each !== undefined)?.topologyKeys ??
    (candidates.some((each) => driverOf(each, driver)) ? [] : undefined)
  );
}

function placeOf({ nodes, places }: TopologyCaches, name: string, keys: readonly string[]): Place | undefined {
  const node = nodes.get({ namespace: "", name });
  const known = node && places.get(node);
  if (!node || known?.keys === keys.join(" ")) return known;
  const labels = node.metadata.labels ?? {};
  const found = keys.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]] as const]));
  if (found.length !== keys.length) return undefined;
  const segments = Object.fromEntries(found);
  const place = { keys: keys.join(" "), id: canonicalJson(segments), segments };
  places.set(node, place);
  return place;
}

function isAllowed({ allowedTopologies = [] }: StorageClass, segments: Segments): boolean {
  if (allowedTopologies.length === 0) return true;
  return allowedTopologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values = [] }) => values.includes(segments[key] ?? "")),
  );
}

const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE(0);
