import { describe, expect, test } from "vitest";
import type { FloatingIp, LoadBalancer } from "@causeway/openstack";
import { annotation } from "../config/annotations.ts";
import { aFloatingIp, nothingHeld } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import type { Observed } from "./observed.ts";
import { serviceFinalizer } from "./parameters/concern.ts";
import { planRelease } from "./plan-release.ts";

function deleted(): ModelWorld {
  const world = new ModelWorld(aService(), [aNode("n1", { address: "10.0.0.1" })]);
  world.converge();
  world.delete();
  return world;
}

const typesAt = (now: number, busy: number | undefined): string[] =>
  planRelease({ ...deleted().observe(), held: { ...nothingHeld, busy } }, now).steps.map((step) => step.type);

test("a load balancer that refused a change is not deleted before its time, the floating IP is", () => {
  const held = { ...nothingHeld, busy: 500 };
  const plan = planRelease({ ...deleted().observe(), held }, 499);
  expect(plan.steps.map((step) => step.type)).not.toContain("delete-load-balancer");
  expect(plan.wait).toMatchObject({ until: 500, for: expect.stringMatching(/to be changeable$/) as string });
});

test.each<[number, number | undefined]>([
  [500, 500],
  [501, 500],
  [0, undefined],
])("at %s a load balancer that is busy until %s is deleted", (now, busy) => {
  expect(typesAt(now, busy)).toContain("delete-load-balancer");
});

test("a load balancer with a change under way is waited for a minute", () => {
  const world = deleted();
  world.balancers = world.balancers.map((lb) => ({ ...lb, provisioning_status: "PENDING_UPDATE" }));
  const plan = planRelease(world.observe(), 1000);
  expect(plan.steps.map((step) => step.type)).not.toContain("delete-load-balancer");
  expect(plan.wait?.until).toBe(61_000);
});

const lb = () => deleted().balancers[0] ?? expect.fail("no load balancer");

/** Plans the release of a served Service with what is different of it. */
function released(change: Partial<Observed> = {}, world = deleted()) {
  const observed = { ...world.observe(), ...change };
  return { ...planRelease(observed, 1000), observed };
}
const typesOf = (...given: Parameters<typeof released>) => released(...given).steps.map((step) => step.type);
const gone = { loadBalancers: [], listeners: [], pools: [], floatingIp: undefined };

describe("a Service that releases its load balancer", () => {
  test("has nothing to do without its finalizer, and its status remains", () => {
    const world = deleted();
    const { service } = world;
    world.service = { ...service, metadata: { ...service.metadata, finalizers: ["another"] } };
    const { steps, status, wait } = released({}, world);
    expect([steps, status, wait]).toEqual([[], service.status, undefined]);
  });

  test("that is deleted loses the address first, then the load balancer, and with it the finalizer", () => {
    const { steps, status, observed } = released();
    expect(status).toEqual(observed.service.status);
    expect(steps).toEqual([
      { type: "delete-floating-ip", id: observed.floatingIp?.id },
      {
        type: "delete-load-balancer",
        id: lb().id,
        cascade: true,
        event: { type: "Normal", reason: "DeletingLoadBalancer", message: "Deleting load balancer" },
      },
    ]);
    expect(typesOf({ ...gone, ownFloatingIps: [] })).toEqual(["remove-finalizer"]);
  });

  test("waits for one whose deletion is under way, and reports one that does not end", () => {
    const leaving = [{ ...lb(), provisioning_status: "PENDING_DELETE" } as const];
    const { steps, wait, events } = released({ ...gone, leaving });
    expect([steps, events]).toEqual([[], []]);
    expect(wait).toEqual({ for: `load balancer ${lb().id} to be gone`, until: 61_000 });
    const held = { ...nothingHeld, pendingSince: 1000 - 600_000 };
    expect(released({ ...gone, leaving, held }).events?.map((e) => e.message)).toEqual([
      expect.stringContaining(`load balancer ${lb().id} has been PENDING_DELETE for more than ten minutes`),
    ]);
  });

  test("deletes its new load balancer although a former one is on its way out", () => {
    const leaving = [{ ...lb(), id: "former" }];
    expect(typesOf({ leaving })).toEqual(["delete-floating-ip", "delete-load-balancer"]);
  });

  test.each<[string, Partial<Observed["parameters"]>, string[]]>([
    ["deletes free addresses of ours that a load balancer deleted by hand left", {}, ["delete-floating-ip"]],
    ["keeps them where they are to be kept", { keepFloatingIp: true }, []],
  ])("%s", (_what, change, expected) => {
    const world = deleted();
    const { parameters, floatingIp } = world.observe();
    const free = { ...floatingIp, port_id: null } as FloatingIp;
    const used = { ...free, id: "used", port_id: "another" };
    const own = { ...gone, ownFloatingIps: [free, used], parameters: { ...parameters, ...change } };
    const { steps } = released(own, world);
    expect(steps.map((step) => step.type)).toEqual([...expected, "remove-finalizer"]);
    for (const step of steps) if (step.type === "delete-floating-ip") expect(step.id).toBe(free.id);
  });

  test("is reported where the cloud has no Octavia any more, unless it never had a load balancer", () => {
    const { steps, events, wait } = released({ ...gone, octavia: false });
    expect(steps).toEqual([]);
    const message = expect.stringContaining("the cloud has no load balancing service") as string;
    expect(events).toEqual([{ type: "Warning", reason: "SyncLoadBalancerFailed", message }]);
    expect(wait).toEqual({ for: "Octavia to be back", until: 61_000 });
    const never = new ModelWorld(aService({}, {}, { finalizers: [serviceFinalizer] }), []);
    never.delete();
    expect(typesOf({ octavia: false }, never)).toEqual(["remove-finalizer"]);
  });

  test("waits for a change of its load balancer, gives the address back meanwhile, and reports one without end", () => {
    const loadBalancers = [{ ...lb(), provisioning_status: "PENDING_CREATE" } as const];
    const { steps, events, wait } = released({ loadBalancers });
    expect(steps.map((step) => step.type)).toEqual(["delete-floating-ip"]);
    const message = `Waiting for load balancer ${lb().id}, which is PENDING_CREATE, to become ACTIVE before it can be deleted`;
    expect(events).toEqual([{ type: "Normal", reason: "DeletingLoadBalancer", message }]);
    expect(wait).toEqual({ for: `load balancer ${lb().id} to be changeable`, until: 61_000 });
    const held = { ...nothingHeld, pendingSince: 0, busy: 500 };
    expect(planRelease({ ...released().observed, loadBalancers, held }, 600_000).events).toHaveLength(2);
    expect(released({ held: { ...nothingHeld, busy: 1500 } }).events).toEqual([]);
  });
});

describe("a load balancer that is not the Service's alone", () => {
  const others = "kube_service_c1_default_other";
  const owner = "k8s-owner=c1/another";
  const name = "kube_service_c1_default_web";
  const tagged = (tags: string[], changes: Partial<LoadBalancer> = {}) => [{ ...lb(), tags, ...changes }];

  test.each<[string, LoadBalancer[], boolean]>([
    ["has another Service's tag", tagged([...lb().tags, others]), false],
    ["has another owner", tagged([name, owner]), false],
    ["has a person's name and no owner", tagged([name], { name: "mine" }), false],
    ["was another's that is gone, whose last sharer the Service is", tagged([name], { name: others }), true],
    ["was another's and only its ID is known here", tagged([], { name: others }), false],
  ])("that %s goes only where nothing of others is on it", (_what, loadBalancers, deletes) => {
    expect(typesOf({ loadBalancers }).includes("delete-load-balancer")).toBe(deletes);
    expect(typesOf({ loadBalancers }).includes("delete-floating-ip")).toBe(deletes);
  });

  test("loses our listeners one by one, then our tags, and then the finalizer goes", () => {
    const loadBalancers = tagged([name, others, owner, "k8s-sharer=c1/0b0c-1", "theirs"]);
    expect(typesOf({ loadBalancers })).toEqual(["delete-pool"]);
    expect(typesOf({ loadBalancers, pools: [] })).toEqual(["delete-listener"]);
    const { steps } = released({ loadBalancers, listeners: [] });
    expect(steps).toEqual([{ type: "update-load-balancer", id: lb().id, change: { tags: [others, owner, "theirs"] } }]);
    expect(typesOf({ loadBalancers: tagged([others, owner]), listeners: [] })).toEqual(["remove-finalizer"]);
  });

  test("loses the tag from before the cluster was renamed, too", () => {
    const loadBalancers = tagged(["kube_service_before_default_web", owner]);
    const { steps } = released({ loadBalancers, listeners: [], formerName: "kube_service_before_default_web" });
    expect(steps).toEqual([{ type: "update-load-balancer", id: lb().id, change: { tags: [owner] } }]);
  });
});

describe("the deletion of a load balancer part after part", () => {
  const world = () => {
    const made = new ModelWorld(aService(), [aNode("n1", { address: "10.0.0.1" })], {
      cascadeDelete: false,
      createMonitor: true,
    });
    made.converge();
    made.delete();
    return made;
  };
  const next = (change: Partial<Observed> = {}) => released({ floatingIp: undefined, ...change }, world()).steps[0];

  test("goes from monitors to pools to listeners, each by its ID", () => {
    const { pools, listeners } = world().observe();
    const [pool] = pools;
    const bare = pools.map((p) => ({ ...p, monitor: undefined }));
    expect(next()).toEqual({ type: "delete-monitor", id: pool?.monitor?.id, poolId: pool?.pool.id });
    expect(next({ pools: bare })).toEqual({ type: "delete-pool", id: pool?.pool.id });
    expect(next({ pools: [] })).toEqual({ type: "delete-listener", id: listeners[0]?.id });
    expect(next({ pools: [], listeners: [] })).toMatchObject({ type: "delete-load-balancer", cascade: false });
  });

  test("is one of the whole where it is in ERROR, for no part of it can be changed then", () => {
    const loadBalancers = [{ ...lb(), provisioning_status: "ERROR" } as const];
    expect(next({ loadBalancers })).toMatchObject({ type: "delete-load-balancer", cascade: true });
  });
});

describe("a Service that becomes one of another type", () => {
  test.each<[string, Record<string, string>, object[], string[]]>([
    ["loses only its finalizer where nothing is noted", {}, [], []],
    ["loses the noted ID", { [annotation.loadBalancerId]: "l" }, [], ["annotate"]],
    ["loses the noted address", { [annotation.loadBalancerAddress]: "a" }, [], ["annotate"]],
    ["loses the published address", {}, [{ ip: "a" }], ["clear-status"]],
  ])("%s", (_what, annotations, ingress, expected) => {
    const service = aService({ type: "ClusterIP" }, annotations, { finalizers: [serviceFinalizer] });
    const world = new ModelWorld({ ...service, status: { loadBalancer: { ingress } } }, []);
    const { steps } = released({}, world);
    expect(steps.map((step) => step.type)).toEqual([...expected, "remove-finalizer"]);
    const cleared = { [annotation.loadBalancerId]: null, [annotation.loadBalancerAddress]: null };
    for (const step of steps) if (step.type === "annotate") expect(step.annotations).toEqual(cleared);
  });
});

describe("a load balancer that is being replaced when its Service is deleted", () => {
  const old = { ...lb(), id: "old" };
  const message = "Deleting load balancer old, which has been replaced";
  const removal = {
    type: "delete-load-balancer",
    id: "old",
    cascade: true,
    event: { type: "Normal", reason: "DeletingLoadBalancer", message },
  };

  test.each([
    ["Floating IP for Kubernetes external service default/web from cluster c1", "delete-floating-ip"],
    ["a person's", "detach-floating-ip"],
  ])("gives its address up first: %s", (description, type) => {
    const retiringFloatingIp = { ...aFloatingIp("ip", "172.24.4.9"), description, port_id: "p" };
    expect(released({ retiring: [old], retiringFloatingIp }).steps).toEqual([{ type, id: "ip" }]);
  });

  test.each(["ACTIVE", "ERROR"] as const)("goes before the other when it is %s", (provisioning_status) => {
    const { steps, status, observed } = released({ retiring: [{ ...old, provisioning_status }] });
    expect([steps, status]).toEqual([[removal], observed.service.status]);
  });

  test("is waited for while it is changed", () => {
    const { steps, wait } = released({ retiring: [{ ...old, provisioning_status: "PENDING_UPDATE" }] });
    expect([steps, wait]).toEqual([[], { for: "load balancer old to be changeable", until: 61_000 }]);
  });
});
