import type { CSINode, Informer, KubeObject, Node, StorageClass } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { segmentsOfDriver, topologyOf, type TopologyCaches, type TopologyQuery } from "./topology.ts";

const KEY = "topology/zone";
const DRIVER = "cinder.csi.openstack.org";

interface Member {
  readonly labels?: Readonly<Record<string, string>>;
  readonly driver?: string;
  readonly keys?: readonly string[];
}

function informerOf<T extends KubeObject>(objects: readonly T[]): Informer<T> {
  const get = ({ name }: { readonly name: string }) => objects.find(({ metadata }) => metadata.name === name);
  return { list: () => objects, get } as unknown as Informer<T>;
}
function cachesOf(members: Readonly<Record<string, Member>>): TopologyCaches {
  const all = Object.entries(members);
  const nodes = all.map(([name, { labels = {} }]) => ({ metadata: { name, labels } }) as unknown as Node);
  const csiNodes = all.map(([name, { driver = DRIVER, keys = [KEY] }]) => {
    const drivers = driver === "" ? [] : [{ name: driver, nodeID: name, topologyKeys: keys }];
    return { metadata: { name }, spec: { drivers } } as unknown as CSINode;
  });
  return { nodes: informerOf(nodes), csiNodes: informerOf(csiNodes), places: new WeakMap() };
}
const inZone = (zone: string): Member => ({ labels: { [KEY]: zone } });
const storageClass = (...values: string[]) =>
  ({
    metadata: { name: "s" },
    ...(values.length > 0 && { allowedTopologies: [{ matchLabelExpressions: [{ key: KEY, values }] }] }),
  }) as unknown as StorageClass;
const query = (change: Partial<TopologyQuery> = {}): TopologyQuery => ({
  driver: DRIVER,
  storageClass: storageClass(),
  node: undefined,
  seed: "data",
  ...change,
});
/** The zones that may be used, and those that are preferred; or why there are none. */
function zonesOf(caches: TopologyCaches, change: Partial<TopologyQuery> = {}) {
  const result = topologyOf(caches, query(change));
  if (result.type !== "known") return result.type;
  const { requisite, preferred } = result.topologies;
  return [requisite, preferred].map((all) => all.map(({ segments }) => segments[KEY]).join(" "));
}

describe("the topology of a claim", () => {
  const three = cachesOf({ a: inZone("z1"), b: inZone("z2"), c: inZone("z2"), d: inZone("z3") });

  test("is every zone once, and that of the chosen node is preferred", () => {
    expect(zonesOf(three, { node: "b" })).toEqual(["z1 z2 z3", "z2 z3 z1"]);
    expect(zonesOf(three, { node: "d" })).toEqual(["z1 z2 z3", "z3 z1 z2"]);
  });

  test("begins with a zone that the claim's name chooses where no node was chosen", () => {
    const firsts = ["a", "b", "c", "d", "e", "f", "g"].map((seed) => zonesOf(three, { seed })[1]?.slice(0, 2));
    expect(new Set(firsts).size).toBeGreaterThan(1);
    expect(zonesOf(three, { seed: "a" })).toEqual(zonesOf(three, { seed: "a" }));
  });

  test("is limited by the StorageClass, and waits where the chosen node is outside of it", () => {
    expect(zonesOf(three, { storageClass: storageClass("z1", "z3"), node: "d" })).toEqual(["z1 z3", "z3 z1"]);
    expect(zonesOf(three, { storageClass: storageClass("z1"), node: "d" })).toBe("waiting");
    expect(zonesOf(three, { storageClass: storageClass("elsewhere") })).toBe("waiting");
  });

  test("waits for a node that has the driver and the labels", () => {
    const some = cachesOf({ a: { ...inZone("z1"), driver: "" }, b: { labels: {} }, c: inZone("z3") });
    expect(zonesOf(some)).toEqual(["z3", "z3"]);
    for (const node of ["a", "b", "gone"]) expect(zonesOf(some, { node })).toBe("waiting");
    expect(zonesOf(cachesOf({ a: { driver: "" } }))).toBe("waiting");
  });

  test("is none where the driver registers no keys", () => {
    expect(zonesOf(cachesOf({ a: { ...inZone("z1"), keys: [] } }))).toBe("none");
  });

  test("is read again for another key", () => {
    const labels = { [KEY]: "z1", rack: "r1" };
    const caches = cachesOf({ a: { labels }, b: { labels: { ...labels, rack: "r2" }, keys: [KEY, "rack"] } });
    expect(segmentsOfDriver(caches, DRIVER)).toEqual([{ rack: "r2", [KEY]: "z1" }, { [KEY]: "z1" }]);
    expect(zonesOf(caches, { node: "b" })).toEqual(["z1 z1", "z1 z1"]);
    expect(segmentsOfDriver(caches, "other")).toEqual([]);
  });
});
