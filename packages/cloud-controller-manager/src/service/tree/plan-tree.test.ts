import { describe, expect, test } from "vitest";
import { limitsOf } from "@causeway/octavia-tree";
import type { Listener, LoadBalancer, Pool } from "@causeway/openstack";
import type { LoadBalancerConfig } from "../../config/config.ts";
import { nothingHeld } from "../../testing/model-parts.ts";
import { ModelWorld } from "../../testing/model.ts";
import { aNode, aService, tcp80, udp53 } from "../../testing/objects.ts";
import type { Observed } from "../observed.ts";
import { desiredPorts } from "../parameters/desired.ts";
import type { TreeStep } from "../steps.ts";
import { nextRename } from "./plan-rename.ts";
import { brakedUntil, nextChange, takenPorts, type TreeGoal } from "./plan-tree.ts";

const lbName = "kube_service_c1_default_web";
const nodes = [1, 2].map((i) => aNode(`n${i}`, { address: `10.0.0.${i}` }));

/** A served Service of two ports, and what its load balancer is to be. */
function served(config: Partial<LoadBalancerConfig> = {}, annotations: Record<string, string> = {}) {
  const world = new ModelWorld(aService({ ports: [tcp80, udp53] }, annotations), nodes, config);
  world.converge();
  return world;
}

function goalOf(observed: Observed, tags: readonly string[] = []): TreeGoal {
  const { service, parameters } = observed;
  const limits = limitsOf("amphora");
  const from = {
    service,
    nodes: observed.nodes,
    parameters,
    limits,
    lbName,
    memberSubnetId: "node-subnet",
    serial: false,
  };
  const [lb] = observed.loadBalancers;
  if (!lb) throw new Error("no load balancer");
  return { lb, wanted: desiredPorts(from), tags };
}

/** The next change of a served tree in which so much is different, and of the Service's new wishes. */
function next(change: (world: ModelWorld) => void, observe: (observed: Observed) => Partial<Observed> = () => ({})) {
  const world = served();
  change(world);
  const observed = { ...world.observe(), ...observe(world.observe()) };
  return nextChange(observed, goalOf(observed));
}

const listeners = (change: (listener: Listener, i: number) => Partial<Listener>) => (w: ModelWorld) => {
  w.listeners = w.listeners.map((l, i) => ({ ...l, ...change(l, i) }));
};
const pools = (change: (pool: Pool, i: number) => Partial<Pool>) => (w: ModelWorld) => {
  w.pools = w.pools.map((p, i) => ({ ...p, pool: { ...p.pool, ...change(p.pool, i) } }));
};

describe("the next change of a load balancer's tree", () => {
  test("is none where it is as it shall be", () => {
    expect(next(() => {})).toBeUndefined();
  });

  test("makes room first: a port that is not wanted goes before another comes", () => {
    const [http] = served().listeners;
    const change = { ...tcp80, port: 8080 };
    expect(next((w) => w.change({ ports: [change, udp53] }))).toEqual({
      type: "delete-pool",
      id: http?.default_pool_id,
    });
    expect(next((w) => w.change({ ports: [tcp80] }))).toMatchObject({ type: "delete-pool" });
    expect(next((w) => w.change({ ports: [{ ...tcp80, protocol: "SCTP" }, udp53] }))).toMatchObject({
      type: "delete-pool",
    });
  });

  test("creates a listener with all that Octavia shall know of it", () => {
    const create = next((w) => {
      w.listeners = w.listeners.slice(1);
      w.pools = w.pools.slice(1);
    });
    expect(create).toMatchObject({
      type: "create-listener",
      body: {
        loadbalancer_id: served().balancers[0]?.id,
        name: `listener_0_${lbName}`,
        protocol: "TCP",
        protocol_port: 80,
        tags: [lbName],
      },
    });
    expect(create).not.toHaveProperty("body.default_pool_id");
  });

  test.each<[string, Partial<Pool>, boolean]>([
    ["its pool back, which has none", {}, true],
    ["no pool of another name", { name: "mine" }, false],
    ["no pool of another protocol", { protocol: "HTTP" }, false],
    ["no pool that another listener uses", { listeners: [{ id: "another" }] }, false],
  ])("gives a listener that was deleted %s", (_what, change, adopts) => {
    const create = next((w) => {
      w.listeners = w.listeners.slice(1);
      pools((_, i) => (i === 0 ? { listeners: [], ...change } : {}))(w);
    });
    const [own] = served().pools;
    expect(create).toMatchObject({ type: "create-listener" });
    expect(create?.type === "create-listener" && create.body.default_pool_id).toBe(adopts ? own?.pool.id : undefined);
  });

  test("keeps a pool for its listener also while that cannot be created, and only for that one", () => {
    const braked = (step: { readonly type: string }) => (step.type === "create-listener" ? 9 : undefined);
    const kept = (change: Partial<Pool>) =>
      next(
        (w) => {
          w.listeners = w.listeners.slice(1);
          pools((_, i) => (i === 0 ? { listeners: [], ...change } : {}))(w);
        },
        () => ({ held: { ...nothingHeld, braked } }),
      );
    expect(kept({})).toBeUndefined();
    const id = served().pools[0]?.pool.id;
    expect(kept({ protocol: "HTTP" })).toEqual({ type: "delete-pool", id });
    expect(kept({ name: `pool_7_${lbName}` })).toEqual({ type: "delete-pool", id });
  });

  test("has no tags of a listener where Octavia has none", () => {
    const world = served();
    const observed = { ...world.observe(), listeners: [] };
    const { wanted, ...goal } = goalOf(observed);
    const untagged = wanted.map((port) => ({ ...port, tags: [] }));
    expect(nextChange(observed, { ...goal, wanted: untagged })).not.toHaveProperty("body.tags");
  });

  test("changes a listener before its pool", () => {
    const change = next(listeners((_, i) => (i === 1 ? { connection_limit: 5 } : {})));
    expect(change).toEqual({
      type: "update-listener",
      id: served().listeners[1]?.id,
      change: { connection_limit: -1 },
    });
  });

  test("creates a pool for a listener without one, with persistence where that is wanted", () => {
    const withoutPool = (w: ModelWorld) => {
      w.pools = w.pools.slice(1);
      listeners((_, i) => (i === 0 ? { default_pool_id: null } : {}))(w);
    };
    const body = {
      listener_id: served().listeners[0]?.id,
      name: `pool_0_${lbName}`,
      protocol: "TCP",
      lb_algorithm: "ROUND_ROBIN",
    };
    expect(next(withoutPool)).toEqual({ type: "create-pool", body });
    const persistent = next((w) => {
      withoutPool(w);
      w.change({ sessionAffinity: "ClientIP" });
    });
    expect(persistent).toMatchObject({ type: "create-pool", body: { session_persistence: { type: "SOURCE_IP" } } });
  });

  test("recreates a pool of another protocol", () => {
    expect(next(pools((_, i) => (i === 0 ? { protocol: "PROXY" } : {})))).toEqual({
      type: "delete-pool",
      id: served().pools[0]?.pool.id,
    });
  });

  test("repeats no method that the provider refused", () => {
    const change = pools((_, i) => (i === 0 ? { lb_algorithm: "SOURCE_IP" } : {}));
    expect(next(change)).toMatchObject({ type: "update-pool", change: { lb_algorithm: "ROUND_ROBIN" } });
    const refusedMethods = new Set([served().pools[0]?.pool.id ?? ""]);
    expect(next(change, () => ({ held: { ...nothingHeld, refusedMethods } }))).toBeUndefined();
  });

  test.each([
    ["PENDING_UPDATE", 6, "delete-pool"],
    ["PENDING_UPDATE", 5, "update-pool"],
    ["ACTIVE", 6, "update-pool"],
  ] as const)("of a pool that is %s and has refused %i times is to %s", (provisioning_status, refusals, type) => {
    const change = pools((_, i) => (i === 0 ? { lb_algorithm: "SOURCE_IP", provisioning_status } : {}));
    expect(next(change, () => ({ held: { ...nothingHeld, refusals } }))?.type).toBe(type);
  });

  test.each<[string, Partial<Pool>, (pool: Pool) => Partial<Listener>, boolean]>([
    ["of ours that no listener uses", {}, () => ({}), true],
    ["of ours of a port that is not wanted any more", { name: `pool_7_${lbName}` }, () => ({}), true],
    ["of a person", { name: "mine" }, () => ({}), false],
    ["that only begins like ours", { name: `pool_7_${lbName}_mine` }, () => ({}), false],
    ["of another Service", { name: "pool_0_kube_service_c1_default_other" }, () => ({}), false],
    ["that a listener uses", { listeners: [{ id: "another" }] }, () => ({}), false],
    ["that is a listener's default", {}, (pool) => ({ default_pool_id: pool.id }), false],
  ])("deletes of second pools only ours that no listener uses: one %s", (_what, change, listener, deletes) => {
    const world = served();
    const [own] = world.pools;
    if (!own) throw new Error("no pool");
    const extra = { ...own, pool: { ...own.pool, id: "extra", listeners: [], ...change } };
    world.pools = [...world.pools, extra];
    const foreign = { ...world.listeners[0], id: "another", tags: ["theirs"], protocol_port: 9, default_pool_id: null };
    world.listeners = [...world.listeners, { ...foreign, ...listener(extra.pool) } as Listener];
    const observed = world.observe();
    expect(nextChange(observed, goalOf(observed))).toEqual(deletes ? { type: "delete-pool", id: "extra" } : undefined);
  });

  test("brings missing tags and switches on last, and leaves the tags of others", () => {
    const world = served();
    const change = (lb: Partial<LoadBalancer>, tags: readonly string[]) => {
      const observed = world.observe();
      const goal = goalOf(observed, tags);
      return nextChange(observed, { ...goal, lb: { ...goal.lb, ...lb } });
    };
    const id = world.balancers[0]?.id;
    expect(change({ tags: ["theirs", "b"] }, ["a", "b"])).toEqual({
      type: "update-load-balancer",
      id,
      change: { tags: ["theirs", "b", "a"] },
    });
    expect(change({ tags: ["b", "a"] }, ["a", "b"])).toBeUndefined();
    expect(change({ admin_state_up: false }, [])).toEqual({
      type: "update-load-balancer",
      id,
      change: { admin_state_up: true },
    });
  });
});

describe("changes of a tree that are held back", () => {
  /** Two nodes less, a listener that was changed by hand, and a hold on some of what that needs. */
  function held(until: (step: TreeStep) => number | undefined) {
    const world = served();
    world.nodes = nodes.slice(1);
    listeners((_, i) => (i === 1 ? { connection_limit: 5 } : {}))(world);
    const observed = { ...world.observe(), held: { ...nothingHeld, braked: until as typeof nothingHeld.braked } };
    return { observed, goal: goalOf(observed) };
  }
  const changeOf = (until: (step: TreeStep) => number | undefined) => {
    const { observed, goal } = held(until);
    return nextChange(observed, goal);
  };

  test("let the next one pass; a change of members reports whether another follows that may be done", () => {
    expect(changeOf(() => undefined)).toMatchObject({ type: "replace-members", more: true });
    expect(changeOf((step) => (step.type === "replace-members" ? 9 : undefined))?.type).toBe("update-listener");
    const last = changeOf((step) => (step.type === "replace-members" ? undefined : 9));
    expect(last).toMatchObject({ type: "replace-members", more: true });
    const ids = new Set<string>();
    const only = changeOf((step) => {
      if (step.type !== "replace-members") return 9;
      ids.add(step.poolId);
      return ids.size > 1 ? 9 : undefined;
    });
    expect(only).toMatchObject({ type: "replace-members" });
    expect(only).not.toHaveProperty("more");
    expect(changeOf(() => 9)).toBeUndefined();
  });

  test("may be tried again when the first of them may", () => {
    const { observed, goal } = held((step) => (step.type === "update-listener" ? 300 : undefined));
    expect(brakedUntil(observed, goal)).toBe(300);
    const more: TreeStep = { type: "delete-pool", id: "p" };
    const all = held((step) => (step.type === "delete-pool" ? 200 : 300));
    expect(brakedUntil(all.observed, all.goal, [more])).toBe(200);
    expect(brakedUntil(all.observed, all.goal)).toBe(300);
    const none = held(() => undefined);
    expect(brakedUntil(none.observed, none.goal, [more])).toBeUndefined();
  });
});

describe("a port that another Service's listener has", () => {
  test.each<[string, Partial<Listener>, string[]]>([
    ["of the same protocol and number is in use", {}, ["TCP 80"]],
    ["is in use for TCP where HTTP speaks on it", { protocol: "HTTP" }, ["TCP 80"]],
    ["is free for TCP where UDP is on it", { protocol: "UDP" }, []],
    ["of another number is free", { protocol_port: 81 }, []],
    ["is ours where it has our tag", { tags: [lbName] }, []],
  ])("%s", (_what, change, taken) => {
    const world = served();
    const [own] = world.listeners;
    world.listeners = [{ ...own, tags: ["kube_service_c1_default_other"], ...change } as Listener];
    expect(takenPorts(world.observe(), goalOf(world.observe()))).toEqual(taken);
  });
});

describe("the rename of a load balancer's parts", () => {
  const formerName = "kube_service_before_default_web";
  const old = (text: string) => text.replace(lbName, formerName);

  /** A served load balancer of which only these parts still have the name from before. */
  function before(parts: { monitor?: true; pool?: true; listener?: true; tag?: true; lb?: true }, version = "2.26") {
    const world = served({ createMonitor: true, provider: "amphora" });
    world.version = version;
    if (parts.monitor)
      world.pools = world.pools.map((p) => ({
        ...p,
        monitor: p.monitor && { ...p.monitor, name: old(p.monitor.name) },
      }));
    if (parts.pool) pools(({ name }) => ({ name: old(name) }))(world);
    if (parts.listener) listeners(({ name }) => ({ name: old(name) }))(world);
    if (parts.tag) listeners(({ tags }) => ({ tags: tags.map(old) }))(world);
    const lbs = world.balancers.map((lb) =>
      parts.lb ? { ...lb, name: formerName, tags: ["theirs", formerName] } : lb,
    );
    return { ...world.observe(), formerName, loadBalancers: lbs };
  }
  const renameOf = (observed: Observed, lb = observed.loadBalancers[0]) => lb && nextRename(observed, lb);
  const all = { monitor: true, pool: true, listener: true, tag: true, lb: true } as const;

  test("is not needed where the cluster was not renamed", () => {
    expect(renameOf({ ...before(all), formerName: undefined })).toBeUndefined();
  });

  test("goes from monitors to pools to listeners to the load balancer, whose old name shows that it is not complete", () => {
    const { pools: own, listeners: ports, loadBalancers } = before(all);
    const [pool] = own;
    const [port] = ports;
    expect(renameOf(before(all))).toEqual({
      type: "update-monitor",
      id: pool?.monitor?.id,
      poolId: pool?.pool.id,
      change: { name: `monitor_0_${lbName}` },
    });
    expect(renameOf(before({ pool: true, listener: true, tag: true, lb: true }))).toEqual({
      type: "update-pool",
      id: pool?.pool.id,
      change: { name: `pool_0_${lbName}` },
    });
    const change = { name: `listener_0_${lbName}`, tags: [lbName] };
    expect(renameOf(before({ listener: true, tag: true, lb: true }))).toEqual({
      type: "update-listener",
      id: port?.id,
      change,
    });
    expect(renameOf(before({ listener: true }))).toEqual({ type: "update-listener", id: port?.id, change });
    expect(renameOf(before({ tag: true }))).toEqual({ type: "update-listener", id: port?.id, change });
    expect(renameOf(before({ lb: true }))).toEqual({
      type: "update-load-balancer",
      id: loadBalancers[0]?.id,
      change: {
        name: lbName,
        description: "Kubernetes external service default/web from cluster c1",
        tags: ["theirs", lbName, "k8s-owner=c1/0b0c-1"],
      },
    });
  });

  test("gives the load balancer one proof of whose it is: the owner's, or a sharer's", () => {
    const observed = before({ lb: true });
    const renamed = (tags: string[], name = formerName) => {
      const [lb] = observed.loadBalancers;
      const step = lb && nextRename(observed, { ...lb, name, tags });
      return step?.type === "update-load-balancer" ? step.change : step;
    };
    expect(renamed(["k8s-owner=before/0b0c-1", formerName])).toMatchObject({ tags: [lbName, "k8s-owner=c1/0b0c-1"] });
    const other = "kube_service_c1_default_other";
    expect(renamed(["k8s-owner=c1/2", other, "k8s-sharer=before/0b0c-1", formerName], other)).toEqual({
      tags: ["k8s-owner=c1/2", other, lbName, "k8s-sharer=c1/0b0c-1"],
    });
  });

  test("has each tag once, and cuts no name beyond what Octavia accepts", () => {
    const observed = before({ listener: true });
    const long = `listener_0_${formerName}`.padEnd(255, "x");
    const ports = observed.listeners.map((l) => ({ ...l, name: long, tags: [formerName, lbName] }));
    const step = renameOf({ ...observed, listeners: ports, lbName: `${lbName}_which_is_longer` });
    expect(step).toMatchObject({ type: "update-listener", change: { tags: [`${lbName}_which_is_longer`, lbName] } });
    expect(step?.type === "update-listener" && step.change.name).toHaveLength(255);
    const same = renameOf({ ...observed, listeners: ports });
    expect(same?.type === "update-listener" && same.change.tags).toEqual([lbName]);
  });

  test("leaves the parts of others alone", () => {
    const observed = before({ monitor: true, pool: true });
    const foreign = observed.listeners.map((l) => ({ ...l, tags: ["kube_service_c1_default_other"] }));
    expect(renameOf({ ...observed, listeners: foreign })?.type).toBe("update-load-balancer");
    const loose = observed.pools.map((p) => ({ ...p, pool: { ...p.pool, listeners: [] } }));
    expect(renameOf({ ...observed, listeners: foreign, pools: loose })?.type).toBe("update-monitor");
  });

  test("has no tags on a cloud whose Octavia has none, and ends there with the load balancer's name", () => {
    const observed = before({ listener: true, lb: true }, "2.4");
    const listener = renameOf(observed);
    expect(listener).toMatchObject({ type: "update-listener", change: { name: `listener_0_${lbName}` } });
    expect(listener).not.toHaveProperty("change.tags");
    const done = before({ lb: true }, "2.4");
    expect(renameOf(done)).not.toHaveProperty("change.tags");
    const [lb] = done.loadBalancers;
    expect(renameOf(done, lb && { ...lb, name: lbName })).toBeUndefined();
  });
});
