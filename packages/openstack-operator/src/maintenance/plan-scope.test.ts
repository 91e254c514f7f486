import type { OpenStackDeployment } from "@causeway/api";
import type { Node } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import type { PodDisruptionBudget } from "../render/types.ts";
import { guardKey, nodeLabel } from "./guards.ts";
import { node } from "../testing/maintained.ts";
import type { ComputeNode, ComputeService } from "./model.ts";
import {
  computeNodeOf,
  hostsToRead,
  limitsOf,
  orphanedBudgets,
  readsNova,
  removedHosts,
  strayNodes,
  type ScopeFrom,
} from "./plan-scope.ts";

const budgetOf = (host: string) =>
  ({ metadata: { name: `budget-${host}`, labels: { [nodeLabel]: guardKey(host) } } }) as unknown as PodDisruptionBudget;
const service = (host: string, reason = ""): ComputeService => ({
  id: `s-${host}`,
  host,
  zone: "az1",
  isUp: true,
  isEnabled: reason === "",
  reason,
  isForcedDown: false,
});
const scope = (more: Partial<ScopeFrom> = {}): ScopeFrom => ({
  nodes: [node("a")],
  names: new Set(["a"]),
  guarded: new Set(["a"]),
  budgets: [budgetOf("a")],
  isClear: true,
  ...more,
});

describe("Nova is read", () => {
  test.each<[reason: string, from: ScopeFrom, isRead: boolean]>([
    ["never while all nodes serve", scope(), false],
    ["until it is known that no compute is disabled by us", scope({ isClear: false }), true],
    ["for a cordoned node", scope({ nodes: [node("a", { cordoned: true })] }), true],
    ["for a lost node", scope({ nodes: [node("a", { lostAt: 1 })] }), true],
    ["for a fenced node", scope({ nodes: [node("a", { fenced: true })] }), true],
    ["for the budget of a node that is gone", scope({ budgets: [budgetOf("b")] }), true],
  ])("%s", (_reason, from, isRead) => expect(readsNova(from)).toBe(isRead));
});

describe("hosts that were removed", () => {
  const ours = "causeway: node b is cordoned";
  test.each<[title: string, services: readonly ComputeService[], budgets: readonly string[], hosts: readonly string[]]>(
    [
      ["are those whose compute we disabled", [service("a"), service("b", ours)], [], ["b"]],
      ["are those whose budget is left", [service("a"), service("b")], ["b"], ["b"]],
      ["are none that another disabled", [service("b", "broken fan")], [], []],
      ["are none that never were nodes", [service("b")], [], []],
      ["are none that are still nodes", [service("a", ours)], ["a"], []],
    ],
  )("%s", (_title, services, budgets, hosts) => {
    expect(removedHosts(scope({ budgets: budgets.map(budgetOf) }), services)).toEqual(hosts);
  });

  test("leave budgets that are orphaned once Nova does not know the host either", () => {
    const from = scope({ budgets: ["a", "b", "c"].map(budgetOf) });
    expect(orphanedBudgets(from, [service("a"), service("b")])).toEqual(["budget-c"]);
  });

  test("are none where a node needs no guard any more: its budget goes where Nova does not know it as a host", () => {
    const from = scope({ names: new Set(["a", "b", "c"]), budgets: ["a", "b", "c"].map(budgetOf) });
    expect(orphanedBudgets(from, [service("a"), service("b")])).toEqual(["budget-c"]);
    expect(removedHosts(from, [service("a"), service("b")])).toEqual([]);
    expect(readsNova(from)).toBe(true);
  });

  test.each<[title: string, budgets: string[], services: string[], cordoned: string[], strays: string[]]>([
    ["is a stray where it is cordoned, held, and Nova has its compute", ["b"], ["b"], ["b"], ["b"]],
    ["is none while it serves", ["b"], ["b"], [], []],
    ["is none where nothing holds it", [], ["b"], ["b"], []],
    ["is none where Nova has no compute of it", ["b"], ["c"], ["b"], []],
    ["is none where it needs its guard", ["a"], ["a"], ["a"], []],
    ["is none where it does not exist", ["x"], ["x"], ["x"], []],
  ])("are followed by nodes without a group: one %s", (_title, budgets, services, cordoned, strays) => {
    const from = scope({ names: new Set(["a", "b", "c"]), budgets: budgets.map(budgetOf) });
    const known = services.map((host) => service(host));
    expect(strayNodes(from, cordoned, known)).toEqual(strays);
  });

  test("are read with nodes that are to be left", () => {
    const nodes = [node("a"), node("b", { cordoned: true }), node("c", { ready: false })];
    expect(hostsToRead(nodes, ["d"])).toEqual(["b", "c", "d"]);
  });
});

test.each<[title: string, object: object, expected: Partial<ComputeNode>]>([
  ["without a report is ready", {}, { ready: true, lostAt: undefined }],
  [
    "that is not ready is lost since then",
    { status: { conditions: [{ type: "Ready", status: "Unknown", lastTransitionTime: "1970-01-01T00:00:05Z" }] } },
    { ready: false, lostAt: 5_000 },
  ],
  [
    "without a time is lost since ever",
    { status: { conditions: [{ type: "Ready", status: "False" }] } },
    { ready: false, lostAt: 0 },
  ],
  [
    "out of service is fenced",
    { spec: { taints: [{ key: "node.kubernetes.io/out-of-service", effect: "NoExecute" }] } },
    { fenced: true },
  ],
  ["that takes no pods is cordoned", { spec: { unschedulable: true } }, { cordoned: true }],
])("a node %s", (_title, object, expected) => {
  expect(computeNodeOf({ metadata: { name: "a" }, ...object } as Node)).toMatchObject(expected);
});

test("the limits of a maintenance have defaults", () => {
  const of = (maintenance?: object) => limitsOf({ spec: { maintenance } } as unknown as OpenStackDeployment);
  expect(of()).toEqual({ nodes: 1, moves: 2, flap: 300_000 });
  expect(of({ nodesAtOnce: 3, lostAfterSeconds: 60 })).toEqual({ nodes: 3, moves: 2, flap: 60_000 });
});
