import type { OpenStackMachine } from "@causeway/api";
import { beforeEach, describe, expect, it } from "vitest";
import { apply, deleting, plan, ready, settle, world, type World } from "../testing/machine-world.ts";
import { now } from "../testing/objects.ts";
import { tagsAfter } from "../resources/ownership.ts";

type Spec = Partial<OpenStackMachine["spec"]>;

const group = (id: string, name = id) => ({
  id,
  name,
  description: "",
  project_id: "project-1",
  security_group_rules: [],
  tags: [],
});

/** A running worker of a cluster with managed groups. */
function running(spec: Spec = {}): World {
  const w = world(spec);
  w.cloud.securityGroups.push(group("sg-default", "default"), group("sg-web", "web"), group("sg-ssh", "ssh"));
  extensions(w, "trunk");
  settle(w);
  return w;
}

/** A cloud that has these extensions of Neutron. */
function extensions(w: World, ...aliases: string[]): void {
  const { cloud } = w;
  Object.defineProperty(w.extra, "identity", {
    get: () => ({ ok: true, cloud: { ...cloud.forMachine(), extensions: new Set(aliases) } }),
    enumerable: true,
    configurable: true,
  });
}

const left = (w: World): string[] => w.cloud.inventory.filter((line) => !line.startsWith("securityGroups"));

function change(w: World, spec: Spec): void {
  w.object = { ...w.object, spec: { ...w.object.spec, ...spec } };
}

describe("a running server", () => {
  let w: World;
  beforeEach(() => {
    w = running({ tags: ["blue"], serverMetadata: [{ key: "role", value: "node" }] });
  });

  const rows: [string, Spec, (w: World) => unknown, unknown][] = [
    [
      "gets a security group",
      { securityGroups: [{ id: "sg-web" }] },
      (on) => on.cloud.ports[0]?.security_groups,
      ["sg-worker", "sg-web"],
    ],
    [
      "gets another group in place of the role's",
      { ports: [{ securityGroups: [{ filter: { name: "ssh" } }] }] },
      (on) => on.cloud.ports[0]?.security_groups,
      ["sg-ssh"],
    ],
    ["gets a tag", { tags: ["blue", "new"] }, (on) => on.cloud.servers[0]?.tags, ["blue", "team-a", "new"]],
    [
      "loses a tag",
      { tags: [] },
      (on) => [on.cloud.servers[0]?.tags, on.cloud.ports[0]?.tags],
      [["team-a"], ["team-a"]],
    ],
    [
      "gets metadata and loses others",
      { serverMetadata: [{ key: "zone", value: "a" }] },
      (on) => on.cloud.servers[0]?.metadata,
      { zone: "a", "causeway.dev.cluster": "default/demo" },
    ],
  ];
  it.each(rows)("gets %s in place, and once", (_name, spec, read, expected) => {
    change(w, spec);
    expect(plan(w).steps.length).toBeGreaterThan(0);
    settle(w);
    expect(read(w)).toEqual(expected);
    expect(plan(w).steps).toEqual([]);
    expect(w.cloud.servers).toHaveLength(1);
  });

  it("keeps groups, tags and metadata of others", () => {
    w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, security_groups: [...p.security_groups, "sg-foreign"] }));
    w.cloud.servers = w.cloud.servers.map((s) => ({
      ...s,
      tags: ["theirs"],
      metadata: { ...s.metadata, theirs: "1" },
    }));
    change(w, { tags: [], serverMetadata: [], securityGroups: [{ id: "sg-web" }] });
    settle(w);
    expect(w.cloud.ports[0]?.security_groups).toEqual(["sg-worker", "sg-foreign", "sg-web"]);
    expect(w.cloud.servers[0]?.tags).toEqual(["theirs", "team-a"]);
    expect(w.cloud.servers[0]?.metadata).toEqual({ "causeway.dev.cluster": "default/demo", theirs: "1" });
  });

  it("puts back a group that was removed", () => {
    w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, security_groups: [] }));
    expect(plan(w).steps).toMatchObject([{ type: "update-port", groups: ["sg-worker"] }]);
  });

  it("gets the project's default group when the spec names none any more", () => {
    const other = running({ ports: [{ securityGroups: [{ id: "sg-web" }] }] });
    delete other.infrastructure.spec.managedSecurityGroups;
    change(other, { ports: [{}] });
    settle(other);
    expect(other.cloud.ports[0]?.security_groups).toEqual(["sg-default"]);
    expect(plan(other).steps).toEqual([]);
  });

  const quiet: [string, (on: World) => void][] = [
    [
      "while the server is off",
      (on) => (on.cloud.servers = on.cloud.servers.map((s) => ({ ...s, status: "SHUTOFF" }))),
    ],
    ["while the cluster's groups are not known", (on) => delete on.infrastructure.status?.workerSecurityGroup],
    ["while a group does not exist", (on) => change(on, { securityGroups: [{ id: "sg-none" }] })],
    ["without its OpenStackCluster", (on) => Object.assign(on.extra, { infrastructure: undefined })],
  ];
  it.each(quiet)("is left as it is %s", (_name, prepare) => {
    change(w, { securityGroups: [{ id: "sg-web" }], tags: [] });
    prepare(w);
    expect(plan(w).steps).toEqual([]);
  });

  it("has no tags changed by a Nova that lists none", () => {
    w.cloud.servers = w.cloud.servers.map(({ tags: _tags, ...s }) => s);
    change(w, { tags: ["new"] });
    expect(plan(w).steps.map((s) => s.type)).toEqual(["set-port-tags"]);
  });

  it("remains ready while a change is refused, which has a condition of its own", () => {
    change(w, { tags: ["new"] });
    const hold = { type: "UpdatesApplied", reason: "ServerUpdateFailed", message: "no", until: now + 60_000 };
    const lastTransitionTime = "2026-11-20T00:00:00Z";
    const condition = { type: "UpdatesApplied", status: "False" as const, reason: "x", lastTransitionTime };
    w.object = {
      ...w.object,
      status: { ...w.object.status, conditions: [...(w.object.status?.conditions ?? []), condition] },
    };
    Object.assign(w.extra, { hold });
    expect(plan(w).steps).toEqual([]);
    expect(ready(plan(w).status)).toBe("True InstanceReady");
    expect(plan(w).status.conditions?.find((c) => c.type === "UpdatesApplied")?.status).toBe("False");
    Object.assign(w.extra, { hold: undefined });
    expect(settle(w).status.conditions?.find((c) => c.type === "UpdatesApplied")?.status).toBe("True");
    expect(w.cloud.servers[0]?.tags).toEqual(["team-a", "new"]);
  });

  it("gets a detached port back, but not one that Nova lists", () => {
    w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, device_id: "" }));
    expect(plan(w).steps).toEqual([]);
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, addresses: {} }));
    expect(plan(w).steps).toMatchObject([{ type: "attach-port", portId: w.cloud.ports[0]?.id }]);
    settle(w);
    expect(w.cloud.ports[0]?.device_id).toBe(w.cloud.servers[0]?.id);
  });

  it("gets a detached port back whose address Nova lists for a port of another network", () => {
    const address = w.cloud.ports[0]?.fixed_ips[0]?.ip_address ?? "";
    w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, device_id: "" }));
    const listed = (mac: string) => ({
      other: [{ addr: address, version: 4 as const, "OS-EXT-IPS-MAC:mac_addr": mac }],
    });
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, addresses: listed("fa:16:3e:00:00:99") }));
    expect(plan(w).steps).toMatchObject([{ type: "attach-port", portId: w.cloud.ports[0]?.id }]);
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, addresses: listed(w.cloud.ports[0]?.mac_address ?? "") }));
    expect(plan(w).steps).toEqual([]);
  });
});

describe("a second port of one name, whose creation the cloud finished late,", () => {
  it("is deleted once the server has the other one, and never attached", () => {
    const w = running();
    const [own] = w.cloud.ports;
    if (!own) throw new Error("the server has no port");
    const late = { ...own, id: "port-late", device_id: "", fixed_ips: [{ subnet_id: "s", ip_address: "10.6.0.77" }] };
    w.cloud.ports = [...w.cloud.ports, { ...late, mac_address: "fa:16:3e:00:00:77" }];
    expect(plan(w).steps).toMatchObject([{ type: "delete-port", id: "port-late" }]);
    settle(w);
    expect(w.cloud.ports.map(({ id }) => id)).toEqual([own.id]);
    expect(w.object.status?.resources?.ports).toEqual([{ id: own.id }]);
  });

  it("is left alone while it is another owner's, by its description", () => {
    const w = running();
    const [own] = w.cloud.ports;
    if (!own) throw new Error("the server has no port");
    const fixed_ips = [{ subnet_id: "s", ip_address: "10.6.0.77" }];
    w.cloud.ports = [...w.cloud.ports, { ...own, id: "port-other", device_id: "", description: "mine", fixed_ips }];
    expect(plan(w).steps).toEqual([]);
  });
});

describe("subports of a trunk", () => {
  const subports = [
    { segmentationID: 7, network: { id: "net-public" } },
    { segmentationID: 8, nameSuffix: "storage" },
  ];
  const names = (w: World) => w.cloud.ports.map((p) => p.name).sort();
  const onTrunk = (w: World) =>
    w.cloud.ports
      .flatMap((p) => p.trunk_details?.sub_ports ?? [])
      .map((s) => s.segmentation_id)
      .sort((a, b) => a - b);

  it("are made before the server and given to the trunk, not to the server", () => {
    const w = running({ ports: [{ trunk: true, subports }] });
    expect(names(w)).toEqual(["demo-workers-abcde-0", "demo-workers-abcde-0-7", "demo-workers-abcde-0-storage"]);
    expect(onTrunk(w)).toEqual([7, 8]);
    const attached = w.cloud.ports.filter((p) => p.device_id !== "").map((p) => p.name);
    expect(attached).toEqual(["demo-workers-abcde-0"]);
    expect(w.object.status?.resources?.ports).toHaveLength(1);
    deleting(w);
    settle(w);
    expect(left(w)).toEqual([]);
  });

  const changes: [string, Spec["ports"], string[], number[]][] = [
    [
      "a subport is added",
      [{ trunk: true, subports: [...subports, { segmentationID: 9 }] }],
      ["-0", "-0-7", "-0-9", "-0-storage"],
      [7, 8, 9],
    ],
    ["a subport is dropped", [{ trunk: true, subports: subports.slice(1) }], ["-0", "-0-storage"], [8]],
    [
      "a subport gets another VLAN",
      [{ trunk: true, subports: [{ segmentationID: 9, nameSuffix: "storage" }] }],
      ["-0", "-0-storage"],
      [9],
    ],
    ["all are dropped", [{ trunk: true }], ["-0"], []],
  ];
  it.each(changes)("follow the spec when %s", (_name, ports, ends, ids) => {
    const w = running({ ports: [{ trunk: true, subports }] });
    change(w, { ports: ports ?? [] });
    settle(w);
    expect(names(w)).toEqual(ends.map((end) => `demo-workers-abcde${end}`));
    expect(onTrunk(w)).toEqual(ids);
    expect(plan(w).steps).toEqual([]);
    deleting(w);
    settle(w);
    expect(left(w)).toEqual([]);
  });

  it("that were dropped a moment before the deletion are deleted, too", () => {
    const w = running({ ports: [{ trunk: true, subports }] });
    change(w, { ports: [{ trunk: true }] });
    for (const step of plan(w).steps.slice(0, 1)) apply(w, step);
    deleting(w);
    settle(w);
    expect(left(w)).toEqual([]);
  });

  it("need a trunk", () => {
    const w = world({ ports: [{ subports }] });
    expect(plan(w).steps).toEqual([]);
    expect(plan(w).events?.[0]?.message).toMatch(/spec\.ports\[0\]\.subports need trunk: true/);
  });
});

describe("the trunk of a running server", () => {
  const ends = (w: World) => w.cloud.ports.map((p) => p.name.replace("demo-workers-abcde", "")).sort();
  const vlans = (w: World) =>
    w.cloud.ports.flatMap((p) => p.trunk_details?.sub_ports ?? []).map((s) => s.segmentation_id);
  const hasTrunk = (w: World) => w.cloud.ports.some((p) => p.trunk_details !== undefined);
  const updates = (w: World) => plan(w).status.conditions?.find((c) => c.type === "UpdatesApplied");
  const recordedTrunk = (w: World) => w.object.status?.resolved?.ports?.[0]?.trunk;

  it.each<[string, Spec]>([
    ["of one port", { ports: [{ trunk: true, subports: [{ segmentationID: 7 }] }] }],
    ["of all ports, and one has a subport", { trunk: true, ports: [{ subports: [{ segmentationID: 7 }] }] }],
  ])("is created when the spec wants one later %s, and gets its subports", (_what, spec) => {
    const w = running({ ports: [{}], tags: ["blue"] });
    expect(hasTrunk(w)).toBe(false);
    change(w, spec);
    const [first] = plan(w).steps;
    expect(first).toMatchObject({ type: "create-trunk", isUpdate: true, tags: ["blue", "team-a"] });
    settle(w);
    expect(ends(w)).toEqual(["-0", "-0-7"]);
    expect(vlans(w)).toEqual([7]);
    expect(recordedTrunk(w)).toBe(true);
    expect(plan(w).steps).toEqual([]);
    deleting(w);
    settle(w);
    expect(left(w)).toEqual([]);
  });

  it("is deleted with its subports when the spec has none any more, and only then", () => {
    const w = running({ ports: [{ trunk: true, subports: [{ segmentationID: 7 }] }] });
    change(w, { ports: [{}] });
    settle(w);
    expect(ends(w)).toEqual(["-0"]);
    expect(hasTrunk(w)).toBe(false);
    expect(recordedTrunk(w)).toBeUndefined();
    const another = running({ ports: [{}] });
    another.cloud.ports = another.cloud.ports.map((p) => ({
      ...p,
      trunk_details: { trunk_id: "users", sub_ports: [] },
    }));
    expect(plan(another).steps).toEqual([]);
  });

  it("remains while it has a subport that is not the machine's, and the condition names it", () => {
    const w = running({ ports: [{ trunk: true }] });
    const add = (sub_ports: { port_id: string; segmentation_id: number }[]) =>
      (w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, trunk_details: { trunk_id: "trunk", sub_ports } })));
    add([{ port_id: "foreign", segmentation_id: 3 }]);
    change(w, { ports: [{}] });
    expect(settle(w).steps).toEqual([]);
    expect(updates(w)).toMatchObject({ status: "False", reason: "TrunkUpdateFailed" });
    expect(updates(w)?.message).toMatch(/subport foreign is not this machine's/);
    add([]);
    settle(w);
    expect(hasTrunk(w)).toBe(false);
    expect(updates(w)?.status).toBe("True");
  });

  it("that cannot be created keeps nothing else from being removed with the spec", () => {
    const w = running({ ports: [{}] });
    extensions(w);
    change(w, { ports: [{ trunk: true }], securityGroups: [{ id: "sg-web" }], tags: ["new"] });
    settle(w);
    expect(w.cloud.ports[0]?.security_groups).toContain("sg-web");
    expect(w.cloud.servers[0]?.tags).toContain("new");
    change(w, { securityGroups: [], tags: [] });
    settle(w);
    expect(w.cloud.ports[0]?.security_groups).not.toContain("sg-web");
    expect(w.cloud.servers[0]?.tags).not.toContain("new");
    expect(w.object.status?.resolved?.ports?.[0]?.trunk).toBeUndefined();
    // Once trunks are there, it is created.
    extensions(w, "trunk");
    settle(w);
    expect(w.cloud.ports[0]?.trunk_details).toBeDefined();
    expect(w.object.status?.resolved?.ports?.[0]?.trunk).toBe(true);
  });

  it("is reported, and nothing is called, in a cloud without trunks", () => {
    const w = running({ ports: [{}] });
    extensions(w);
    change(w, { ports: [{ trunk: true }] });
    expect(settle(w).steps).toEqual([]);
    expect(updates(w)).toMatchObject({ status: "False", reason: "TrunkUpdateFailed" });
    expect(ready(w.object.status)).toBe("True InstanceReady");
    expect(recordedTrunk(w)).toBeUndefined();
  });

  it("that the network driver refuses holds back trunks alone, and is tried again at the end of the pause", () => {
    const w = running({ ports: [{}] });
    change(w, { ports: [{ trunk: true }], tags: ["new"] });
    const until = now + 600_000;
    Object.assign(w.extra, { hold: { type: "UpdatesApplied", reason: "TrunkUpdateFailed", message: "no", until } });
    expect(plan(w).steps.map((s) => s.type)).toEqual(["set-port-tags", "set-server-tags"]);
    expect(plan(w).wait).toEqual({ for: "no", until });
    expect(ready(plan(w).status)).toBe("True InstanceReady");
    Object.assign(w.extra, { hold: undefined });
    settle(w);
    expect(hasTrunk(w)).toBe(true);
  });
});

it.each<[string[], string[], string[], string[] | undefined]>([
  [["a"], ["a"], [], undefined],
  [["a"], ["b"], [], ["a", "b"]],
  [["a", "x"], ["b"], ["a"], ["x", "b"]],
  [["a", "x"], [], ["a"], ["x"]],
  [["x"], [], ["a"], undefined],
  [[], [], [], undefined],
])("of %j, with %j wanted after %j, %j is set", (present, wanted, before, expected) => {
  expect(tagsAfter(present, { wanted, before })).toEqual(expected);
});
