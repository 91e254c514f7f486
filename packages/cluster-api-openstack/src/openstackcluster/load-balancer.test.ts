import { describe, expect, it } from "vitest";
import { apply, condition, full, plan, settle, world, type World } from "../testing/cluster-world.ts";
import { openStackMachine } from "../testing/objects.ts";

const balancer = { enabled: true };
const onePort = { ...full, apiServer: { managedLoadBalancer: balancer } };
const addPort = (w: World): void => {
  w.object = { ...w.object, spec: { ...w.object.spec, apiServer: full.apiServer } };
};

/** The changes of the load balancer until none is left. */
function changes(w: World): string[] {
  const seen: string[] = [];
  for (let round = 0; round < 20; round++) {
    const { steps } = plan(w);
    if (steps.length === 0) return seen;
    for (const step of steps) {
      // Security groups follow the ports, too.
      if (step.type === "change-load-balancer") seen.push(step.change.type);
      apply(w, step);
    }
  }
  throw new Error(`no end: ${seen.join(", ")}`);
}

function withControlPlane(w: World): void {
  const machine = openStackMachine({}, { labels: { "cluster.x-k8s.io/control-plane": "" } });
  machine.status = { instanceState: "ACTIVE", addresses: [{ type: "InternalIP", address: "10.6.0.20" }] };
  w.machines = [machine];
}

describe("the load balancer of the API", () => {
  it("gets a port that the spec adds later: pool, members, monitor and listener, one call each", () => {
    const w = world(onePort);
    settle(w);
    withControlPlane(w);
    settle(w);
    addPort(w);
    expect(changes(w)).toEqual(["create-pool", "replace-members", "create-monitor", "create-listener"]);
    const name = "k8s-clusterapi-cluster-default-demo-kubeapi-8132";
    const pool = w.cloud.pools.find((p) => p.name === name);
    expect(pool).toMatchObject({ tags: ["team-a", "blue"], lb_algorithm: "ROUND_ROBIN" });
    expect(w.cloud.listeners.find((l) => l.name === name)).toMatchObject({
      protocol_port: 8132,
      default_pool_id: pool?.id,
      tags: ["team-a", "blue"],
    });
    expect(w.cloud.members.get(pool?.id ?? "")?.map((m) => `${m.address}:${m.protocol_port}`)).toEqual([
      "10.6.0.20:8132",
    ]);
  });

  it("of OVN's provider gets its monitor after its create, before the cluster is provisioned, and never again", () => {
    const w = world({ ...full, apiServer: { managedLoadBalancer: { enabled: true, provider: "ovn" } } });
    const made: string[] = [];
    // Lists of listeners and pools may be older than that of the load balancers.
    while (w.cloud.loadBalancers.length === 0) for (const step of plan(w).steps) apply(w, step);
    const pools = w.cloud.pools.splice(0);
    expect(condition(plan(w).status, "APIEndpointReady")).toBe("False WaitingForLoadBalancer");
    w.cloud.pools.push(...pools);
    for (let round = 0; round < 30 && !made.includes("create-monitor"); round++) {
      for (const step of plan(w).steps) {
        if (step.type === "change-load-balancer") {
          made.push(step.change.type);
          expect(condition(plan(w).status, "APIEndpointReady")).toBe("False CreatingMonitor");
        }
        apply(w, step);
      }
    }
    expect(made).toEqual(["create-monitor"]);
    expect(pools.map((pool) => pool.healthmonitor_id)).toEqual([null]);
    settle(w);
    w.object = { ...w.object, status: { ...w.object.status, initialization: { provisioned: true } } };
    for (const pool of w.cloud.pools) pool.healthmonitor_id = null;
    expect(changes(w)).toEqual([]);
  });

  it("gets no monitor for an added port where its provider has refused one", () => {
    const w = world(onePort);
    settle(w);
    addPort(w);
    for (const step of plan(w).steps) apply(w, step);
    const next = (withoutMonitors: string[]) => {
      const cloud = w.cloud.forCluster();
      const loadBalancing = { ...cloud.loadBalancing, withoutMonitors };
      return plan({ ...w, extra: { identity: { ok: true, cloud: { ...cloud, loadBalancing } } } }).steps;
    };
    expect(next([])).toMatchObject([{ change: { type: "create-monitor" } }]);
    expect(next(["amphora"])).toMatchObject([{ change: { type: "create-listener" } }]);
  });

  it("keeps the listener of a port that left the spec", () => {
    const w = world(full);
    settle(w);
    w.object = { ...w.object, spec: { ...w.object.spec, apiServer: onePort.apiServer } };
    expect(changes(w)).toEqual([]);
    expect(w.cloud.listeners.map((l) => l.protocol_port)).toEqual([6443, 8132]);
  });

  it("leaves what an operator changed by hand: switches, limits, monitors, weights, another pool", () => {
    const w = world(full);
    settle(w);
    withControlPlane(w);
    settle(w);
    w.cloud.listeners = w.cloud.listeners.map((l) =>
      l.protocol_port === 6443
        ? { ...l, admin_state_up: false, connection_limit: 9, tags: [] }
        : { ...l, default_pool_id: "by-hand" },
    );
    const mine = w.cloud.pools.map((p) => ({
      ...p,
      lb_algorithm: "LEAST_CONNECTIONS" as const,
      healthmonitor_id: null,
    }));
    w.cloud.pools = [...mine, ...mine.slice(1).map((p) => ({ ...p, id: "by-hand", name: "by hand" }))];
    for (const [id, members] of w.cloud.members)
      w.cloud.members.set(
        id,
        members.map((m) => ({ ...m, weight: 0 })),
      );
    expect(changes(w)).toEqual([]);
  });

  it("waits for pools that the load balancer names and no list has shown", () => {
    const w = world(full);
    settle(w);
    w.cloud.loadBalancers = w.cloud.loadBalancers.map((lb) => ({ ...lb, pools: [...lb.pools, { id: "new" }] }));
    expect(plan(w)).toMatchObject({ steps: [], refresh: ["listeners", "pools"] });
  });
});
