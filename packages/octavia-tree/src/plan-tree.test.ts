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

test("one POST has each pool once: in its only listener, or on its own", () => {
  const tree = desired({
    pools: [pool("a"), pool("b")],
    listeners: [listener({ defaultPool: "a" }), listener({ port: 8080, defaultPool: "a" })],
  });
  const { listeners = [], pools = [] } = partsInCreate(tree, "ours");
  expect(listeners.map((l) => l.default_pool?.name)).toEqual(["a", undefined]);
  expect(pools.map(({ name }) => name)).toEqual(["b"]);
});
