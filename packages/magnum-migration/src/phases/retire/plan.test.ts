import { describe, expect, test } from "vitest";
import type { Resource } from "../../inventory/model.ts";
import { inventory, record, retired } from "../../testing/planned.ts";
import { driverReads, keptOf, leftoversOf, planRetire, type RetireFacts } from "./plan.ts";

const row = { trusteeId: "t", trustId: "x" } as Exclude<RetireFacts["magnum"]["row"], "unknown" | undefined>;
const of = (name: string, type: string, parent = ""): Resource => ({ name, type, id: `id-${name}`, parent });
const server = of("kube-master", "OS::Nova::Server");
const port = of("kube_master_eth0", "OS::Neutron::Port");
const planned = (changes: Partial<RetireFacts> = {}) => planRetire({ ...retired, ...changes }, record);

describe("the phase retire", () => {
  test.each<[string, Partial<RetireFacts>, object]>([
    [
      "is refused before the hosted member votes",
      { hasHostedMember: false },
      {
        refused: {
          code: "MIGRATE_NO_MEMBER",
          message: "etcd has no member of the hosted control plane",
          hint: "Run switch again.",
        },
      },
    ],
    [
      "is refused while Heat's machines serve",
      { oldMachines: ["n0", "n1"] },
      {
        refused: {
          code: "MIGRATE_HEAT_MACHINES",
          message: "2 Machines of cluster web have servers that Heat made, such as n0",
          hint: "Run roll first: their credentials are the trustee's.",
        },
      },
    ],
    ["waits for Heat", { leaving: inventory.stacks }, { wait: "Heat to complete the change of stack web-abc" }],
    [
      "waits for the Magnum API, which says nothing",
      { status: undefined },
      { wait: "the Magnum API to report UPDATE_COMPLETE: it reports nothing " },
    ],
    [
      "waits for the Magnum API, and says what it says",
      { status: { status: "UPDATE_FAILED", reason: "no network" } },
      { wait: "the Magnum API to report UPDATE_COMPLETE: it reports UPDATE_FAILED no network" },
    ],
  ])("%s", (_title, changes, expected) => {
    expect(planned(changes)).toEqual({ steps: [], proof: [], ...expected });
  });

  const old = (name: string) => ({ id: "1", name, peerURLs: [], isLearner: false });
  test("names a member of etcd by its name, or by its id where it has none", () => {
    const what = (name: string) => planned({ oldMembers: [old(name)] }).steps[0]?.what;
    expect([what("m0"), what("")]).toEqual(["remove member m0 from etcd", "remove member 1 from etcd"]);
  });

  test.each<[string, Partial<RetireFacts>, number]>([
    ["of the same type go together", { leftovers: [server, { ...server, id: "2" }] }, 2],
    ["of the next type wait", { leftovers: [server, { ...server, id: "2" }, port] }, 2],
    ["go before what is no resource", { leftovers: [server], isMigrating: true }, 1],
    ["wait for a member of etcd, which goes alone", { oldMembers: [old("m0"), old("m1")], leftovers: [server] }, 1],
  ])("deletes in one batch: resources %s", (_title, changes, batch) => {
    expect(planned(changes).batch).toBe(batch);
  });

  const changing = new Set([server.id]);
  const wait = `the cloud to complete the change of OS::Nova::Server kube-master (${server.id})`;
  test.each<[string, Partial<RetireFacts>, string | undefined, readonly string[]]>([
    ["before those of the next type", { leftovers: [server, port], changing }, wait, []],
    [
      "not before others of its type",
      { leftovers: [server, { ...server, id: "2" }], changing },
      undefined,
      ["delete-resource"],
    ],
    [
      "not before stacks",
      { leftovers: [server], changing, stacks: inventory.stacks.slice(0, 1) },
      undefined,
      ["abandon"],
    ],
    [
      "not before members of etcd",
      { leftovers: [server], changing, oldMembers: [old("m0")] },
      undefined,
      ["remove-member"],
    ],
    ["not before Nodes", { leftovers: [server], changing, masterNodes: ["m0"] }, undefined, ["delete-node"]],
    [
      "not before the driver's programs",
      { leftovers: [server], changing, driver: { ...retired.driver, objects: [{ kind: "DaemonSet", name: "d" }] } },
      undefined,
      ["delete-driver-object"],
    ],
  ])("waits for a resource that the cloud changes %s", (_title, changes, expected, types) => {
    const { steps, wait: waits } = planned(changes);
    expect([waits, steps.map(({ type }) => type)]).toEqual([expected, types]);
  });

  test("proves what is gone, and names what remains", () => {
    const kept = [of("loadbalancer", "OS::Octavia::LoadBalancer")];
    expect(planned({ kept }).proof).toEqual([
      "Heat has none of the 2 stacks of cluster web",
      "etcd has the hosted member alone",
      "no pod of kube-system has the password of Magnum's trustee",
      "kept: OS::Octavia::LoadBalancer loadbalancer (id-loadbalancer)",
      "the Magnum API reports UPDATE_COMPLETE for cluster u",
      "Keystone has no accounts of the abandoned stacks",
      "Magnum's database has no row of cluster u, and Keystone no trustee of it",
    ]);
    expect(planned({ stackProjects: "unknown" }).proof).toContain(
      "left: accounts of the abandoned stacks in Heat's domain of Keystone (run retire again with --admin-cloud)",
    );
  });
});

describe("the trustee of the old Magnum", () => {
  const enabled = { isEnabled: true };
  const disabled = { isEnabled: false };
  test.each<[string, RetireFacts["magnum"]["row"], RetireFacts["magnum"]["trustee"], readonly string[]]>([
    [
      "is disabled, then deleted, and the row is last",
      row,
      enabled,
      ["disable-trustee", "delete-trustee", "delete-row"],
    ],
    ["is deleted when it is disabled", row, disabled, ["delete-trustee", "delete-row"]],
    ["that Keystone does not have leaves the row", row, undefined, ["delete-row"]],
    ["that may not be read keeps the row, which knows its id", row, "unknown", []],
    ["that no row names leaves the row", { ...row, trusteeId: "" }, "unknown", ["delete-row"]],
    ["that no row names is not touched", { ...row, trusteeId: "" }, enabled, ["delete-row"]],
    ["of a row that may not be read is not touched", "unknown", enabled, []],
    ["without a row is not touched", undefined, enabled, []],
  ])("%s", (_title, of, trustee, types) => {
    const { steps } = planned({ magnum: { row: of, trustee, silentNodes: [] } });
    expect(steps.map(({ type }) => type)).toEqual(types);
  });

  const other = { ...retired.driver, others: ["ConfigMap kube-system/x"] };
  test.each<[string, Partial<RetireFacts["magnum"]>, RetireFacts["driver"], RegExp | undefined]>([
    [
      "a pod that has its password",
      {},
      { ...retired.driver, users: ["Pod kube-system/p"] },
      /^Pod kube-system\/p to end/,
    ],
    ["an object that names it", {}, other, /^ConfigMap kube-system\/x to be deleted/],
    ["no object where the row may not be read", { row: "unknown" }, other, undefined],
    ["no object where there is no row", { row: undefined }, other, undefined],
    ["no object where Keystone does not have it", { trustee: undefined }, other, undefined],
    ["no object where it may not be deleted", { trustee: "unknown" }, other, undefined],
    [
      "a Node that was not seen without it",
      { trustee: disabled, silentNodes: ["n0"] },
      retired.driver,
      /^Node n0 to renew its Lease while trustee t/,
    ],
    ["no Node while it is enabled", { silentNodes: ["n0"] }, retired.driver, undefined],
    ["no Node where it is gone", { trustee: undefined, silentNodes: ["n0"] }, retired.driver, undefined],
    ["no Node where it may not be read", { trustee: "unknown", silentNodes: ["n0"] }, retired.driver, undefined],
    [
      "no Node where the row may not be read",
      { row: "unknown", trustee: disabled, silentNodes: ["n0"] },
      retired.driver,
      undefined,
    ],
  ])("waits for %s", (_title, magnum, driver, expected) => {
    const { wait } = planned({ driver, magnum: { row, trustee: enabled, silentNodes: [], ...magnum } });
    if (expected) expect(wait).toMatch(expected);
    else expect(wait).toBeUndefined();
  });

  test("of an object that is deleted: its users are waited for, programs are not", () => {
    const users = ["Pod kube-system/p"];
    const first = (kind: "Secret" | "ConfigMap" | "Deployment") =>
      planned({ driver: { ...retired.driver, users, objects: [{ kind, name: "d" }] } });
    expect(first("Secret").wait).toMatch(/^Pod kube-system\/p to end/);
    expect(first("ConfigMap").wait).toMatch(/^Pod kube-system\/p to end/);
    expect(first("Deployment").steps.map(({ type }) => type)).toEqual(["delete-driver-object"]);
  });

  test.each<[string, Partial<RetireFacts>, ReturnType<typeof driverReads>]>([
    ["all, when only the trustee is left", {}, { users: true, others: true }],
    ["none while stacks are left", { stacks: inventory.stacks }, { users: false, others: false }],
    ["none while Heat gives up stacks", { leaving: inventory.stacks }, { users: false, others: false }],
    ["none while masters have Nodes", { masterNodes: ["m0"] }, { users: false, others: false }],
    ["its users while resources are left", { leftovers: [server] }, { users: true, others: false }],
    ["its users while the cluster is not handed over", { isMigrating: true }, { users: true, others: false }],
    [
      "none once it is disabled",
      { magnum: { row, trustee: disabled, silentNodes: [] } },
      { users: false, others: false },
    ],
    [
      "all where it may not be read",
      { magnum: { row, trustee: "unknown", silentNodes: [] } },
      { users: true, others: true },
    ],
    ["all while it is enabled", { magnum: { row, trustee: enabled, silentNodes: [] } }, { users: true, others: true }],
  ])("needs of the lists of kube-system %s", (_title, changes, expected) => {
    expect(driverReads({ ...retired, ...changes })).toEqual(expected);
  });
});

describe("the resources of a cluster", () => {
  const always = () => true;
  const deleted = (resource: Resource, has = always, isFree = always) =>
    leftoversOf({ resources: [resource] }, has, isFree).length === 1;
  test.each<[string, Resource, boolean]>([
    ["a master's server", server, true],
    ["a master's port", port, true],
    ["the load balancer of etcd", of("loadbalancer", "OS::Octavia::LoadBalancer", "etcd_lb"), true],
    ["the load balancer of the API", of("loadbalancer", "OS::Octavia::LoadBalancer", "api_lb"), false],
    ["the volume of etcd", of("etcd_volume", "OS::Cinder::Volume"), true],
    ["the masters' server group", of("master_nodes_server_group", "OS::Nova::ServerGroup"), true],
    ["the masters' security group", of("secgroup_kube_master", "OS::Neutron::SecurityGroup"), true],
    ["the workers' security group", of("secgroup_kube_minion", "OS::Neutron::SecurityGroup"), false],
    ["a master's network", of("kube_master_net", "OS::Neutron::Net"), false],
    ["the network", of("private_network", "OS::Neutron::Net"), false],
    ["a worker's server", of("kube-minion", "OS::Nova::Server"), false],
    ["a worker's free port", of("kube_minion_eth0", "OS::Neutron::Port"), true],
    ["a worker's free address", of("kube_minion_floating", "OS::Neutron::FloatingIP"), true],
    ["another's port", of("eth0", "OS::Neutron::Port"), false],
    ["a worker's load balancer", of("kube_minion_lb", "OS::Octavia::LoadBalancer"), false],
    ["a worker's free volume", of("docker_volume", "OS::Cinder::Volume"), true],
    ["a worker's free root volume", of("kube_node_volume", "OS::Cinder::Volume"), true],
    ["what has a volume's name", of("docker_volume", "OS::Neutron::Port"), false],
    ["a user's volume", of("data", "OS::Cinder::Volume"), false],
  ])("%s is deleted: %j %s", (_title, resource, expected) => expect(deleted(resource)).toBe(expected));

  test("that the cloud does not have any more are not deleted, nor are a worker's in use", () => {
    const never = () => false;
    expect(deleted(server, never)).toBe(false);
    expect(deleted(server, always, never)).toBe(true);
    expect(deleted(of("docker_volume", "OS::Cinder::Volume"), always, never)).toBe(false);
  });

  test("go in an order in which none is needed by another", () => {
    const types = ["SecurityGroup", "Port", "FloatingIP"].map((type) => `OS::Neutron::${type}`);
    const all = [
      ...types,
      "OS::Nova::ServerGroup",
      "OS::Cinder::Volume",
      "OS::Octavia::LoadBalancer",
      "OS::Nova::Server",
    ];
    const resources = all.map((type) => of("kube_master_x", type));
    expect(leftoversOf({ resources }, always, always).map(({ type }) => type)).toEqual([
      "OS::Nova::Server",
      "OS::Neutron::FloatingIP",
      "OS::Octavia::LoadBalancer",
      "OS::Neutron::Port",
      "OS::Cinder::Volume",
      "OS::Nova::ServerGroup",
      "OS::Neutron::SecurityGroup",
    ]);
  });

  test("that are the cluster's from now on are named, and no master's", () => {
    const network = of("private_network", "OS::Neutron::Net");
    const all = [
      network,
      of("kube_master_sg", "OS::Neutron::SecurityGroup"),
      of("docker_volume", "OS::Cinder::Volume"),
    ];
    expect(keptOf(all, always)).toEqual([network]);
    expect(keptOf(all, () => false)).toEqual([]);
  });
});
