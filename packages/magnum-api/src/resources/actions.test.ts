import type { Machine, MagnumCluster, MagnumNodeGroup } from "@causeway/api";
import { expect, test } from "vitest";
import type { Api, Call } from "../call/call.ts";
import { changeGroup, machinesNamed, refusedRemovals, removalsOf } from "./actions.ts";

test.each([
  { named: 0, from: 1, to: 2 },
  { named: 0, from: 2, to: 2 },
  { named: 1, from: 2, to: 1 },
  { named: 1, from: 3, to: 1 },
])("$named named nodes may be removed when $from become $to", ({ named, from, to }) => {
  expect(refusedRemovals(named, from, to)).toBeUndefined();
});

test.each([
  { named: 1, from: 1, to: 2 },
  { named: 1, from: 2, to: 2 },
  { named: 3, from: 3, to: 1 },
])("$named named nodes are too many when $from become $to", ({ named, from, to }) => {
  expect(refusedRemovals(named, from, to)).toContain(`names ${named} nodes`);
});

test("a node that a resize names many times, in each of its names, is removed once", () => {
  const machine = (name: string) =>
    ({
      metadata: { name },
      spec: { providerID: `openstack:///id-${name}` },
      status: { nodeRef: { name: `node-${name}` } },
    }) as unknown as Machine;
  const machines = ["b", "a"].map(machine);
  const names = Array.from({ length: 20_000 }, (_, at) => ["a", "node-a", "id-a", "0"][at % 4] ?? "");
  expect(machinesNamed(names, machines)).toEqual(["a"]);
  expect(machinesNamed(["1", "0"], machines)).toEqual(["b", "a"]);
  expect(() => machinesNamed(["a", "c"], machines)).toThrow("nodes_to_remove: there is no node c in the node group.");
});

test.each([
  ["keeps a node of an earlier one that is still there", { nodeCount: 4, count: 3, named: [] }, ["a"]],
  ["keeps it next to the one that it names itself", { nodeCount: 4, count: 3, named: ["b"] }, ["b", "a"]],
  ["keeps no more than are to go", { nodeCount: 5, count: 4, named: ["b"] }, ["b"]],
  ["withdraws it where the number is not smaller", { nodeCount: 4, count: 4, named: [] }, []],
])("a resize %s", (_, { nodeCount, count, named }, expected) => {
  const present = ["a", "b", "c", "d", "e"];
  expect(removalsOf({ nodeCount, nodesToRemove: ["gone", "a"] }, { count, named, present })).toEqual(expected);
});

test("a change of a node group is refused when its deletion was requested after the change was read", async () => {
  const group = { uuid: "g", name: "extra", nodeCount: 2, minNodeCount: 0 } as MagnumNodeGroup;
  const row = (nodeGroups: readonly MagnumNodeGroup[]) =>
    ({ metadata: { namespace: "n", name: "web" }, spec: { uuid: "c", projectID: "p", nodeGroups } }) as MagnumCluster;
  const deleted = row([{ ...group, deletedAt: "2026-11-01T12:00:00Z" }]);
  const store = {
    change: async (_type: unknown, _key: unknown, change: (current: MagnumCluster) => MagnumCluster) => change(deleted),
  };
  const inTurn = (_project: string, work: () => Promise<unknown>) => work();
  const api = { store, inTurn, maxNodes: 0, clock: { now: () => 0 } } as unknown as Api;
  const call = { signal: new AbortController().signal } as Call;
  const changed = changeGroup(api, call, { cluster: row([group]), uuid: "g" }, (each) => ({ ...each, nodeCount: 1 }));
  await expect(changed).rejects.toThrow("Nodegroup extra is being deleted");
});
