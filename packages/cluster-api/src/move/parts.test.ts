import type { KubeObject, ResourceType } from "@causeway/kubernetes";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { marks, type Member } from "./graph.ts";
import { belongings, membersOf, nextWave, partsOf } from "./parts.ts";

const type: ResourceType<KubeObject> = { group: "", version: "v1", kind: "Any", plural: "anys", namespaced: true };

interface Given {
  readonly kind?: string;
  readonly owners?: readonly string[];
  readonly cluster?: string;
  readonly spec?: object;
  readonly annotations?: Record<string, string>;
}

function member(name: string, { kind = "Any", owners = [], cluster, spec, annotations = {} }: Given = {}): Member {
  const apiVersion = kind === "Cluster" ? "cluster.x-k8s.io/v1beta2" : kind === "Secret" ? "v1" : "x/v1";
  const ownerReferences = owners.map((uid) => ({ apiVersion: "x/v1", kind: "Any", name: uid, uid }));
  const labels = cluster === undefined ? {} : { "cluster.x-k8s.io/cluster-name": cluster };
  const metadata = { namespace: "n", name, uid: name, labels, annotations, ownerReferences };
  return { type, object: { apiVersion, kind, metadata, ...(spec === undefined ? {} : { spec }) } as KubeObject };
}
const cluster = (name: string, annotations: Record<string, string> = {}): Member =>
  member(name, { kind: "Cluster", annotations });
const names = (members: readonly Member[] = []): string[] => members.map(({ object }) => object.metadata.name);

const graph = [
  cluster("a"),
  cluster("b"),
  member("plane-a", { owners: ["a"], spec: { pods: { cloudConfigSecret: "cloud-a" } } }),
  member("root-a", { kind: "Secret", owners: ["plane-a"] }),
  member("machine-b", { spec: { clusterName: "b", identityRef: { name: "cloud-ab" } } }),
  member("infra-a", { owners: ["a"], spec: { identityRef: { name: "cloud-ab" } } }),
  member("cloud-a", { kind: "Secret" }),
  member("cloud-ab", { kind: "Secret" }),
  member("kubeconfig-b", { kind: "Secret", cluster: "b" }),
  member("set", { spec: { clusterSelector: {} } }),
  member("of-a-deleted-one", { kind: "Secret", cluster: "gone" }),
];

describe("the parts of a graph", () => {
  test("are by cluster, with what only one uses, and what several or none use", () => {
    const { own, shared } = partsOf(graph);
    expect(names(own.get("a"))).toEqual(["a", "plane-a", "root-a", "infra-a", "cloud-a"]);
    expect(names(own.get("b"))).toEqual(["b", "machine-b", "kubeconfig-b"]);
    expect(names(shared)).toEqual(["cloud-ab", "set", "of-a-deleted-one"]);
  });

  test("are of the last cluster once it is the only one that uses them", () => {
    const { own } = partsOf(graph.filter(({ object }) => !["a", "infra-a"].includes(object.metadata.name)));
    expect(names(own.get("b"))).toContain("cloud-ab");
  });
});

test("a hosted control plane is of the cluster that owns it, whatever its labels are", () => {
  const plane = member("plane", { kind: "HostedControlPlane", owners: ["a"], cluster: "b" });
  const { own, shared } = partsOf([cluster("a"), cluster("b"), plane]);
  expect([names(own.get("a")), names(shared)]).toEqual([["a", "plane"], []]);
});

describe("the next wave of a move", () => {
  const [to, copied] = [{ [marks.target]: "there" }, { [marks.target]: "there", [marks.copied]: "there" }];
  test.for<[string, Member[], string[], boolean]>([
    ["the first clusters by name", [cluster("c"), cluster("b"), cluster("a")], ["a", "b"], false],
    ["all that are left", [cluster("c"), cluster("b")], ["b", "c"], false],
    ["those that were paused before the end of an attempt", [cluster("a"), cluster("c", to)], ["c"], false],
    ["those that were copied", [cluster("a"), cluster("b", to), cluster("c", copied)], ["c"], true],
  ])("is %s", ([, members, clusters, isCopied]) => {
    expect(nextWave(members, { target: "there", size: 2 })).toEqual({ clusters, isCopied, isWhole: false });
  });

  test("without a size is everything, and copied only where all of it is", () => {
    const all = [cluster("a"), cluster("b", copied)];
    const wave = { clusters: ["a", "b"], isCopied: false, isWhole: true };
    expect(nextWave(all, { target: "there", size: undefined })).toEqual(wave);
    const again = nextWave([cluster("b", copied)], { target: "there", size: undefined });
    expect(again).toEqual({ clusters: ["b"], isCopied: true, isWhole: true });
    expect(belongings([...graph, cluster("late")], wave)).toHaveLength(graph.length + 1);
  });

  test("takes what is shared only with the last cluster that there is by then", () => {
    const wave = { clusters: ["b"], isCopied: false, isWhole: false };
    expect(names(belongings([cluster("b"), member("set")], wave))).toEqual(["b", "set"]);
    expect(names(belongings([cluster("b"), cluster("late"), member("set")], wave))).toEqual(["b"]);
  });

  test("is none where no cluster is left", () => {
    expect(nextWave([member("x")], { target: "there", size: 2 })).toBeUndefined();
  });

  test("of whatever size, waves move every object, each with all that its clusters use", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), (size) => {
        let left = graph;
        const moved = new Set<Member>();
        for (let rounds = 0; rounds < 5; rounds += 1) {
          const wave = nextWave(left, { target: "there", size });
          if (wave === undefined) break;
          const members = membersOf(left, wave);
          expect(members.filter(({ object }) => object.kind === "Cluster")).toHaveLength(wave.clusters.length);
          for (const each of members) moved.add(each);
          const gone = new Set(belongings(left, wave));
          left = left.filter((each) => !gone.has(each));
        }
        expect(left).toEqual([]);
        expect(moved.size).toBe(graph.length);
      }),
    );
  });
});
