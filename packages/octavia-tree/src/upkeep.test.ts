import { describe, expect, test } from "vitest";
import type { Listener, LoadBalancer, Member, Pool } from "@causeway/openstack";
import type { DesiredTree } from "./desired.ts";
import { treeAfter, treeOfCreate } from "./dry-run-tree.ts";
import { partsInCreate } from "./create-body.ts";
import { nextTreeChange, treeChanges, type ObservedTree, type Ownership } from "./plan-tree.ts";
import { limitsOf } from "./provider.ts";
import { isOfPolicies } from "./steps.ts";

const nothingIsOurs: Ownership = {
  listener: () => false,
  pool: () => false,
  policy: () => false,
  policyDescription: "",
};

/** One listener for TCP with a pool; what a test says of it counts. */
function desired(more: { port?: number; members?: readonly string[]; ranges?: readonly string[] } = {}): DesiredTree {
  const { port = 6443, members = ["10.0.0.1"], ranges = [] } = more;
  return {
    upkeep: "access",
    tags: ["blue"],
    listeners: [
      {
        listenerName: `api-${port}`,
        protocol: "TCP",
        port,
        defaultPool: `api-${port}`,
        policies: [],
        tags: ["blue"],
        connectionLimit: -1,
        allowedCidrs: ranges,
        tlsContainerRef: undefined,
        insertHeaders: undefined,
        timeouts: undefined,
      },
    ],
    pools: [
      {
        poolName: `api-${port}`,
        poolProtocol: "TCP",
        poolTags: ["blue"],
        algorithm: "ROUND_ROBIN",
        persistence: null,
        members: members.map((address) => ({ address, protocol_port: port, name: `m-${address}` })),
        monitor: { type: "TCP", delay: 10, timeout: 5, maxRetries: 5, maxRetriesDown: 3 },
        monitorName: `api-${port}`,
        serial: false,
        memberCosts: limitsOf(undefined).memberCosts,
      },
    ],
  };
}

const created = (tree: DesiredTree): ObservedTree =>
  treeOfCreate({ name: "api", vip_subnet_id: "s", ...partsInCreate(tree, "") });

/** The types of the changes until nothing is left to do, and the tree at the end. */
function settle(tree: DesiredTree, from: ObservedTree): { readonly types: string[]; readonly end: ObservedTree } {
  const types: string[] = [];
  let end = from;
  for (let round = 0; round < 20; round++) {
    const step = nextTreeChange(tree, end, nothingIsOurs);
    if (!step) return { types, end };
    types.push(step.type);
    end = treeAfter(end, step);
  }
  throw new Error(`no end: ${types.join(", ")}`);
}

describe("a tree of which only the access is kept as desired", () => {
  test("is settled as it was created", () => {
    expect(settle(desired(), created(desired())).types).toEqual([]);
  });

  const byHand: readonly [string, (tree: ObservedTree) => ObservedTree][] = [
    ["a load balancer that is switched off and has no tags", (t) => ({ ...t, lb: off({ ...t.lb, tags: [] }) })],
    [
      "a listener that is switched off, with a limit, without tags",
      (t) => ({ ...t, listeners: t.listeners.map((l): Listener => off({ ...l, connection_limit: 7, tags: [] })) }),
    ],
    [
      "a pool with another algorithm and no monitor",
      (t) => ({
        ...t,
        pools: t.pools.map((p) => ({
          ...p,
          pool: off<Pool>({ ...p.pool, lb_algorithm: "LEAST_CONNECTIONS", tags: [], healthmonitor_id: null }),
          monitor: undefined,
        })),
      }),
    ],
    [
      "a member that gets no new connections",
      (t) => ({
        ...t,
        pools: t.pools.map((p) => ({
          ...p,
          members: p.members.map((m): Member => off({ ...m, weight: 0, backup: true, monitor_port: 1 })),
        })),
      }),
    ],
    [
      "a listener that an operator gave another pool",
      (t) => ({
        ...t,
        listeners: t.listeners.map((l): Listener => ({ ...l, default_pool_id: "by hand" })),
        pools: [],
      }),
    ],
  ];
  test.each(byHand.slice(0, 4))("leaves %s", (_, change) => {
    const before = change(created(desired()));
    expect(settle(desired(), before)).toEqual({ types: [], end: before });
    expect([...treeChanges({ ...desired(), upkeep: "all" }, before, nothingIsOurs)]).not.toEqual([]);
  });

  test("leaves a listener that an operator gave another pool", () => {
    const before = byHand[4]?.[1](created(desired()));
    const { listeners } = desired();
    expect(before && settle({ ...desired(), listeners, pools: [] }, before).types).toEqual([]);
  });

  test.each([
    ["another member", desired({ members: ["10.0.0.1", "10.0.0.2"] }), ["replace-members"]],
    ["no members", desired({ members: [] }), ["replace-members"]],
    ["source ranges", desired({ ranges: ["192.0.2.0/24"] }), ["update-listener"]],
    ["ranges that permit every source", desired({ ranges: ["0.0.0.0/0", "192.0.2.0/24"] }), []],
  ])("follows %s", (_, wanted, types) => {
    expect(settle(wanted, created(desired())).types).toEqual(types);
  });

  test("renames a member, and leaves its weight", () => {
    const tree = created(desired());
    const members = tree.pools[0]?.members.map((m): Member => ({ ...m, name: "upstream", weight: 3 })) ?? [];
    const before = { ...tree, pools: tree.pools.map((p) => ({ ...p, members })) };
    expect(nextTreeChange(desired(), before, nothingIsOurs)).toEqual({
      type: "replace-members",
      poolId: tree.pools[0]?.pool.id,
      members: [{ address: "10.0.0.1", protocol_port: 6443, name: "m-10.0.0.1" }],
    });
  });

  test("gets a listener for another port: its pool first, with members and monitor", () => {
    const [one, other] = [desired(), desired({ port: 8132 })];
    const both = { ...one, listeners: [...one.listeners, ...other.listeners], pools: [...one.pools, ...other.pools] };
    const { types, end } = settle(both, created(one));
    expect(types).toEqual(["create-pool", "replace-members", "create-monitor", "create-listener"]);
    const added = end.pools.find(({ pool }) => pool.name === "api-8132");
    expect(added?.pool).toMatchObject({ tags: ["blue"], healthmonitor_id: added?.monitor?.id });
    expect(end.listeners.map((l) => [l.name, l.default_pool_id]).at(-1)).toEqual(["api-8132", added?.pool.id]);
  });

  test("creates the monitor of a pool that a listener uses only while the load balancer is new", () => {
    const tree = desired();
    const bare = created({ ...tree, pools: tree.pools.map((pool) => ({ ...pool, monitor: undefined })) });
    const young = { ...tree, pools: tree.pools.map((pool) => ({ ...pool, isNew: true })) };
    expect(settle(tree, bare).types).toEqual([]);
    expect(settle(young, bare).types).toEqual(["create-monitor"]);
  });

  test("gives a listener without a pool its pool back", () => {
    const tree = created(desired());
    const before = { ...tree, pools: [], listeners: tree.listeners.map((l) => ({ ...l, default_pool_id: null })) };
    expect(settle(desired(), before).types).toEqual([
      "create-pool",
      "replace-members",
      "create-monitor",
      "update-listener",
    ]);
  });
});

function off<T extends Listener | LoadBalancer | Member | Pool>(part: T): T {
  return { ...part, admin_state_up: false };
}

describe("a pool's tags", () => {
  test("are in its create, and missing ones are added where all settings are kept", () => {
    const tree = created(desired());
    expect(tree.pools[0]?.pool.tags).toEqual(["blue"]);
    const bare = { ...tree, pools: tree.pools.map((p) => ({ ...p, pool: { ...p.pool, tags: ["mine"] } })) };
    const steps = [...treeChanges({ ...desired(), tags: [], upkeep: "all" }, bare, nothingIsOurs)];
    expect(steps.filter((step) => !isOfPolicies(step) && step.type === "update-pool")).toMatchObject([
      { change: { tags: ["mine", "blue"] } },
    ]);
  });
});
