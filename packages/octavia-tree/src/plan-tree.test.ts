import { describe, expect, test } from "vitest";
import type { L7Policy, Listener, LoadBalancer, Pool } from "@causeway/openstack";
import type { DesiredListener, DesiredPool, DesiredTree } from "./desired.ts";
import { partsInCreate } from "./create-body.ts";
import { nextTreeChange, treeChanges, type ObservedTree, type Ownership } from "./plan-tree.ts";
import type { ObservedPool } from "./pool-details.ts";

const lb = { id: "LB", tags: ["ours"], description: "", admin_state_up: true } as unknown as LoadBalancer;
const owns: Ownership = {
  listener: ({ name }) => name === "ours",
  pool: ({ name }) => name.length === 1,
  policy: () => true,
  policyDescription: "ours",
};
const pool = (poolName: string): DesiredPool => ({
  poolName,
  poolProtocol: "HTTP",
  algorithm: "ROUND_ROBIN",
  persistence: null,
  members: [],
  monitor: undefined,
  monitorName: "",
  serial: false,
  memberCosts: { kept: 0, changed: 0, single: 0, cycle: 10 },
});
const listener = (more: Partial<DesiredListener> = {}): DesiredListener => ({
  listenerName: "ours",
  protocol: "HTTP",
  port: 80,
  defaultPool: undefined,
  policies: [],
  tags: [],
  connectionLimit: -1,
  allowedCidrs: [],
  tlsContainerRef: undefined,
  insertHeaders: undefined,
  timeouts: undefined,
  ...more,
});
const desired = (more: Partial<DesiredTree> = {}): DesiredTree => ({
  tags: ["ours"],
  listeners: [],
  pools: [],
  ...more,
});
const aListener = (id: string, more: Partial<Listener> = {}): Listener =>
  ({ id, name: "ours", protocol: "HTTP", protocol_port: 80, default_pool_id: null, tags: [], ...more }) as Listener;
const aPool = (name: string): ObservedPool => ({
  pool: { id: `id-${name}`, name, protocol: "HTTP", lb_algorithm: "ROUND_ROBIN", listeners: [] } as unknown as Pool,
  members: [],
  monitor: undefined,
});
const observed = (more: Partial<ObservedTree> = {}): ObservedTree => ({
  lb,
  listeners: [],
  pools: [],
  policies: new Map(),
  ...more,
});
const types = (d: DesiredTree, o: ObservedTree): string[] => [...treeChanges(d, o, owns)].map(({ type }) => type);

describe("the changes of a tree", () => {
  test.each([
    ["nothing differs", desired(), observed(), []],
    [
      "a pool comes before the listener that names it",
      desired({ pools: [pool("a")], listeners: [listener()] }),
      observed(),
      ["create-pool", "create-listener"],
    ],
    [
      "a listener waits for its default pool",
      desired({ pools: [pool("a")], listeners: [listener({ defaultPool: "a" })] }),
      observed(),
      ["create-pool"],
    ],
    [
      "a listener gets its default pool",
      desired({ pools: [pool("a")], listeners: [listener({ defaultPool: "a" })] }),
      observed({ listeners: [aListener("L")], pools: [aPool("a")] }),
      ["update-listener"],
    ],
    [
      "a listener of ours that is not wanted goes after the wanted one exists",
      desired({ listeners: [listener({ port: 443, protocol: "TERMINATED_HTTPS" })] }),
      observed({ listeners: [aListener("L")] }),
      ["create-listener", "delete-listener"],
    ],
    [
      "a listener of ours that occupies a wanted port goes first",
      desired({ listeners: [listener({ protocol: "HTTPS" })] }),
      observed({ listeners: [aListener("L")] }),
      ["delete-listener", "create-listener"],
    ],
    [
      "a listener of another user remains",
      desired(),
      observed({ listeners: [aListener("L", { name: "by hand" })] }),
      [],
    ],
    [
      "a pool of ours that nothing uses goes",
      desired(),
      observed({ pools: [aPool("a"), aPool("by hand")] }),
      ["delete-pool"],
    ],
    [
      "a pool that a policy still names remains until the policy is gone",
      desired({ listeners: [listener()] }),
      observed({
        listeners: [aListener("L")],
        pools: [aPool("a")],
        policies: new Map([
          ["L", [{ policy: { id: "P", name: "", position: 1, redirect_pool_id: "id-a" } as L7Policy, rules: [] }]],
        ]),
      }),
      ["delete-policy"],
    ],
    [
      "parts that are there get what they lack",
      desired({ pools: [{ ...pool("a"), algorithm: "SOURCE_IP" }], listeners: [listener({ tags: ["more"] })] }),
      observed({ pools: [aPool("a")], listeners: [aListener("L")] }),
      ["update-pool", "update-listener"],
    ],
    ["missing tags are added", desired({ tags: ["ours", "more"] }), observed(), ["update-load-balancer"]],
  ])("%s", (_, d, o, expected) => {
    expect(types(d, o)).toEqual(expected);
  });

  test("a change that is held back lets the next one through", () => {
    const d = desired({ pools: [pool("a"), pool("b")] });
    const step = nextTreeChange(d, observed(), owns, (s) => s.type === "create-pool" && s.body.name === "a");
    expect(step).toMatchObject({ type: "create-pool", body: { name: "b" } });
  });
});

describe("the change of a load balancer", () => {
  test.each<[string, Partial<LoadBalancer>, Partial<DesiredTree>, object | undefined]>([
    ["adds tags to those of others", { tags: ["theirs"] }, {}, { tags: ["theirs", "ours"] }],
    ["has the wanted description", { description: "by hand" }, { description: "says" }, { description: "says" }],
    ["leaves a description that is as wanted", { description: "says" }, { description: "says" }, undefined],
    ["leaves a description when none is wanted", { description: "by hand" }, {}, undefined],
    ["switches it on again", { admin_state_up: false }, {}, { admin_state_up: true }],
  ])("%s", (_title, have, more, change) => {
    const found = [...treeChanges(desired(more), observed({ lb: { ...lb, ...have } }), owns)];
    expect(found).toEqual(change ? [{ type: "update-load-balancer", id: "LB", change }] : []);
  });
});

describe("a listener of a tree", () => {
  const steps = (d: DesiredTree, o: ObservedTree) => [...treeChanges(d, o, owns)];
  test("is created with all that is wanted, and without what is not", () => {
    const body = { loadbalancer_id: "LB", name: "ours", protocol: "HTTP", protocol_port: 80 };
    expect(steps(desired({ listeners: [listener()] }), observed())).toEqual([{ type: "create-listener", body }]);
    const full = desired({ pools: [pool("a")], listeners: [listener({ defaultPool: "a", tags: ["t"] })] });
    expect(steps(full, observed({ pools: [aPool("a")] }))).toEqual([
      { type: "create-listener", body: { ...body, default_pool_id: "id-a", tags: ["t"] } },
    ]);
  });

  test.each<[string, DesiredTree["upkeep"], string | null, string | undefined, object | undefined]>([
    ["gets its default pool", "all", null, "a", { default_pool_id: "id-a" }],
    ["gets another one", "all", "by hand", "a", { default_pool_id: "id-a" }],
    ["loses one that is not wanted", "all", "by hand", undefined, { default_pool_id: null }],
    ["gets one where only the access is kept and it has none", "access", null, "a", { default_pool_id: "id-a" }],
    ["keeps an operator's where only the access is kept", "access", "by hand", "a", undefined],
  ])("%s", (_title, upkeep, has, wanted, change) => {
    const tree = desired({
      ...(upkeep && { upkeep }),
      pools: [pool("a")],
      listeners: [listener({ defaultPool: wanted })],
    });
    const found = steps(tree, observed({ listeners: [aListener("L", { default_pool_id: has })], pools: [aPool("a")] }));
    expect(found).toEqual(change ? [{ type: "update-listener", id: "L", change }] : []);
  });
});

test("a pool is created with its persistence, and only where one is wanted", () => {
  const persistence = { type: "SOURCE_IP" } as const;
  const body = { loadbalancer_id: "LB", name: "a", protocol: "HTTP", lb_algorithm: "ROUND_ROBIN" };
  expect(nextTreeChange(desired({ pools: [pool("a")] }), observed(), owns)).toEqual({ type: "create-pool", body });
  expect(nextTreeChange(desired({ pools: [{ ...pool("a"), persistence }] }), observed(), owns)).toEqual({
    type: "create-pool",
    body: { ...body, session_persistence: persistence },
  });
});

test("a change of members says whether more follows it, and a change of anything else does not", () => {
  const members = [{ address: "10.0.0.1", protocol_port: 80 }];
  const tree = { ...desired({ pools: [{ ...pool("a"), members }] }) };
  const replaced = { type: "replace-members", poolId: "id-a", members };
  expect(nextTreeChange(tree, observed({ pools: [aPool("a")] }), owns)).toEqual(replaced);
  const longer = { ...tree, listeners: [listener()] };
  expect(nextTreeChange(longer, observed({ pools: [aPool("a")] }), owns)).toEqual({ ...replaced, more: true });
  expect(nextTreeChange({ ...longer, pools: [] }, observed(), owns)).not.toHaveProperty("more");
  expect(nextTreeChange({ ...longer, pools: [pool("a")] }, observed(), owns)).not.toHaveProperty("more");
});

test("one POST has each pool once: in its only listener, or on its own", () => {
  const tree = desired({
    pools: [pool("a"), pool("b")],
    listeners: [listener({ defaultPool: "a" }), listener({ port: 8080, defaultPool: "a" })],
  });
  const { listeners = [], pools = [] } = partsInCreate(tree, "ours");
  expect(listeners.map((l) => l.default_pool?.name)).toEqual(["a", undefined]);
  expect(pools.map(({ name }) => name)).toEqual(["b"]);
});
