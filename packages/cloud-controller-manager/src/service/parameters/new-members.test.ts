import { describe, expect, test } from "vitest";
import type { Node, Pod } from "@causeway/kubernetes";
import { ModelWorld } from "../../testing/model.ts";
import { aNode, aService } from "../../testing/objects.ts";
import { plan } from "../plan.ts";
import { newMemberEvents, newMembers, newNodes, serves, type ServingNodes } from "./new-members.ts";

const now = Date.UTC(2026, 0, 2);
const seconds = 1_000;
const service = aService({}, {}, { finalizers: ["service.kubernetes.io/load-balancer-cleanup"] });

/** A Node that was created so many seconds ago. */
function created(name: string, ago: number | undefined): Node {
  const node = aNode(name, { address: `10.0.0.${name.slice(1)}` });
  const at = ago === undefined ? {} : { creationTimestamp: new Date(now - ago * seconds).toISOString() };
  return { ...node, metadata: { ...node.metadata, ...at } };
}

/** Nodes that have been seen to serve for so many seconds. */
const serving = (since: Record<string, number>): ServingNodes => ({
  servingSince: new Map(Object.entries(since).map(([name, ago]) => [name, now - ago * seconds])),
});
/** The pools of a load balancer with these members. */
function poolsOf(...addresses: string[]): ModelWorld["pools"] {
  const members = addresses.map((address, i) => aNode(`m${i}`, { address }));
  const world = new ModelWorld(service, members);
  world.converge();
  return world.pools;
}
const names = (nodes: readonly Node[]) => nodes.map(({ metadata }) => metadata.name).join();

describe("the members among two Nodes, of which n1 is one", () => {
  const old = created("n1", 9_999);
  test.each<[string, Node, ServingNodes, string, string]>([
    ["have a new one that has served for five seconds", created("n2", 20), serving({ n2: 5 }), "n1,n2", ""],
    ["lack a new one that has served for less", created("n2", 20), serving({ n2: 4.999 }), "n1", "n2"],
    ["lack a new one that does not serve", created("n2", 299.999), serving({}), "n1", "n2"],
    ["have one that does not serve five minutes after its creation", created("n2", 300), serving({}), "n1,n2", ""],
    ["have one whose age is not known", created("n2", undefined), serving({}), "n1,n2", ""],
    ["have a new one where new Nodes are not waited for", created("n2", 20), undefined, "n1,n2", ""],
    ["have a new one where nothing can be read", created("n2", 20), { unreadable: "forbidden" }, "n1,n2", ""],
  ])("%s", (_, second, known, members, waiting) => {
    const query = { nodes: [old, second], pools: poolsOf("10.0.0.1"), serving: known };
    const found = newMembers(query, now);
    expect([names(found.nodes), found.waiting.join(), found.until]).toEqual([
      members,
      waiting,
      waiting === "" ? undefined : now + 2 * seconds,
    ]);
  });

  test("remain members when they are new and cease to serve", () => {
    const nodes = [old, created("n2", 20)];
    expect(names(newMembers({ nodes, pools: poolsOf("10.0.0.2"), serving: serving({}) }, now).nodes)).toBe("n1,n2");
  });

  test("are both where none serves, for there would be none else", () => {
    const nodes = [created("n1", 20), created("n2", 20)];
    const found = newMembers({ nodes, pools: [], serving: serving({}) }, now);
    expect([names(found.nodes), found.waiting]).toEqual(["n1,n2", []]);
  });
});

describe("kube-proxies are read", () => {
  const nodes = [created("n1", 20), created("n2", 20), created("n3", 301)];
  test("for new Nodes that are no members, and for no others", () => {
    expect(names(newNodes({ nodes, pools: poolsOf("10.0.0.1") }, now))).toBe("n2");
    expect(newNodes({ nodes, pools: poolsOf("10.0.0.1", "10.0.0.2") }, now)).toEqual([]);
  });
});

describe("a Node serves", () => {
  const ready = (status: "True" | "False") => [{ type: "Ready", status }];
  const node = (status: "True" | "False"): Node => {
    const made = aNode("n1");
    return { ...made, status: { ...made.status, conditions: ready(status) } };
  };
  const proxy = (nodeName: string, status: "True" | "False", metadata = {}): Pod => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `kube-proxy-${nodeName}`, ...metadata },
    spec: { nodeName, containers: [] },
    status: { conditions: ready(status) },
  });
  test.each<[string, Node, Pod[], boolean]>([
    ["when it and its kube-proxy are Ready", node("True"), [proxy("n1", "True")], true],
    ["not before its kube-proxy is Ready", node("True"), [proxy("n1", "False")], false],
    ["not by another's kube-proxy", node("True"), [proxy("n2", "True")], false],
    ["not by a kube-proxy that ends", node("True"), [proxy("n1", "True", { deletionTimestamp: "now" })], false],
    ["not before it is Ready itself", node("False"), [proxy("n1", "True")], false],
    ["when it is Ready in a cluster without kube-proxies", node("True"), [], true],
    ["not before it is Ready in a cluster without kube-proxies", node("False"), [], false],
    ["not without a condition", aNode("n1"), [], false],
  ])("%s", (_, given, proxies, expected) => expect(serves(given, proxies)).toBe(expected));
});

describe("events of new Nodes", () => {
  const given = (ago: number, known: ServingNodes) =>
    newMemberEvents(
      { nodes: [created("n1", 9_999), created("n2", ago)], pools: poolsOf("10.0.0.1"), serving: known },
      now,
    ).map(({ reason }) => reason);
  test.each<[string, number, ServingNodes, string[]]>([
    ["name those that wait for a minute", 60, serving({}), ["LoadBalancerNodesWaiting"]],
    ["do not name those that wait for less", 59.999, serving({}), []],
    ["do not name those that are members in the end", 300, serving({}), []],
    ["say where kube-proxies may not be read", 20, { unreadable: "forbidden" }, ["LoadBalancerNodesUnchecked"]],
    ["are none where new Nodes are not waited for", 60, undefined, []],
  ])("%s", (_, ago, known, reasons) => expect(given(ago, known)).toEqual(reasons));
});

describe("the plan of a Service with a new Node", () => {
  const at = (known: ServingNodes, changes: { readonly nodes?: readonly Node[] } = {}) => {
    const world = new ModelWorld(service, [created("n1", 9_999)]);
    world.converge();
    world.nodes = changes.nodes ?? [created("n1", 9_999), created("n2", 20)];
    return plan({ ...world.observe(), ...(known ? { serving: known } : {}) }, now);
  };
  const members = ({ steps }: ReturnType<typeof at>) =>
    steps.flatMap((step) => (step.type === "replace-members" ? step.members.map(({ name }) => name) : []));

  test("does nothing until that serves, says so, and reads again", () => {
    const { steps, wait } = at(serving({}));
    expect([steps, wait]).toEqual([[], { for: "nodes to serve: n2", until: now + 2 * seconds }]);
  });
  test("makes it a member once it serves", () => {
    expect(members(at(serving({ n2: 5 })))).toEqual(["n1", "n2"]);
  });
  test("replaces the last member by one that does not serve, when that is all there is", () => {
    expect(members(at(serving({}), { nodes: [created("n2", 20)] }))).toEqual(["n2"]);
  });
});
