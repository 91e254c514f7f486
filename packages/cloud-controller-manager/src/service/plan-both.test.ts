import { describe, expect, test } from "vitest";
import { annotation } from "../config/annotations.ts";
import { nothingHeld } from "../testing/model-parts.ts";
import { ModelWorld } from "../testing/model.ts";
import { aNode, aService } from "../testing/objects.ts";
import { serviceFinalizer } from "./parameters/concern.ts";
import { secondService } from "./parameters/second-family.ts";
import { lbTags } from "./tree/create-body.ts";
import type { Observed } from "./observed.ts";
import { planBoth } from "./plan-both.ts";
import { plan } from "./plan.ts";

const former = "kube_service_before_default_web";

/** A served Service; only its load balancer still has the name from before the cluster was renamed. */
function almostRenamed(changes: object = {}): Observed {
  const world = new ModelWorld(aService(), [aNode("n1", { address: "10.0.0.1" })]);
  world.converge();
  const observed = world.observe();
  const loadBalancers = observed.loadBalancers.map((lb) => ({ ...lb, name: former, tags: [former], ...changes }));
  return { ...observed, loadBalancers, formerName: former };
}

function renamed(): Observed {
  const observed = almostRenamed();
  const loadBalancers = observed.loadBalancers.map((lb) => ({ ...lb, name: observed.lbName, tags: lbTags(observed) }));
  return { ...observed, loadBalancers, formerName: undefined };
}

const typesOf = (observed: Observed): string[] =>
  planBoth(observed, 0).steps.map((step) => (step.type === "of-second" ? `second: ${step.step.type}` : step.type));

describe("while a cluster's new name spreads over both load balancers of a Service", () => {
  test("the first keeps its old name, by which the second is found, until that has the new one", () => {
    expect(typesOf({ ...almostRenamed(), second: almostRenamed() })).toEqual(["second: update-load-balancer"]);
    expect(typesOf({ ...almostRenamed(), second: renamed() })).toEqual(["update-load-balancer"]);
    expect(typesOf({ ...almostRenamed(), second: undefined })).toEqual(["update-load-balancer"]);
  });

  test("the plan waits for a second one that cannot be changed yet, also when that would have notes of its own to write", () => {
    const second = almostRenamed({ provisioning_status: "PENDING_UPDATE" });
    const { annotations: _, ...metadata } = second.service.metadata;
    const plan = planBoth({ ...almostRenamed(), second: { ...second, service: { ...second.service, metadata } } }, 0);
    expect(plan.steps).toEqual([]);
    expect(plan.wait?.for).toMatch(/to be ACTIVE/);
  });
});

const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };
const deletionTimestamp = "2026-01-01T00:00:00Z";

interface Given {
  readonly annotations?: Record<string, string>;
  readonly metadata?: Parameters<typeof aService>[2];
  /** What is different of one of them. */
  readonly first?: Partial<Observed>;
  readonly second?: Partial<Observed>;
  /** A node came since. */
  readonly more?: boolean;
}

/** A Service of both families whose load balancers are served. */
function dual({ annotations = {}, metadata = {}, first = {}, second = {}, more = false }: Given = {}): Observed {
  const own = aService(
    { ipFamilies: ["IPv4", "IPv6"] },
    { ...internal, ...annotations },
    { finalizers: [serviceFinalizer] },
  );
  const served = (service: typeof own, beginning: string, vip_address: string) => {
    const world = new ModelWorld(service, [aNode("n1", { address: `${beginning}1` })]);
    world.converge();
    world.balancers = world.balancers.map((lb) => ({ ...lb, vip_address }));
    if (more) world.nodes = [...world.nodes, aNode("n2", { address: `${beginning}2` })];
    return world;
  };
  const one = served(own, "10.0.0.", "10.0.0.9");
  const service = { ...one.service, metadata: { ...one.service.metadata, ...metadata } };
  one.service = service;
  const { deletionTimestamp: _, ...lasting } = service.metadata;
  const other = served(secondService({ ...service, metadata: lasting }), "fd00::", "fd00::9");
  other.service = secondService(service);
  return { ...one.observe(), ...first, second: { ...other.observe(), ...second } };
}

const gone: Partial<Observed> = { loadBalancers: [], listeners: [], pools: [] };
const leaving = (observed: Observed): Partial<Observed> => ({ ...gone, leaving: observed.loadBalancers });

describe("the plan of a Service of two families", () => {
  test("is that of its one load balancer where there is no second", () => {
    const observed = { ...dual({ more: true }), second: undefined };
    expect(planBoth(observed, 0)).toEqual(plan(observed, 0));
  });

  test("publishes the addresses of both, and has no step when both are as they shall be", () => {
    const { steps, status, wait } = planBoth(dual(), 0);
    const ingress = [
      { ip: "10.0.0.9", ipMode: "VIP" },
      { ip: "fd00::9", ipMode: "VIP" },
    ];
    expect([steps, status, wait]).toEqual([
      [{ type: "annotate", annotations: expect.anything() as unknown }],
      { loadBalancer: { ingress } },
      undefined,
    ]);
  });

  test("publishes a hostname once, for it represents both", () => {
    const { status } = planBoth(dual({ annotations: { [annotation.hostname]: "web.example" } }), 0);
    expect(status).toEqual({ loadBalancer: { ingress: [{ hostname: "web.example" }] } });
  });

  test("publishes what one of them has, and nothing where none has anything", () => {
    const { status } = planBoth(dual({ first: gone }), 0);
    expect(status.loadBalancer?.ingress?.map((i) => i.ip)).toEqual(["fd00::9"]);
    const neither = planBoth(dual({ first: gone, second: gone }), 0);
    expect(neither.status).toEqual({ loadBalancer: {} });
    expect(neither).not.toHaveProperty("wait");
  });

  test("changes both at once, the Service itself only for the first", () => {
    expect(typesOf(dual({ more: true }))).toEqual(["annotate", "replace-members", "second: replace-members"]);
    expect(typesOf(dual({ second: gone }))).toEqual(["annotate", "second: create-load-balancer"]);
  });

  test("begins with the finalizer alone", () => {
    expect(typesOf(dual({ metadata: { finalizers: [] }, second: gone }))).toEqual(["add-finalizer"]);
  });

  test("creates no second one before it is known whose the first is", () => {
    const [lb] = dual().loadBalancers;
    if (!lb) throw new Error("no load balancer");
    const event = { type: "Normal", reason: "LoadBalancerAdopted", message: "" } as const;
    expect(typesOf(dual({ first: { adoption: { lb, tags: ["a"], event } }, second: gone }))).toEqual([
      "update-load-balancer",
    ]);
    expect(typesOf(dual({ first: { unproved: "decide" }, second: gone }))).toEqual([]);
  });
});

describe("the events of a Service of two families", () => {
  const reasonsOf = (given: Given) => (planBoth(dual(given), 0).events ?? []).map((event) => event.reason);

  test("report what the Service itself asks for once, and what happens to the second only where it is wrong", () => {
    expect(reasonsOf({ annotations: { [annotation.method]: "FASTEST" } })).toEqual(["LoadBalancerLbMethodUnknown"]);
    expect(reasonsOf({ second: gone })).toEqual([]);
    expect(reasonsOf({ first: gone })).toContain("EnsuringLoadBalancer");
    const anothers = dual().loadBalancers;
    expect(reasonsOf({ second: { ...gone, anothers } })).toEqual(["LoadBalancerOwnedByAnother"]);
  });
});

describe("the deletion of a Service of two families", () => {
  const deleted = (given: Given = {}) => dual({ metadata: { deletionTimestamp }, ...given });

  test("deletes both, and its finalizer goes when the second is gone, too", () => {
    expect(typesOf(deleted())).toEqual(["delete-load-balancer", "second: delete-load-balancer"]);
    expect(typesOf(deleted({ first: gone }))).toEqual(["second: delete-load-balancer"]);
    const second = leaving(dual().second ?? dual());
    expect(typesOf(deleted({ first: gone, second }))).toEqual([]);
    expect(planBoth(deleted({ first: gone, second }), 0).wait?.for).toMatch(/to be gone$/);
    expect(typesOf(deleted({ first: gone, second: gone }))).toEqual(["remove-finalizer"]);
  });
});

test("a Service of two families that becomes one of another type loses what is published once, and its finalizer last", () => {
  const observed = dual({ first: gone, second: gone });
  const of = (one: Observed): Observed => {
    const ingress = [{ ip: "fd00::9" }];
    return {
      ...one,
      service: {
        ...one.service,
        spec: { ...one.service.spec, type: "ClusterIP" },
        status: { loadBalancer: { ingress } },
      },
    };
  };
  const both = { ...of(observed), second: observed.second && of(observed.second) };
  expect(typesOf(both)).toEqual(["annotate", "clear-status", "remove-finalizer"]);
});

describe("the wait of a Service of two families", () => {
  const busy = (until: number | undefined): Partial<Observed> => ({ held: { ...nothingHeld, busy: until } });
  const braked = (until: number): Partial<Observed> => ({ held: { ...nothingHeld, braked: () => until } });
  const waitOf = (first: Partial<Observed>, second: Partial<Observed>) =>
    planBoth(dual({ more: true, first, second }), 0).wait;

  test.each([
    [500, 900, 500],
    [900, 500, 500],
    [500, undefined, 500],
    [undefined, 500, 500],
    [undefined, undefined, undefined],
  ])("ends when the first of theirs does: %s and %s, %s", (first, second, until) => {
    expect(waitOf(busy(first), busy(second))?.until).toBe(until);
  });

  test.each([
    ["both are", braked(500), braked(900), true],
    ["the first is", braked(500), busy(900), undefined],
    ["the second is", busy(900), braked(500), undefined],
  ])("counts as one for held steps alone where %s", (_which, first, second, onlyHeld) => {
    expect(waitOf(first, second)).toMatchObject({ until: 500 });
    expect(waitOf(first, second)?.onlyHeld).toBe(onlyHeld);
  });
});
