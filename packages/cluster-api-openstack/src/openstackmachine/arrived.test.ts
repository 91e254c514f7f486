import { describe, expect, it } from "vitest";
import { server } from "../dry-run/resources.ts";
import { apply, deleting, plan, settle, world, type World } from "../testing/machine-world.ts";

/** Nova has written the server into its ports. */
function attach(w: World): void {
  w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, device_id: w.cloud.servers[0]?.id ?? "" }));
}

describe("an object that arrives with spec.providerID and without a finalizer", () => {
  /** A machine whose server runs, as a backup without finalizers brings it back. */
  function restored(change: (w: World) => void = () => undefined): World {
    const w = world();
    settle(w);
    const { status: _lost, ...object } = w.object;
    w.object = { ...object, metadata: { ...object.metadata, finalizers: [] } };
    change(w);
    return w;
  }
  const unmarked = (w: World) => {
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, metadata: {} }));
  };
  /** The server of a user, whose ID was written into the machine. */
  const foreign = (w: World) => {
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, name: "pet", metadata: {} }));
    w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, name: "pet", description: "", tags: ["team-a"] }));
  };
  const annotated = (w: World) => {
    foreign(w);
    const annotations = { "causeway.dev/adopt-resources": "true" };
    w.object = { ...w.object, metadata: { ...w.object.metadata, annotations } };
  };
  const marks = (w: World) => (w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, device_id: "srv-of-another" })));

  it.each<[string, (w: World) => void]>([
    ["our metadata", () => undefined],
    ["upstream's port", (w) => (unmarked(w), attach(w))],
    ["the user's annotation", annotated],
  ])("gets the finalizer with proof by %s, creates nothing, and takes its server along", (_name, change) => {
    const w = restored(change);
    const before = w.cloud.inventory;
    expect(plan(w).steps).toEqual([{ type: "add-finalizer", reason: "InstanceNotReady" }]);
    settle(w);
    expect(w.cloud.inventory).toEqual(before);
    deleting(w);
    settle(w);
    expect(w.cloud.servers).toEqual([]);
    expect(w.object.metadata.finalizers).toEqual([]);
  });

  it.each<[string, (w: World) => void]>([
    ["of a user", foreign],
    ["of its name without any mark", (w) => (unmarked(w), marks(w))],
  ])("gets no finalizer for a server %s, and an event says that the server remains", (_name, change) => {
    const w = restored(change);
    expect(plan(w).steps).toEqual([]);
    expect(plan(w).events?.map((e) => e.reason)).toContain("ServerNotOwned");
    deleting(w);
    expect(plan(w).steps).toEqual([]);
    expect(w.cloud.servers).toHaveLength(1);
  });

  it("says nothing about the owner of a server before its Machine is there, as in the middle of a move", () => {
    const w = restored(foreign);
    w.extra = { owner: undefined };
    expect(plan(w)).toMatchObject({ steps: [], events: [] });
  });

  it("keeps a user's server whose ID was recorded later, and says so", () => {
    const w = world();
    settle(w);
    const pet = server("pet-1", { name: "pet" });
    w.cloud.servers = [...w.cloud.servers, pet];
    w.object = { ...w.object, spec: { ...w.object.spec, providerID: "openstack:///pet-1" } };
    deleting(w);
    const events: unknown[] = [];
    for (let round = 0; round < 9; round++) {
      const { steps, events: said = [] } = plan(w);
      events.push(...said.map((e) => e.reason));
      for (const step of steps) apply(w, step);
    }
    expect(w.cloud.inventory).toEqual(["servers pet"]);
    expect(events).toEqual(["ServerKept"]);
  });
});
