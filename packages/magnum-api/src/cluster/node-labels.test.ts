import { annotations, type MagnumNodeGroup } from "@causeway/api";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinFlag, labelAnnotation, relabelled } from "./node-labels.ts";

type Labels = Record<string, string>;

const none = { before: {}, after: {} };
const groupOf = (fields: object): MagnumNodeGroup => ({ name: "g", role: "worker", ...fields }) as MagnumNodeGroup;
const ofNodes = (group: MagnumNodeGroup, more = none) => {
  const text = labelAnnotation(group, more)?.[annotations.nodeLabels];
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, string | null>);
};

/** The labels of a Node that joins the group now, and of one that has followed it from the beginning. */
function labelsOf(groups: readonly MagnumNodeGroup[]): { fresh: Labels; old: Labels } {
  const synced = new Set<string>();
  const follow = (node: Labels, group: MagnumNodeGroup): Labels => {
    const wanted = ofNodes(group) ?? {};
    const next: Record<string, string | null> = { ...node };
    for (const key of synced) if (!(key in wanted)) next[key] = null;
    for (const [key, value] of Object.entries(wanted)) {
      next[key] = value;
      if (value !== null) synced.add(key);
    }
    return Object.fromEntries(Object.entries(next).filter((entry): entry is [string, string] => entry[1] !== null));
  };
  const join = (group: MagnumNodeGroup | undefined): Labels =>
    Object.fromEntries(
      joinFlag(group ?? groupOf({}), none)
        .split(",")
        .filter((each) => each !== "")
        .map((each) => each.split("=") as [string, string]),
    );
  const old = groups.reduce(follow, join(groups[0]));
  const last = groups.at(-1);
  return { fresh: last === undefined ? {} : follow(join(last), last), old };
}

describe("labels of a group's Nodes", () => {
  it.each<[string, object, Labels, string, object | undefined]>([
    ["a label that is added goes to the Nodes that are there", {}, { p: "1" }, "", { p: "1" }],
    ["a label that is changed does", { nodeLabels: { p: "1" } }, { p: "2" }, "p=1", { p: "2" }],
    ["a label that is removed is removed from them", { nodeLabels: { p: "1" } }, {}, "p=1", { p: null }],
    [
      "one that came back is as it was",
      { nodeLabels: { p: "2" }, joinLabels: { p: "1" } },
      { p: "1" },
      "p=1",
      { p: "1" },
    ],
    [
      "without a change but of the order all is as it was",
      { nodeLabels: { p: "1", "node.kubernetes.io/pool": "x", a: "2" } },
      { a: "2", "node.kubernetes.io/pool": "x", p: "1" },
      "p=1,node.kubernetes.io/pool=x,a=2",
      undefined,
    ],
    [
      "a label that Nodes have of their own takes other Nodes",
      { nodeLabels: { "topology.kubernetes.io/zone": "a" } },
      { "topology.kubernetes.io/zone": "b" },
      "topology.kubernetes.io/zone=b",
      undefined,
    ],
    [
      "with another one it takes them, too",
      { nodeLabels: { p: "1" } },
      { p: "2", "node.kubernetes.io/pool": "x" },
      "p=1,node.kubernetes.io/pool=x",
      { p: "2" },
    ],
  ])("%s", (_, before, after, flag, expected) => {
    const group = relabelled(groupOf(before), after);
    expect(group.nodeLabels).toEqual(after);
    expect(joinFlag(group, none)).toBe(flag);
    expect(ofNodes(group)).toEqual(expected);
  });

  it("a label named as a member of every object is lost like any other", () => {
    const group = relabelled(groupOf({ nodeLabels: { constructor: "1", valueOf: "2" } }), {});
    expect(ofNodes(group)).toEqual({ constructor: null, valueOf: null });
  });

  it("a label that was the user's is Causeway's again", () => {
    const role = "magnum.openstack.org/role";
    const group = relabelled(groupOf({ nodeLabels: { [role]: "mine" } }), {});
    expect(ofNodes(group, { before: { [role]: "worker" }, after: {} })).toEqual({ [role]: "worker" });
  });

  it("are the same on each Node, whatever changes it was there for, and none is replaced for them", () => {
    const labels = fc.dictionary(fc.constantFrom("a", "b", "team.io/c"), fc.constantFrom("1", "2"));
    fc.assert(
      fc.property(labels, fc.array(labels, { maxLength: 5 }), (first, changes) => {
        const groups = [groupOf({ nodeLabels: first })];
        for (const change of changes) groups.push(relabelled(groups.at(-1) ?? groupOf({}), change));
        const { fresh, old } = labelsOf(groups);
        expect(fresh).toEqual(changes.at(-1) ?? first);
        expect(old).toEqual(fresh);
        expect(new Set(groups.map((group) => joinFlag(group, none))).size).toBe(1);
      }),
    );
  });
});
