/** What the node groups of a cluster count for in the limit of nodes of its project. */
import { expect, it } from "vitest";
import type { MagnumCluster } from "@causeway/api";
import type { Api } from "../call/call.ts";
import { requireNodes } from "./node-quota.ts";

/** Three nodes in another group, and a scaled group that was requested with two: the limit is ten. */
function refusal(extra: object, status: object = {}): string | undefined {
  const scaled = { auto_scaling_enabled: "true", max_node_count: "9" };
  const groups = [
    { uuid: "a", nodeCount: 3, minNodeCount: 0, labels: {} },
    { uuid: "b", nodeCount: 2, minNodeCount: 0, labels: scaled, maxBatchSize: 3, ...extra },
  ];
  const cluster = { spec: { uuid: "c", projectID: "p", nodeGroups: groups }, status } as unknown as MagnumCluster;
  const api = { store: { rowsOf: () => [] }, maxNodes: 10 } as unknown as Api;
  try {
    requireNodes(api, undefined, cluster);
    return undefined;
  } catch (error) {
    return /this cluster would have (\d+)/.exec(String(error))?.[1];
  }
}

const deletedAt = "2026-11-01T12:00:00Z";

it.each<[string, string | undefined, string | undefined]>([
  ["counts its maximum and its surge", refusal({}), "14"],
  ["that is being deleted counts what was requested of it", refusal({ deletedAt }), undefined],
  [
    "that is being deleted counts what its autoscaler made of it",
    refusal({ deletedAt }, { nodeGroups: [{ uuid: "b", nodeCount: 8 }] }),
    "11",
  ],
])("a node group that is scaled automatically %s", (_, found, expected) => {
  expect(found).toBe(expected);
});
