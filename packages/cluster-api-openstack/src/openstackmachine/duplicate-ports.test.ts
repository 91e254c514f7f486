import type { OpenStackClusterSpec, OpenStackMachine } from "@causeway/api";
import type { Port } from "@causeway/openstack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apply, deleting, plan, ready, settle, world, type World } from "../testing/machine-world.ts";
import type { MachinePlan } from "./plan.ts";
import { machineFinalizer } from "../resources/naming.ts";

const trunks: Partial<OpenStackMachine["spec"]> = {
  ports: [{ trunk: true, subports: [{ segmentationID: 100 }] }],
};

/** A machine whose first creations of ports the cloud finished after they had been repeated; it has no server yet. */
function twice(spec: Partial<OpenStackMachine["spec"]> = {}): World {
  const w = world(spec);
  withTrunks(w);
  for (const step of plan(w).steps) {
    apply(w, step);
    if (step.type === "create-port") apply(w, step);
  }
  w.cloud.ports = w.cloud.ports.map((port, i) => ({
    ...port,
    created_at: `2026-11-30T00:00:0${9 - i}Z`,
    tags: ["team-a"],
  }));
  return w;
}

function withTrunks(w: World): void {
  const { cloud } = w;
  Object.defineProperty(w.extra, "identity", {
    get: () => ({ ok: true, cloud: { ...cloud.forMachine(), extensions: new Set(["trunk"]) } }),
    enumerable: true,
  });
}

/** A server that has been recorded as running gets what was changed since: that is another plan. */
function rest(w: World): MachinePlan {
  settle(w);
  return settle(w);
}

function change(w: World, index: number, port: Partial<Port>): void {
  w.cloud.ports = w.cloud.ports.map((one, i) => (i === index ? { ...one, ...port } : one));
}

const cluster = (w: World, spec: Partial<OpenStackClusterSpec>): void => {
  w.infrastructure = { ...w.infrastructure, spec: { ...w.infrastructure.spec, ...spec } };
};

describe("of two ports of one name before there is a server", () => {
  // The second of the model's ports has the smaller time.
  const choices: readonly [title: string, make: (w: World) => void, chosen: number][] = [
    ["the older", () => {}, 1],
    ["the one with a trunk", (w) => change(w, 0, { trunk_details: { trunk_id: "t", sub_ports: [] } }), 0],
    [
      "the one with the smaller ID where Neutron says no time",
      (w) => {
        change(w, 0, { created_at: undefined as never });
        change(w, 1, { created_at: undefined as never });
      },
      0,
    ],
  ];
  it.each(choices)("the server gets %s, and the other is deleted once it runs", (_title, make, chosen) => {
    const w = twice();
    make(w);
    const [id, other] = [w.cloud.ports[chosen]?.id, w.cloud.ports[1 - chosen]?.id];
    const { steps, events } = plan(w);
    expect(steps).toMatchObject([{ type: "create-server", body: { networks: [{ port: id }] } }]);
    expect(events).toMatchObject([{ type: "Warning", reason: "DuplicatePort" }]);
    expect(events?.[0]?.message).toMatch(new RegExp(`the server gets ${id}, .* ${other} will be deleted`));
    const { status } = rest(w);
    expect(ready(status)).toBe("True InstanceReady");
    expect(w.cloud.ports.map((port) => port.id)).toEqual([id]);
  });

  it("one that a server has is waited for", () => {
    const w = twice();
    change(w, 0, { device_id: "srv-unlisted" });
    const { steps, wait } = plan(w);
    expect(steps).toEqual([]);
    expect(wait?.for).toContain("server srv-unlisted");
  });

  const unproven: readonly [title: string, make: (w: World) => void][] = [
    [
      "on a network that the cluster did not create",
      (w) => cluster(w, { managedSubnets: [], network: { id: "net-1" } }),
    ],
    [
      "on another network than the cluster's",
      (w) => {
        const network = { id: "net-other", name: "demo" };
        w.infrastructure = { ...w.infrastructure, status: { ...w.infrastructure.status, network } };
        w.object = { ...w.object, spec: { ...w.object.spec, ports: [{ network: { id: "net-1" } }] } };
      },
    ],
    ["that two servers have", (w) => [0, 1].forEach((i) => change(w, i, { device_id: `srv-${i}` }))],
    [
      "of a machine that has no finalizer yet and adopts what has its names",
      (w) => {
        const annotations = { "causeway.dev/adopt-resources": "true" };
        w.object = { ...w.object, metadata: { ...w.object.metadata, finalizers: [], annotations } };
      },
    ],
  ];
  it.each(unproven)("none is chosen %s", (_title, make) => {
    const w = twice();
    w.cloud.networks.push({ ...w.cloud.networks[0]!, id: "net-1", name: "mine" });
    make(w);
    const { steps, status } = plan(w);
    expect(steps).toEqual([]);
    expect(ready(status)).toBe("False DuplicatePort");
    expect(w.cloud.ports).toHaveLength(2);
  });
});

describe("two ports of one name", () => {
  it("are left as they are while the list of ports is older than the server that has one of them", () => {
    const w = twice();
    const before = w.cloud.ports;
    rest(w);
    w.cloud.ports = before;
    const types = plan(w).steps.map((step) => (step.type === "delete-port" ? `${step.type} ${step.id}` : step.type));
    expect(types).toEqual([`delete-port ${before[0]?.id}`]);
  });

  it("in place of one that a running server lost are not both attached, and one remains", () => {
    const w = world();
    rest(w);
    w.cloud.ports = [];
    w.cloud.servers = w.cloud.servers.map((server) => ({ ...server, addresses: {} }));
    const [creation] = plan(w).steps;
    if (creation?.type !== "create-port") throw new Error("the lost port is not created again");
    for (const last of [8, 7]) {
      apply(w, creation);
      const at = w.cloud.ports.length - 1;
      const mac_address = `fa:16:3e:00:00:0${last}`;
      const fixed_ips = [{ subnet_id: "sub-1", ip_address: `10.6.0.${last}` }];
      change(w, at, { created_at: `2026-11-30T00:00:0${last}Z`, fixed_ips, mac_address });
    }
    const older = w.cloud.ports[1]?.id;
    const attached = plan(w).steps.flatMap((step) => (step.type === "attach-port" ? step.portId : []));
    expect(attached).toEqual([older]);
    rest(w);
    expect(w.cloud.ports).toMatchObject([{ id: older, device_id: w.cloud.servers[0]?.id }]);
    expect(w.object.status?.resources?.ports).toEqual([{ id: older }]);
  });

  it("are left as they are while another server of the machine, which is reported, may get one of them", () => {
    const w = world();
    rest(w);
    const [[server], [port]] = [w.cloud.servers, w.cloud.ports];
    if (!server || !port) throw new Error("the machine has no server");
    const fixed_ips = [{ subnet_id: "sub-1", ip_address: "10.6.0.99" }];
    const other = { ...port, id: "port-b", device_id: "", mac_address: "fa:16:3e:00:00:99", fixed_ips };
    w.cloud.servers = [server, { ...server, id: "srv-b", status: "BUILD", addresses: {} }];
    w.cloud.ports = [port, other];
    const { steps, events, status } = plan(w);
    expect(steps).toEqual([]);
    expect(events).toMatchObject([{ type: "Warning", reason: "DuplicateServer" }]);
    expect(events?.[0]?.message).toContain(`server is ${server.id}; srv-b has`);
    expect(ready(status)).toBe("True InstanceReady");
    deleting(w);
    rest(w);
    expect([...w.cloud.ports, ...w.cloud.servers]).toEqual([]);
  });

  it("both with a trunk, end with one: Neutron deletes no port that has a trunk", () => {
    const w = twice({ ports: [{ trunk: true }] });
    [0, 1].forEach((i) => change(w, i, { trunk_details: { trunk_id: `trunk-${i}`, sub_ports: [] } }));
    settle(w);
    const { steps } = plan(w);
    expect(steps.map(({ type }) => type)).toEqual(["delete-trunk", "delete-port"]);
    expect(steps).toMatchObject([{ id: "trunk-0", portId: w.cloud.ports[0]?.id }, { id: w.cloud.ports[0]?.id }]);
  });

  it("of a new subport on another network are named in a condition of the running server", () => {
    const w = world({ ports: [{ trunk: true }] });
    withTrunks(w);
    rest(w);
    const subports = [{ segmentationID: 7, network: { id: "net-public" } }];
    w.object = { ...w.object, spec: { ...w.object.spec, ports: [{ trunk: true, subports }] } };
    for (const step of plan(w).steps) [0, 1].forEach(() => apply(w, step));
    const { steps, status } = plan(w);
    expect(steps).toEqual([]);
    expect(ready(status)).toBe("True InstanceReady");
    const condition = status.conditions?.find(({ type }) => type === "UpdatesApplied");
    expect(condition).toMatchObject({ status: "False", reason: "TrunkUpdateFailed" });
    expect(condition?.message).toMatch(/^Several ports are named demo-workers-abcde-0-7: .+, .+\. Delete all but one$/);
    w.cloud.ports = w.cloud.ports.slice(0, -1);
    rest(w);
    expect(w.cloud.ports.find((port) => port.trunk_details)?.trunk_details?.sub_ports).toHaveLength(1);
  });

  it("of a trunk's subport end with one, on the trunk", () => {
    const w = twice(trunks);
    rest(w);
    const [parent, ...others] = w.cloud.ports.toSorted((a, b) => a.name.length - b.name.length);
    expect(others).toHaveLength(1);
    expect(parent?.trunk_details?.sub_ports).toMatchObject([{ port_id: others[0]?.id, segmentation_id: 100 }]);
  });
});

/** What becomes of one step: performed, performed without a response, performed later without one, or never. */
type Fate = "done" | "lost" | "late" | "never";

/** Plays a machine whose steps have these fates, one after the other, and performs the rest; what is there then. */
function play(fates: readonly Fate[], spec: Partial<OpenStackMachine["spec"]>, pause: number): World {
  const w = world(spec);
  withTrunks(w);
  const late: { at: number; run: () => void }[] = [];
  let next = 0;
  for (let round = 0; round < fates.length + pause; round++) {
    for (const each of late.splice(0)) {
      if (each.at <= round) each.run();
      else late.push(each);
    }
    const { steps, status } = plan(w);
    if (steps.length === 0) w.object = { ...w.object, status };
    for (const step of steps) {
      const fate = fates[next++] ?? "done";
      // Nova answers at once; what may be late is what Neutron makes.
      const isLate = fate === "late" && step.type === "create-port";
      if (isLate) late.push({ at: round + pause, run: () => apply(w, step) });
      else if (fate !== "never") apply(w, step);
      if (fate !== "done") break;
    }
  }
  for (const { run } of late) run();
  rest(w);
  return w;
}

describe("creations of ports that are late, lost or cut short", () => {
  it("end with one server that has one port of each name, and nothing after its deletion", () => {
    const fate = fc.constantFrom<Fate>("done", "done", "lost", "late", "late", "never");
    const inputs = [fc.array(fate, { maxLength: 12 }), fc.boolean(), fc.integer({ min: 1, max: 4 })] as const;
    fc.assert(
      fc.property(...inputs, (fates, trunk, pause) => {
        const spec = trunk ? trunks : { ports: [{}, { nameSuffix: "b" }] };
        const w = play(fates, spec, pause);
        expect(w.object.metadata.finalizers).toEqual([machineFinalizer]);
        expect(w.cloud.servers.map(({ name }) => name)).toEqual([w.object.metadata.name]);
        const names = w.cloud.ports.map(({ name }) => name);
        expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
        expect(names).toHaveLength(2);
        deleting(w);
        rest(w);
        expect([...w.cloud.ports, ...w.cloud.servers]).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
