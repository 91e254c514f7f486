import type { OpenStackServer } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { serverFinalizer } from "../resources/naming.ts";
import { ModelCloud } from "../testing/model-cloud.ts";
import { now } from "../testing/objects.ts";
import { plan as planServerObject, type Observed } from "./plan.ts";

interface World {
  readonly cloud: ModelCloud;
  object: OpenStackServer;
  extra: Partial<Observed>;
}

function world(spec: Partial<OpenStackServer["spec"]> = {}, metadata: object = {}): World {
  const cloud = new ModelCloud();
  const identityRef = { name: "cloud", cloudName: "devcloud" };
  return {
    cloud,
    object: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "OpenStackServer",
      metadata: { name: "jump", namespace: "default", uid: "uid-oss", generation: 1, ...metadata },
      spec: {
        identityRef,
        flavor: "m1.small",
        image: { filter: { name: "cirros" } },
        sshKeyName: "admin",
        ports: [{ network: { id: "net-public" } }],
        ...spec,
      },
    },
    extra: {},
  };
}

function plan(w: World) {
  const observed: Observed = {
    object: w.object,
    clusterName: undefined,
    paused: false,
    identity: { ok: true, cloud: w.cloud.forMachine() },
  };
  return planServerObject({ ...observed, ...w.extra }, now);
}

function settle(w: World) {
  for (let round = 0; round < 20; round++) {
    const planned = plan(w);
    if (planned.steps.length === 0) {
      w.object = { ...w.object, status: planned.status };
      return planned;
    }
    for (const step of planned.steps) {
      w.cloud.applyMachine(step);
      const finalizers = { "add-finalizer": [serverFinalizer], "remove-finalizer": [] }[step.type as string];
      if (finalizers) w.object = { ...w.object, metadata: { ...w.object.metadata, finalizers } };
    }
  }
  throw new Error("the plan does not come to rest");
}

const reason = (w: World) => plan(w).status.conditions?.find((c) => c.type === "InstanceReady")?.reason;
const deleting = { deletionTimestamp: "2026-11-21T00:00:00Z" };

describe("the plan of an OpenStackServer", () => {
  it("makes port and server, says that it is ready, and leaves nothing when it is deleted", () => {
    const w = world({ flavorID: "1", availabilityZone: "az2", tags: ["blue"] });
    const { status } = settle(w);
    expect(w.cloud.inventory).toEqual(["ports jump-0", "servers jump"]);
    expect(status).toMatchObject({ ready: true, instanceID: w.cloud.servers[0]?.id, instanceState: "ACTIVE" });
    expect(status.resources?.ports).toEqual([{ id: w.cloud.ports[0]?.id }]);
    expect(status).not.toHaveProperty("initialization");
    expect(plan(w).steps).toEqual([]);
    w.object = { ...w.object, metadata: { ...w.object.metadata, ...deleting } };
    settle(w);
    expect([w.cloud.inventory, w.object.metadata.finalizers]).toEqual([[], []]);
  });

  it("creates the server with zone, key and tags, and with user data only where there is some", () => {
    const create = (spec: Partial<OpenStackServer["spec"]>, extra: Partial<Observed> = {}) => {
      const started = { finalizers: [serverFinalizer] };
      const w = { ...world({ availabilityZone: "az2", tags: ["blue"], ...spec }, started), extra };
      for (let round = 0; round < 3; round++) {
        const step = plan(w).steps.find((s) => s.type === "create-server");
        if (step) return step;
        for (const each of plan(w).steps) w.cloud.applyMachine(each);
      }
      return undefined;
    };
    const body = { flavorRef: "2", availability_zone: "az2", key_name: "admin", tags: ["blue"] };
    expect(create({})).toMatchObject({ body, secret: "" });
    const userDataRef = { name: "boot" };
    expect(create({ userDataRef })).toBeUndefined();
    expect(create({ userDataRef }, { userData: "boot" })).toMatchObject({ body, secret: "boot" });
  });

  const waits: [string, World, string][] = [
    ["user data", world({ userDataRef: { name: "boot" } }), "WaitingForBootstrapData"],
    ["a network that exists", world({ ports: [{ network: { id: "none" } }] }), "InvalidMachineSpec"],
    [
      "credentials",
      { ...world(), extra: { identity: { ok: false, reason: "InvalidIdentity", message: "no Secret" } } },
      "InvalidIdentity",
    ],
  ];
  it.each(waits)("creates nothing without %s", (_name, w, expected) => {
    expect(plan(w).steps).toEqual([]);
    expect(plan(w).status.ready).toBe(false);
    expect(reason(w)).toBe(expected);
  });

  it("leaves the server of a machine to the machine, and deletes what is left of it with the object", () => {
    const ownerReferences = [{ apiVersion: "x/v1", kind: "OpenStackMachine", name: "m", uid: "1" }];
    const w = world({}, { ownerReferences, finalizers: [serverFinalizer] });
    expect(plan(w)).toEqual({ steps: [], status: {} });
    w.object = { ...w.object, metadata: { ...w.object.metadata, ...deleting } };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["remove-finalizer"]);
  });

  it("changes nothing while it is paused, or deleted without its finalizer", () => {
    const status = { instanceState: "ACTIVE" };
    const paused = world();
    paused.extra = { paused: true };
    for (const w of [paused, world({}, deleting), world({}, { ...deleting, finalizers: ["other"] })]) {
      expect(plan(w)).toEqual({ steps: [], status: {} });
      w.object.status = status;
      expect(plan(w)).toEqual({ steps: [], status });
    }
  });

  it("does nothing after a refused step until it may be tried again", () => {
    const w = world();
    const hold = { type: "InstanceReady", reason: "QuotaExceeded", message: "Quota exceeded", until: now + 1 };
    w.extra = { hold };
    expect(plan(w)).toMatchObject({ steps: [], wait: { for: "Quota exceeded", until: now + 1 } });
    expect(reason(w)).toBe("QuotaExceeded");
    w.extra = { hold: { ...hold, until: now } };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["add-finalizer", "create-port"]);
  });

  it("needs no user data any more once it has a server, and waits for it by name before", () => {
    const w = world({ userDataRef: { name: "boot" } });
    expect(plan(w).wait?.for).toBe("Secret boot with the user data");
    w.object.status = { instanceID: "gone" };
    expect(reason(w)).toBe("InstanceDeleted");
  });

  it("changes the tags of a server that runs, of which no cluster's object has to be there", () => {
    const w = world({ tags: ["blue"] });
    settle(w);
    w.object = { ...w.object, spec: { ...w.object.spec, tags: ["green"] } };
    expect(plan(w).steps.map((s) => s.type)).not.toEqual([]);
    settle(w);
    expect(w.cloud.servers[0]?.tags).toEqual(["green"]);
  });

  it("is known by the cluster in its description and mark; without one, by its own name", () => {
    const bodies = (extra: Partial<Observed>, metadata: object = {}) => {
      const w = { ...world({}, metadata), extra };
      return plan(w).steps.find((s) => s.type === "create-port")?.body.description;
    };
    const text = "Created by cluster-api-provider-openstack cluster";
    expect(bodies({ clusterName: "web" })).toBe(`${text} default-web`);
    expect(bodies({})).toBe(`${text} default-jump`);
    expect(bodies({}, { namespace: undefined })).toBe(`${text} -jump`);
  });
});
