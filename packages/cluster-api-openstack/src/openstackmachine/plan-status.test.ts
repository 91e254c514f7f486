import type { OpenStackMachine } from "@causeway/api";
import type { Server } from "@causeway/openstack";
import { beforeEach, describe, expect, it } from "vitest";
import { port, server } from "../dry-run/resources.ts";
import { cloudIdentityAnnotation, serverOwnerKey } from "../resources/naming.ts";
import { apply, deleting, plan, ready, settle, world, type World } from "../testing/machine-world.ts";
import { images, now, openStackMachine } from "../testing/objects.ts";
import type { Observed } from "./model.ts";
import { heldBack, isHeld, plan as planMachine } from "./plan.ts";

const minute = 60_000;
const failed = { ok: false, reason: "AuthenticationFailed", message: "wrong password" } as const;

/** The conditions as "type status reason message". */
const conditions = ({ status }: Pick<ReturnType<typeof plan>, "status">) =>
  status.conditions?.map((c) => `${c.type} ${c.status} ${c.reason} ${c.message}`.trimEnd());

const both = (text: string) => [`InstanceReady ${text}`, `Ready ${text}`];

describe("the report of an OpenStackMachine", () => {
  const untouched: [string, (w: World) => void][] = [
    ["while it is paused", (w) => (w.extra = { paused: true })],
    ["that is being deleted and has no finalizer", deleting],
    [
      "that is being deleted and has the finalizer of another controller",
      (w) => (deleting(w), (w.object.metadata.finalizers = ["other"])),
    ],
  ];
  it.each(untouched)("is what it was, and nothing is done, for an object %s", (_, change) => {
    const w = world();
    change(w);
    expect(plan(w)).toEqual({ steps: [], status: {}, refresh: [] });
    w.object.status = { instanceState: "ACTIVE" };
    expect(plan(w)).toEqual({ steps: [], status: { instanceState: "ACTIVE" }, refresh: [] });
  });

  it("is why its credentials are refused, in both conditions and an event, and that it tries again in a minute", () => {
    const w = world();
    w.extra = { identity: failed };
    w.object.status = { instanceState: "ACTIVE" };
    const result = plan(w);
    expect(result).toMatchObject({
      steps: [],
      status: { instanceState: "ACTIVE" },
      wait: { for: "credentials that work", until: now + minute },
      events: [{ type: "Warning", reason: "AuthenticationFailed", message: "wrong password" }],
    });
    expect(conditions(result)).toEqual(both("False AuthenticationFailed wrong password"));
  });

  it("is unknown for a new machine while the cloud wants to be left alone, without an event", () => {
    const w = world();
    w.extra = { identity: { ok: false, reason: "RateLimited", message: "later", until: now + 5 } };
    const result = plan(w);
    expect(conditions(result)).toEqual(both("Unknown RateLimited later"));
    const [known] = result.status.conditions ?? [];
    w.object.status = { conditions: known ? [{ ...known, type: "Other", status: "True" }] : [] };
    expect(ready(plan(w).status)).toBe("Unknown RateLimited");
    expect(result).toMatchObject({ steps: [], wait: { for: "later", until: now + 5 }, events: [] });
  });

  it("is that the cluster's resources are in another project, unless the machine has credentials of its own", () => {
    const w = world();
    w.infrastructure.metadata.annotations = { [cloudIdentityAnnotation]: "RegionOne/other" };
    const result = plan(w);
    expect(result.steps).toEqual([]);
    expect(result.wait?.until).toBe(now + minute);
    expect(result.events?.map((e) => e.reason)).toEqual(["WrongCloud"]);
    expect(ready(result.status)).toBe("False WrongCloud");
    w.object = { ...w.object, spec: { ...w.object.spec, identityRef: { name: "own", cloudName: "c" } } };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["add-finalizer", "create-port"]);
  });

  it("is what a refused step said, until it may be tried again", () => {
    const w = world();
    const hold = { type: "InstanceReady", reason: "QuotaExceeded", message: "Quota exceeded", until: now + 1 };
    w.extra = { hold };
    const held = plan(w);
    expect(held).toMatchObject({ steps: [], wait: { for: "Quota exceeded", until: now + 1 }, events: [] });
    expect(conditions(held)).toEqual(both("False QuotaExceeded Quota exceeded"));
    w.extra = { hold: { ...hold, until: now } };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["add-finalizer", "create-port"]);
  });

  it("holds a refused change of a running server back alone, but all of a deletion", () => {
    const hold = { type: "UpdatesApplied", reason: "r", message: "m", until: now + 1 };
    expect(isHeld(hold, { deleting: false, now })).toBe(false);
    expect(isHeld(hold, { deleting: true, now })).toBe(true);
    expect(isHeld({ ...hold, type: "InstanceReady" }, { deleting: false, now })).toBe(true);
    expect(isHeld(hold, { deleting: true, now: now + 1 })).toBe(false);
    expect(isHeld(undefined, { deleting: true, now })).toBe(false);
    expect(heldBack(hold)).toEqual({
      steps: [],
      finding: { type: "InstanceReady", status: "False", reason: "r", message: "m" },
      wait: { for: "m", until: now + 1 },
    });
  });

  it("is that two servers have its name and mark, of which it picks none", () => {
    const w = world();
    const metadata = { [serverOwnerKey]: "default/demo" };
    w.cloud.servers = ["s-2", "s-1"].map((id) => server(id, { name: "demo-workers-abcde", metadata }));
    const message =
      "Several servers named demo-workers-abcde have this machine's mark: s-1, s-2. Delete the ones that are not in use";
    const result = plan(w);
    expect(result).toMatchObject({ steps: [], wait: { for: message, until: now + minute } });
    expect(conditions(result)).toEqual(both(`False DuplicateServer ${message}`));
  });

  it("has the list of volumes read again while it waits for them to be released", () => {
    const w = world({ rootVolume: { sizeGiB: 5 } });
    settle(w);
    expect(plan(w).refresh).toEqual([]);
    deleting(w);
    for (const step of plan(w).steps) apply(w, step);
    w.cloud.ports = [];
    w.cloud.volumes = w.cloud.volumes.map(
      (v) => ({ ...v, status: "in-use", attachments: [{ server_id: "x" }] }) as typeof v,
    );
    expect([plan(w).steps, plan(w).refresh]).toEqual([[], ["volumes"]]);
  });

  it("needs neither its Machine nor the cluster's infrastructure for its deletion", () => {
    const w = world();
    for (const step of plan(w).steps) apply(w, step);
    deleting(w);
    w.extra = { owner: undefined, infrastructure: undefined };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["delete-port"]);
    settle(w);
    expect([w.cloud.inventory, w.object.metadata.finalizers]).toEqual([[], []]);
  });

  it("waits for its Machine while it has none, also without a name of the cluster", () => {
    const w = world();
    w.extra = { clusterName: undefined };
    expect(ready(plan(w).status)).toBe("False WaitingForMachine");
  });
});

describe("the report of an OpenStackMachine with a server", () => {
  let w: World;
  let id: string;
  const states = (status: Server["status"], fault?: string) => {
    const extra = fault === undefined ? {} : { fault: { code: 500, message: fault, created: "" } };
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, status, ...extra }));
    return plan(w);
  };
  beforeEach(() => {
    w = world();
    settle(w);
    id = w.cloud.servers[0]?.id ?? "";
  });

  it("is the server's ID, state, ports and addresses, and what its names meant when it was built", () => {
    const result = plan(w);
    expect(result).toMatchObject({ steps: [], events: [], refresh: [] });
    expect(result).not.toHaveProperty("wait");
    expect(conditions(result)).toEqual(["InstanceReady True InstanceReady", "Ready True Ready"]);
    const { status } = result;
    expect(status).toMatchObject({
      instanceID: id,
      instanceState: "ACTIVE",
      initialization: { provisioned: true },
      resources: { ports: [{ id: w.cloud.ports[0]?.id }] },
      resolved: { flavorID: "2", imageID: "img-1" },
    });
  });

  it.each<[Server["status"], string | undefined, string, string[]]>([
    [
      "ERROR",
      "No valid host was found.",
      "False InstanceStateError Server ID is in ERROR: No valid host was found. Delete the Machine to get another one, or repair the server",
      ["InstanceStateError"],
    ],
    [
      "ERROR",
      undefined,
      "False InstanceStateError Server ID is in ERROR: Nova gives no reason. Delete the Machine to get another one, or repair the server",
      ["InstanceStateError"],
    ],
    ["SHUTOFF", undefined, "Unknown InstanceNotReady Server ID is SHUTOFF", []],
  ])("is that the server is %s (%s), and is read again in a minute", (status, fault, expected, reasons) => {
    const result = states(status, fault);
    const text = expected.replace("ID", id);
    expect(conditions(result)).toEqual(both(text));
    const message = text.slice(text.indexOf("Server "));
    expect(result.wait).toEqual({ for: message, until: now + minute });
    expect(result.events).toEqual(reasons.map((reason) => ({ type: "Warning", reason, message })));
    expect(result.status.instanceState).toBe(status);
  });

  it("is that the server is being built, without a time to read it again", () => {
    const result = states("BUILD");
    const wait = `server demo-workers-abcde (${id}) to be ACTIVE; it is BUILD`;
    expect(result.wait).toEqual({ for: wait });
    expect(result.events).toEqual([]);
    expect(conditions(result)).toEqual(both(`False InstanceNotReady Waiting for ${wait}`));
  });

  it("is that the server is gone, in both conditions and an event", () => {
    w.cloud.servers = [];
    const message = `Server ${id} is gone, and a machine's server is not replaced; delete the Machine to get a new one`;
    const result = plan(w);
    expect(result).toMatchObject({ steps: [], wait: { for: message, until: now + minute } });
    expect(result.status.instanceState).toBe("DELETED");
    expect(result.events).toEqual([{ type: "Warning", reason: "InstanceDeleted", message }]);
    expect(conditions(result)).toEqual(both(`False InstanceDeleted ${message}`));
  });

  it("is the server's ID in the spec, once it is ACTIVE", () => {
    const { providerID: _, ...spec } = w.object.spec;
    w.object = { ...w.object, spec };
    expect(states("BUILD").steps).toEqual([]);
    expect(states("ACTIVE").steps).toEqual([
      { type: "record-provider-id", reason: "InstanceNotReady", providerId: `openstack:///${id}` },
    ]);
  });

  it("is its ports by name, with one that was made for it and that Nova has not attached yet", () => {
    const own = w.cloud.ports[0];
    const attached = (name: string, more: object = {}) => ({
      ...port(w.cloud, { name, device_id: id }),
      id: name,
      ...more,
    });
    w.cloud.ports = [
      attached("z"),
      { ...own, id: "own", device_id: "" } as NonNullable<typeof own>,
      attached("a"),
      attached("free", { device_id: "" }),
      attached("demo-workers-abcde-0", { id: "taken", device_id: "other", description: own?.description }),
    ];
    expect(plan(w).status.resources?.ports).toEqual([{ id: "a" }, { id: "own" }, { id: "z" }]);
  });

  it("is no list of ports where the server has none", () => {
    w.cloud.ports = [];
    const { resources: _, ...status } = w.object.status ?? {};
    w.object = { ...w.object, status };
    expect(plan(w).status).not.toHaveProperty("resources");
  });

  it("keeps what names meant when the server was built", () => {
    const resolved = { flavorID: "7", imageID: "img-7" };
    w.object = { ...w.object, status: { ...w.object.status, resolved } };
    expect(states("BUILD").status.resolved).toEqual(resolved);
  });

  const named: [string, Partial<OpenStackMachine["spec"]>, object | undefined][] = [
    ["names", {}, { flavorID: "2", imageID: "img-1" }],
    ["IDs", { flavor: { id: "1" }, image: { id: "img-2" } }, { flavorID: "1", imageID: "img-2" }],
    ["an unknown flavor", { flavor: { id: "none" } }, undefined],
    ["an unknown image", { image: { filter: { name: "none" } } }, undefined],
  ];
  it.each(named)(
    "is what %s mean now, where nothing was recorded and other parts of the spec are wrong",
    (_, spec, expected) => {
      const { resolved: _old, ...status } = w.object.status ?? {};
      const wrong = { ...w.object.spec, ...spec, serverGroup: { filter: { name: "none" } } };
      w.object = { ...w.object, spec: wrong, status };
      expect(states("BUILD").status.resolved).toEqual(expected);
    },
  );

  it("says that an unmarked server that is recorded remains, as a warning that names the annotation", () => {
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, name: "pet", metadata: {} }));
    w.cloud.ports = [];
    w.object = { ...w.object, metadata: { ...w.object.metadata, finalizers: ["other"] } };
    const { events = [], steps } = plan(w);
    const message = `Server ${id} is recorded for this machine, which did not create it: the server remains when the machine is deleted. Set the annotation causeway.dev/adopt-resources to "true" to have it deleted with the machine`;
    expect(steps.map((s) => s.type)).not.toContain("add-finalizer");
    expect(events.filter((e) => e.reason === "ServerNotOwned")).toEqual([
      { type: "Warning", reason: "ServerNotOwned", message },
    ]);
    w.object = {
      ...w.object,
      metadata: { ...w.object.metadata, finalizers: ["openstackmachine.infrastructure.cluster.x-k8s.io"] },
    };
    expect(plan(w).events?.filter((e) => e.reason === "ServerNotOwned")).toEqual([]);
  });

  it("is found by namespace and cluster in its mark, also where the object names neither", () => {
    const object = openStackMachine({}, { finalizers: [], namespace: undefined });
    const observed: Observed = {
      object,
      clusterName: undefined,
      infrastructure: undefined,
      owner: undefined,
      paused: false,
      identity: { ok: true, cloud: w.cloud.forMachine() },
    };
    const of = (mark: string) => {
      const one = server("mine", { name: object.metadata.name, metadata: { [serverOwnerKey]: mark } });
      const cloud = { ...w.cloud.forMachine(), servers: [one], images };
      const arrived = { ...object, spec: { ...object.spec, providerID: "openstack:///mine" } };
      return planMachine({ ...observed, object: arrived, identity: { ok: true, cloud } }, now).steps.map((s) => s.type);
    };
    expect(of("/")).toEqual(["add-finalizer"]);
    expect(of("default/demo")).toEqual([]);
  });

  it("changes what runs last: the finalizer and the ID in the spec come first", () => {
    const { providerID: _, ...spec } = w.object.spec;
    const ports = [{ allowedAddressPairs: [{ ipAddress: "10.244.0.0/16" }] }];
    w.object = { ...w.object, spec: { ...spec, ports }, metadata: { ...w.object.metadata, finalizers: [] } };
    const { steps } = plan(w);
    expect(steps.map((s) => s.type)).toEqual(["add-finalizer", "record-provider-id", "update-port"]);
    for (const step of steps) apply(w, step);
    expect(plan(w).steps).toEqual([]);
  });
});
