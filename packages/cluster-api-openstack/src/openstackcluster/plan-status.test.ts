import { describe, expect, it } from "vitest";
import type { Observed } from "./model.ts";
import { adoptAnnotation, clusterFinalizer, cloudIdentityAnnotation, ownerAnnotation } from "../resources/naming.ts";
import { apply, condition, deleting, full, plan, settle, world, type World } from "../testing/cluster-world.ts";
import { demoSpec, external, identity, now } from "../testing/objects.ts";

/** The conditions as "type status reason message". */
const conditions = ({ status }: Pick<ReturnType<typeof plan>, "status">) =>
  status.conditions?.map((c) => `${c.type} ${c.status} ${c.reason} ${c.message}`.trimEnd());

const minute = 60_000;
const failed = { ok: false, reason: "AuthenticationFailed", message: "wrong password" } as const;

describe("the report of an OpenStackCluster", () => {
  const known = { network: { id: "net-1", name: "demo" } };

  const untouched: [string, (w: World) => void][] = [
    ["while it is paused", (w) => (w.extra = { paused: true })],
    ["that is being deleted and has no finalizer", deleting],
    [
      "that is being deleted and has the finalizer of another controller",
      (w) => (deleting(w), (w.object.metadata.finalizers = ["other"])),
    ],
  ];
  it.each(untouched)("is what it was, and nothing is done, for an object %s", (_, change) => {
    const w = world(demoSpec);
    change(w);
    expect(plan(w)).toEqual({ steps: [], status: {} });
    w.object.status = known;
    expect(plan(w)).toEqual({ steps: [], status: known });
  });

  it("is that it waits for its Cluster, whose name all resources have", () => {
    const w = world(demoSpec);
    w.extra = { clusterName: undefined };
    expect(plan(w)).toEqual({
      steps: [],
      status: {},
      wait: { for: "a Cluster that owns this OpenStackCluster" },
    });
  });

  it("is not needed to delete it: the resources of its own name are deleted when its Cluster is gone", () => {
    const w = world(demoSpec);
    settle(w);
    deleting(w);
    w.extra = { clusterName: undefined };
    settle(w);
    expect(w.cloud.inventory).toEqual([]);
  });

  const recorded = { annotations: { [cloudIdentityAnnotation]: "RegionOne/other" } };
  const elsewhere = `The credentials are for region and project ${identity}, but the cluster's resources are in RegionOne/other; nothing is reconciled until they match`;
  it.each<[string, object, Partial<Observed>, string, string]>([
    ["credentials are refused", {}, { identity: failed }, "AuthenticationFailed", "wrong password"],
    ["credentials are of another project", recorded, {}, "WrongCloud", elsewhere],
  ])(
    "says in both conditions and an event why %s, keeps the rest and tries again in a minute",
    (_, metadata, extra, ...why) => {
      const [reason, message] = why;
      const w = world(demoSpec, metadata);
      Object.assign(w, { extra });
      w.object.status = known;
      const result = plan(w);
      expect(result).toMatchObject({
        steps: [],
        status: known,
        wait: { for: `credentials that work: ${message}`, until: now + minute },
      });
      expect(result.events).toEqual([{ type: "Warning", reason, message }]);
      expect(conditions(result)).toEqual([
        `OpenStackAuthenticationSucceeded False ${reason} ${message}`,
        `Ready False ${reason} ${message}`,
      ]);
    },
  );

  it.each([
    ["limits the rate of requests", "RateLimited", "limits the rate of requests"],
    ["does not respond", "CloudUnavailable", "does not respond (status 503)"],
  ])("says since when a cloud %s, and that a new cluster is not known yet", (_, reason, cause) => {
    const w = world(demoSpec);
    const paused = { ok: false, reason, message: "later", until: now + 5 } as const;
    w.extra = { identity: { ...paused, since: now - 5 * minute } };
    const result = plan(w);
    expect(result.wait).toEqual({ for: "later", until: now + 5 });
    expect(conditions(result)).toEqual([`Ready Unknown ${reason} later`]);
    const message = `The cloud ${cause} since 2026-11-20T23:55:00.000Z; nothing changes until it takes calls again`;
    expect(result.events).toEqual([{ type: "Warning", reason, message }]);
    const [other] = result.status.conditions ?? [];
    w.object.status = { conditions: other ? [{ ...other, type: "NetworkReady" }] : [] };
    expect(condition(plan(w).status, "Ready")).toBe(`Unknown ${reason}`);
    w.extra = { identity: paused };
    expect(plan(w)).not.toHaveProperty("events");
  });

  it("says that another cluster has its names, and tries again in ten minutes", () => {
    const first = world(full);
    settle(first);
    const w = { ...world(full), cloud: first.cloud };
    w.object.status = { failureDomains: [] };
    const result = plan(w);
    const message = result.wait?.for ?? "";
    expect(message).toMatch(/^The project has resources with this cluster's names/);
    expect(result.wait?.until).toBe(now + 10 * minute);
    expect(result.events).toEqual([{ type: "Warning", reason: "NameInUse", message }]);
    expect(result.status.failureDomains).toEqual([]);
    expect(conditions(result)).toEqual([`NetworkReady False NameInUse ${message}`, `Ready False NameInUse ${message}`]);
  });

  it("is what a refused step said until it may be tried again, and then whose its names are", () => {
    const first = world(full);
    settle(first);
    const annotations = { [cloudIdentityAnnotation]: identity, [ownerAnnotation]: "uid-second" };
    const w = { ...world(full, { finalizers: [clusterFinalizer], annotations }), cloud: first.cloud };
    const ready = (until: number) => {
      w.extra = { hold: { type: "NetworkReady", reason: "QuotaExceeded", message: "Quota exceeded", until } };
      return condition(plan(w).status, "Ready");
    };
    expect(ready(now + 1)).toBe("False QuotaExceeded");
    expect(ready(now)).toBe("False NameInUse");
    expect(plan(w).wait?.for).toMatch(/^Another object of this name/);
  });

  it("is one condition for each part, of which Ready is the sum, and that it waits for changes", () => {
    const w = world(demoSpec);
    const { wait, refresh, events } = settle(w);
    expect(w.object.status?.conditions?.map((c) => `${c.type} ${c.status} ${c.reason}`)).toEqual([
      "OpenStackAuthenticationSucceeded True OpenStackAuthenticationSucceeded",
      "NetworkReady True NetworkReady",
      "RouterReady True RouterReady",
      "SecurityGroupsReady True SecurityGroupsReady",
      "APIEndpointReady True EndpointFromControlPlane",
      "Ready True Ready",
    ]);
    expect([wait, refresh, events]).toEqual([{ for: "changes", until: now + 10 * minute }, [], []]);
  });

  it("is the first part that is not ready, while steps are left to do, without a wait", () => {
    const result = plan(world(demoSpec));
    expect(result.steps).toEqual([
      { for: "OpenStackAuthenticationSucceeded", type: "add-finalizer", identity, owner: "uid-osc" },
    ]);
    expect(result).not.toHaveProperty("wait");
    expect(result.status.conditions?.find((c) => c.type === "Ready")).toMatchObject({
      status: "False",
      reason: "CreatingNetwork",
    });
  });

  it("is what a refused step said, in the step's condition and Ready, until it may be tried again", () => {
    const w = world(full);
    for (const step of plan(w).steps) apply(w, step);
    const hold = { type: "RouterReady", reason: "QuotaExceeded", message: "Quota exceeded", until: now + 1 };
    w.extra = { hold };
    const held = plan(w);
    expect([held.steps, held.wait]).toEqual([[], { for: "Quota exceeded", until: now + 1 }]);
    expect(conditions(held)?.filter((c) => c.includes("Quota"))).toEqual([
      "RouterReady False QuotaExceeded Quota exceeded",
      "Ready False QuotaExceeded Quota exceeded",
    ]);
    w.extra = { hold: { ...hold, type: "OpenStackAuthenticationSucceeded", reason: "FinalizerError" } };
    expect(conditions(plan(w))?.[0]).toBe("OpenStackAuthenticationSucceeded False FinalizerError Quota exceeded");
    expect(condition(plan(w).status, "Ready")).toBe("False FinalizerError");
    w.extra = { hold: { ...hold, until: now } };
    expect(plan(w).steps).not.toEqual([]);
    expect(condition(plan(w).status, "RouterReady")).not.toBe("False QuotaExceeded");
  });

  it("is what a refused step of the bastion said, and the cluster remains ready", () => {
    const w = world({ ...demoSpec, bastion: { spec: { flavor: { id: "1" }, image: { id: "img-1" } } } });
    settle(w);
    delete w.bastion;
    expect(plan(w).steps.map((s) => s.type)).toEqual(["create-bastion"]);
    w.extra = { hold: { type: "BastionReady", reason: "OpenStackError", message: "refused", until: now + 1 } };
    const held = plan(w);
    expect([held.steps, held.wait]).toEqual([[], { for: "refused", until: now + 1 }]);
    expect(condition(held.status, "BastionReady")).toBe("False OpenStackError");
    expect(condition(held.status, "Ready")).toBe("True Ready");
  });

  it("warns of a spec that cannot be satisfied only until the cluster is provisioned, and works on the rest after that", () => {
    const wrong = { ...demoSpec, externalNetwork: { filter: { name: "outside" } } };
    const fresh = plan(world(wrong));
    const message = 'spec.externalNetwork: no match for {"name":"outside"}; there are public';
    expect(fresh.steps).toEqual([]);
    expect(fresh.events).toEqual([{ type: "Warning", reason: "ExternalNetworkNotFound", message }]);
    expect(condition(fresh.status, "Ready")).toBe("False ExternalNetworkNotFound");
    expect(fresh.wait).toEqual({ for: message, until: now + 10 * minute });
    const w = world(demoSpec);
    settle(w);
    w.object = { ...w.object, spec: { ...w.object.spec, ...wrong, tags: ["blue"] } };
    const later = plan(w);
    expect(later.steps.map((s) => s.type)).toContain("set-tags");
    expect(later.events?.filter((e) => e.reason === "ExternalNetworkNotFound")).toEqual([]);
  });

  it("records the cloud of an object that has the finalizer or the record alone", () => {
    const w = world(demoSpec);
    settle(w);
    const first = () => plan(w).steps.map((s) => s.type);
    w.object = { ...w.object, metadata: { ...w.object.metadata, finalizers: [] } };
    expect(first()).toEqual(["add-finalizer"]);
    w.object = { ...w.object, metadata: { ...w.object.metadata, finalizers: [clusterFinalizer], annotations: {} } };
    expect(first()).toEqual(["add-finalizer"]);
  });

  it("records its cloud in the same plan that creates its network, where it adopts and so records no owner", () => {
    const w = world(demoSpec, { finalizers: [], annotations: { [adoptAnnotation]: "true" } });
    const [first, next] = plan(w).steps;
    expect([first?.type, next?.type]).toEqual(["add-finalizer", "create-network"]);
    expect(first).not.toHaveProperty("owner");
  });

  it("has the namespace and the tags of the object in the names and tags of its resources", () => {
    const w = world({ ...demoSpec, tags: ["blue"] });
    const { namespace: _none, ...metadata } = w.object.metadata;
    w.object = { ...w.object, metadata };
    settle(w);
    expect(w.cloud.networks[1]).toMatchObject({ name: "k8s-clusterapi-cluster--demo", tags: ["blue"] });
    expect(w.cloud.networks[0]).toEqual(external);
  });

  it("is that it waits for the load balancer of its API, and which lists are read again for it", () => {
    const w = world(full);
    settle(w);
    const [balancer] = w.cloud.loadBalancers;
    const { listeners } = w.cloud;
    w.cloud.loadBalancers = w.cloud.loadBalancers.map((l) => ({ ...l, provisioning_status: "PENDING_UPDATE" }));
    const pending = plan(w);
    const message = `load balancer ${balancer?.name} (${balancer?.id}) to be ACTIVE; it is PENDING_UPDATE`;
    expect([pending.steps, pending.refresh]).toEqual([[], []]);
    expect(pending.wait).toEqual({ for: message, until: now + 10 * minute });
    const listed = listeners.map(({ id }) => ({ id }));
    w.cloud.loadBalancers = w.cloud.loadBalancers.map((l) => ({
      ...l,
      listeners: listed,
      provisioning_status: "ACTIVE",
    }));
    w.cloud.listeners = [];
    expect([plan(w).steps, plan(w).refresh]).toEqual([[], ["listeners", "pools"]]);
  });
});
