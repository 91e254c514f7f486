import type { OpenStackMachine } from "@causeway/api";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { cloudIdentityAnnotation } from "../resources/naming.ts";
import type { ModelCloud } from "../testing/model-cloud.ts";
import { port, server } from "../dry-run/resources.ts";
import { apply, deleting, plan, ready, settle, world, type World } from "../testing/machine-world.ts";
import { demoSpec, now, openStackCluster } from "../testing/objects.ts";
import type { Observed } from "./model.ts";

/** What the server is created with, once all before it is there. */
function serverOf(w: World) {
  for (let round = 0; round < 5; round++) {
    for (const step of plan(w).steps) {
      if (step.type === "create-server") return step.body as { networks: { port: string }[]; schedulerHints?: object };
      apply(w, step);
    }
  }
  throw new Error("no server is planned");
}

describe("the plan of an OpenStackMachine", () => {
  it("makes a port on the cluster's network with the role's group, then the server", () => {
    const w = world();
    const first = plan(w).steps;
    expect(first.map((s) => s.type)).toEqual(["add-finalizer", "create-port"]);
    expect(first[1]).toMatchObject({
      body: {
        name: "demo-workers-abcde-0",
        network_id: "net-1",
        description: "Created by cluster-api-provider-openstack cluster default-demo",
        security_groups: ["sg-worker"],
        fixed_ips: [{ subnet_id: "sub-1" }],
      },
      tags: ["team-a"],
    });
    const { status } = settle(w);
    expect(w.cloud.inventory).toEqual(["ports demo-workers-abcde-0", "servers demo-workers-abcde"]);
    expect(w.cloud.ports[0]?.tags).toEqual(["team-a"]);
    expect(w.object.spec.providerID).toBe(`openstack:///${w.cloud.servers[0]?.id}`);
    expect(status.addresses).toEqual([
      { type: "InternalIP", address: "192.0.2.10" },
      { type: "InternalDNS", address: "demo-workers-abcde" },
    ]);
    expect(status.initialization?.provisioned).toBe(true);
    expect(ready(status)).toBe("True InstanceReady");
  });

  describe("with trunks", () => {
    const trunked = { trunk: true, ports: [{}, { nameSuffix: "plain", trunk: false }] };

    it("makes the trunk of a port before the server, with the port's name and tags, and deletes it before the port", () => {
      const w = world(trunked);
      w.extra = { identity: { ok: true, cloud: { ...w.cloud.forMachine(), extensions: new Set(["trunk"]) } } };
      for (const step of plan(w).steps) apply(w, step);
      w.extra = {};
      const steps = plan(w).steps;
      expect(steps.map((s) => s.type)).toEqual(["create-trunk", "set-port-tags", "set-port-tags"]);
      expect(steps[0]).toMatchObject({ body: { name: "demo-workers-abcde-0" }, tags: ["team-a"] });
      settle(w);
      expect(w.cloud.ports.map((p) => p.trunk_details !== undefined)).toEqual([true, false]);
      w.cloud.ports = w.cloud.ports.map(({ trunk_details: trunk, ...p }) =>
        trunk ? { ...p, trunk_details: { ...trunk, sub_ports: [{ port_id: "sub", segmentation_id: 7 }] } } : p,
      );
      deleting(w);
      for (const step of plan(w).steps) apply(w, step);
      expect(plan(w).steps).toMatchObject([{ type: "delete-trunk", subports: ["sub"] }]);
      settle(w);
      expect(w.cloud.inventory).toEqual([]);
    });

    it("creates nothing in a cloud without the extension, and says so", () => {
      const w = world(trunked);
      w.extra = { identity: { ok: true, cloud: { ...w.cloud.forMachine(), extensions: new Set() } } };
      expect(plan(w).steps).toEqual([]);
      expect(plan(w).events?.[0]?.message).toMatch(/no trunk ports/);
    });
  });

  it.each([
    ["with the extension", ["port-trusted-vif"], { trusted: true }, undefined],
    ["without the extension", [], {}, { trusted: true, capabilities: ["switchdev"] }],
  ])("asks for a trusted virtual function %s", (_name, aliases, attributes, profile) => {
    const ovsHWOffload = profile !== undefined;
    const w = world({ ports: [{ profile: { trustedVF: true, ...(ovsHWOffload ? { ovsHWOffload } : {}) } }] });
    w.extra = { identity: { ok: true, cloud: { ...w.cloud.forMachine(), extensions: new Set(aliases) } } };
    const step = plan(w).steps.find((s) => s.type === "create-port");
    expect(step?.body).toMatchObject({ network_id: "net-1", ...attributes });
    expect(step?.body["binding:profile"]).toEqual(profile);
  });

  it("waits for an Image of OpenStack Resource Controller, and boots from it once it is Available", () => {
    const w = world({ image: { imageRef: { name: "node" } } });
    w.extra = { image: { name: "node", message: "Image node to be Available: downloading" } };
    expect(plan(w).steps).toEqual([]);
    expect(ready(plan(w).status)).toBe("False DependencyFailed");
    expect(plan(w).wait?.for).toMatch(/downloading/);
    w.extra = { image: { name: "node", id: "img-9" } };
    for (let round = 0; round < 2; round++) for (const step of plan(w).steps) apply(w, step);
    expect(plan(w).steps[0]).toMatchObject({ type: "create-server", body: { imageRef: "img-9" } });
  });

  it("never holds bootstrap data in a step", () => {
    const w = world();
    for (const step of plan(w).steps) apply(w, step);
    for (const step of plan(w).steps) apply(w, step);
    const create = plan(w).steps.find((s) => s.type === "create-server");
    expect(create).toMatchObject({
      secret: "demo-workers-abcde",
      body: { availability_zone: "nova", imageRef: "img-1", flavorRef: "2" },
    });
    expect(JSON.stringify(create)).not.toContain("user_data");
  });

  it("boots from a volume, and waits until it is there", () => {
    const w = world({
      rootVolume: { sizeGiB: 10 },
      additionalBlockDevices: [{ name: "etcd", sizeGiB: 2, storage: { type: "Volume" } }],
    });
    for (const step of plan(w).steps) apply(w, step);
    w.cloud.volumes = w.cloud.volumes.map((v) => ({ ...v, status: "creating" }));
    w.cloud.ports = w.cloud.ports.map((p) => ({ ...p, tags: ["team-a"] }));
    expect(plan(w).wait?.for).toMatch(/demo-workers-abcde-etcd.*available/);
    w.cloud.volumes = w.cloud.volumes.map((v) => ({ ...v, status: "available" }));
    const [create] = plan(w).steps;
    expect(create).toMatchObject({
      type: "create-server",
      body: {
        block_device_mapping_v2: [
          { boot_index: 0, source_type: "volume", delete_on_termination: true },
          { boot_index: -1, tag: "etcd" },
        ],
      },
    });
    expect(create && "body" in create && "imageRef" in create.body).toBe(false);
  });

  it("keeps the fixed IPs of a port that names no network", () => {
    const w = world({ ports: [{ fixedIPs: [{ ipAddress: "10.6.0.77" }] }] });
    expect(plan(w).steps[1]).toMatchObject({ body: { network_id: "net-1", fixed_ips: [{ ip_address: "10.6.0.77" }] } });
  });

  it("comes to one port and one server wherever it is cut off, and leaves nothing when deleted at any point", () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 });
    fc.assert(
      fc.property(cuts, cuts, fc.boolean(), (during, after, finish) => {
        const w = world({ ports: [{}, { nameSuffix: "storage" }], rootVolume: { sizeGiB: 5 } });
        const expected = [
          "ports demo-workers-abcde-0",
          "ports demo-workers-abcde-storage",
          "servers demo-workers-abcde",
          "volumes demo-workers-abcde-root",
        ];
        for (const cut of during) for (const step of plan(w).steps.slice(0, cut)) apply(w, step);
        if (finish) {
          settle(w);
          expect(w.cloud.inventory).toEqual(expected);
        }
        deleting(w);
        for (const cut of after) for (const step of plan(w).steps.slice(0, cut)) apply(w, step);
        settle(w);
        expect(w.cloud.inventory).toEqual([]);
        expect(w.object.metadata.finalizers).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  const problems: [string, Partial<OpenStackMachine["spec"]>, RegExp][] = [
    ["an unknown flavor", { flavor: { filter: { name: "m1.smal" } } }, /no flavor m1\.smal; similar names: m1\.small/],
    [
      "an unknown image",
      { image: { filter: { name: "ubuntu" } } },
      /no image ubuntu; available: cirros, fedora-coreos/,
    ],
    ["an unknown server group", { serverGroup: { filter: { name: "spread" } } }, /no server group spread/],
    ["an unknown network", { ports: [{ network: { filter: { name: "lan" } } }] }, /no match/],
    [
      "groups without port security",
      { ports: [{ enablePortSecurity: false, securityGroups: [{ id: "x" }] }] },
      /without port security/,
    ],
    [
      "a disk named root",
      { additionalBlockDevices: [{ name: "root", sizeGiB: 1, storage: { type: "Local" } }] },
      /root volume/,
    ],
  ];
  it.each(problems)("reports %s and creates nothing", (_name, spec, words) => {
    const result = plan(world(spec));
    expect(result.steps).toEqual([]);
    expect(ready(result.status)).toBe("False InvalidMachineSpec");
    expect(result.events?.[0]?.message).toMatch(words);
  });

  it("refuses a security-group filter that fits several groups", () => {
    const w = world({ securityGroups: [{ filter: { name: "web" } }] });
    for (const id of ["a", "b"]) {
      w.cloud.securityGroups.push({
        id,
        name: "web",
        description: "",
        project_id: "project-1",
        security_group_rules: [],
        tags: [],
      });
    }
    expect(plan(w).events?.[0]?.message).toMatch(/2 resources match.*a, b/);
  });

  it("refuses a server group that two have by name, and takes one of them by its ID", () => {
    const w = world({ serverGroup: { filter: { name: "spread" } } });
    const serverGroups = ["g-2", "g-1"].map((id) => ({ id, name: "spread", policy: "affinity", members: [] }));
    Object.defineProperty(w.extra, "identity", {
      get: () => ({ ok: true, cloud: { ...w.cloud.forMachine(), serverGroups } }),
      enumerable: true,
    });
    const refused = plan(w);
    expect(refused.steps).toEqual([]);
    expect(ready(refused.status)).toBe("False InvalidMachineSpec");
    expect(refused.events?.[0]?.message).toMatch(
      /2 server groups are named spread: g-1, g-2; set spec\.serverGroup\.id/,
    );
    w.object = { ...w.object, spec: { ...w.object.spec, serverGroup: { id: "g-2" } } };
    expect(serverOf(w).schedulerHints).toEqual({ group: "g-2" });
  });

  it("gives hints to the scheduler in the types of the spec", () => {
    const hints = [
      { name: "retries", value: { type: "Number" as const, number: 3 } },
      { name: "none", value: { type: "Number" as const, number: 0 } },
      { name: "near", value: { type: "Bool" as const, bool: true } },
      { name: "far", value: { type: "Bool" as const, bool: false } },
      { name: "query", value: { type: "String" as const, string: '["=","$vcpus","4"]' } },
      { name: "digits", value: { type: "String" as const, string: "12" } },
    ];
    expect(serverOf(world({ schedulerHintAdditionalProperties: hints })).schedulerHints).toEqual({
      retries: 3,
      none: 0,
      near: true,
      far: false,
      query: '["=","$vcpus","4"]',
      digits: "12",
    });
  });

  it("gives its ports to the server in the order of the spec, in whatever order the cloud lists them", () => {
    const w = world({ ports: [{ nameSuffix: "z" }, {}, { nameSuffix: "a" }] });
    for (const step of plan(w).steps) apply(w, step);
    w.cloud.ports.reverse();
    const names = serverOf(w).networks.map((network) => w.cloud.ports.find((p) => p.id === network.port)?.name);
    expect(names).toEqual(["demo-workers-abcde-z", "demo-workers-abcde-1", "demo-workers-abcde-a"]);
  });

  const waits: [string, Partial<Observed>, string][] = [
    ["its Machine", { owner: undefined }, "WaitingForMachine"],
    ["bootstrap data", { owner: { name: "m" } }, "WaitingForBootstrapData"],
    ["the cluster's infrastructure", { infrastructure: openStackCluster(demoSpec) }, "WaitingForClusterInfrastructure"],
  ];
  it.each(waits)("waits for %s", (_name, extra, reason) => {
    const w = world();
    w.extra = extra;
    expect(plan(w).steps).toEqual([]);
    expect(ready(plan(w).status)).toBe(`False ${reason}`);
  });
});

describe("the plan of an OpenStackMachine with a server", () => {
  let w: World;
  beforeEach(() => {
    w = world();
    settle(w);
  });

  function state(status: "BUILD" | "ERROR" | "SHUTOFF", fault?: string) {
    const extra = fault ? { fault: { code: 500, message: fault, created: "" } } : {};
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, status, ...extra }));
    return plan(w);
  }

  it("does nothing more when all is as declared", () => expect(plan(w).steps).toEqual([]));

  it("waits while it is built", () => expect(state("BUILD").wait?.for).toMatch(/ACTIVE; it is BUILD/));

  it("reports Nova's fault of a server in ERROR, and does not replace it", () => {
    const result = state("ERROR", "No valid host was found.");
    expect(result.steps).toEqual([]);
    expect(result.events?.[0]?.message).toMatch(/No valid host was found/);
    expect(result.status.initialization?.provisioned).toBe(true);
  });

  it("reports a server that is off as unknown", () =>
    expect(ready(state("SHUTOFF").status)).toBe("Unknown InstanceNotReady"));

  it("reports a deleted server, creates no other, and refreshes the list", () => {
    w.cloud.servers = [];
    const result = plan(w);
    expect(result.steps).toEqual([]);
    expect(ready(result.status)).toBe("False InstanceDeleted");
    expect(result.wait?.until).toBe(now + 60_000);
  });

  it("replaces a deleted port once, and no port of a server of which none is recorded", () => {
    const [lost] = w.cloud.ports;
    w.cloud.ports = [];
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, addresses: {} }));
    const forgetful = { ...w, object: { ...w.object, status: { ...w.object.status, resources: { ports: [] } } } };
    expect(plan(forgetful).steps).toEqual([]);
    const first = plan(w);
    expect(first.steps).toMatchObject([{ type: "create-port", reason: "PortUpdateFailed", replaces: [lost?.id] }]);
    expect(first.status.resources?.ports).toEqual([{ id: lost?.id }]);
    settle(w);
    expect(w.cloud.ports.map((p) => [p.name, p.device_id])).toEqual([[lost?.name, w.cloud.servers[0]?.id]]);
    expect(w.object.status?.resources?.ports).toEqual([{ id: w.cloud.ports[0]?.id }]);
    expect(plan(w).steps).toEqual([]);
  });

  it("brings allowed address pairs up to date in place", () => {
    w.object = {
      ...w.object,
      spec: { ...w.object.spec, ports: [{ allowedAddressPairs: [{ ipAddress: "10.244.0.0/16" }] }] },
    };
    expect(plan(w).steps).toMatchObject([{ type: "update-port", pairs: [{ ip_address: "10.244.0.0/16" }] }]);
    settle(w);
    expect(plan(w).steps).toEqual([]);
  });

  it("says that a changed flavor is ignored", () => {
    w.object = {
      ...w.object,
      spec: { ...w.object.spec, flavor: { filter: { name: "m1.tiny" } } },
      status: { ...w.object.status, resolved: { flavorID: "2", imageID: "img-1" } },
    };
    expect(plan(w).events?.[0]).toMatchObject({
      reason: "SpecChangeIgnored",
      message: expect.stringMatching(/made with flavor m1\.small/),
    });
  });

  it("remains ready while the cloud limits the rate of requests, and a new machine is not called failed", () => {
    const limited = { ok: false, reason: "RateLimited", message: "limits the rate", until: now + 20_000 } as const;
    w.extra = { identity: limited };
    expect(plan(w)).toMatchObject({ steps: [], events: [], wait: { until: now + 20_000 } });
    expect(ready(plan(w).status)).toBe("True InstanceReady");
    const fresh = world();
    fresh.extra = { identity: limited };
    expect(ready(plan(fresh).status)).toBe("Unknown RateLimited");
  });

  it("needs no image any more", () => {
    w.object = { ...w.object, spec: { ...w.object.spec, image: { filter: { name: "gone" } } } };
    expect(ready(plan(w).status)).toBe("True InstanceReady");
  });

  it("does nothing in another project than the cluster's", () => {
    w.infrastructure.metadata.annotations = { [cloudIdentityAnnotation]: "RegionOne/other" };
    deleting(w);
    expect(plan(w).steps).toEqual([]);
    expect(ready(plan(w).status)).toBe("False WrongCloud");
  });

  const strangers: [string, (cloud: ModelCloud) => void][] = [
    ["a server that a user created", (cloud) => cloud.servers.push(server("foreign", { name: "demo-workers-abcde" }))],
    [
      "a port of another management cluster",
      (cloud) =>
        cloud.ports.push(
          port(cloud, {
            name: "demo-workers-abcde-0",
            id: "foreign",
            description: "Created by cluster-api-provider-openstack cluster default-demo",
          }),
        ),
    ],
  ];
  it.each(strangers)("neither adopts nor deletes %s with the machine's name", (_name, add) => {
    const other = world();
    add(other.cloud);
    const before = other.cloud.inventory;
    const result = plan(other);
    expect(result.steps).toEqual([]);
    expect(ready(result.status)).toBe("False NameInUse");
    expect(result.events?.[0]?.message).toMatch(/foreign.*did not create/);
    deleting(other);
    settle(other);
    expect(other.cloud.inventory).toEqual(before);
  });

  it("waits while Nova deletes, and deletes once", () => {
    deleting(w);
    expect(plan(w).steps.map((s) => s.type)).toEqual(["delete-server"]);
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, "OS-EXT-STS:task_state": "deleting" }));
    expect(plan(w).steps).toEqual([]);
    expect(plan(w).wait?.for).toMatch(/to be deleted/);
    w.cloud.servers = w.cloud.servers.map((s) => ({ ...s, status: "SOFT_DELETED" }));
    expect(plan(w).steps.map((s) => s.type)).toEqual(["delete-port"]);
  });

  it("keeps the server of a deleted machine while the API's load balancer has a member for it, for five minutes", () => {
    deleting(w);
    w.extra = { endpointPools: ["kubeapi-6443"] };
    const waiting = plan(w);
    expect(waiting.steps).toEqual([]);
    expect(waiting.wait).toEqual({ for: "the member in pool kubeapi-6443 to be removed", until: now + 2_000 });
    w.object.metadata.deletionTimestamp = new Date(now - 300_000).toISOString();
    expect(plan(w).steps.map((s) => s.type)).toEqual(["delete-server"]);
    deleting(w);
    w.extra = { endpointPools: [] };
    expect(plan(w).steps.map((s) => s.type)).toEqual(["delete-server"]);
  });

  it("does not touch a port of that name that another server uses", () => {
    w.cloud.ports.push(port(w.cloud, { name: "demo-workers-abcde-0", device_id: "foreign" }));
    w.cloud.servers.push(server("foreign", { name: "other" }));
    deleting(w);
    settle(w);
    expect(w.cloud.ports.map((p) => p.device_id)).toEqual(["foreign"]);
  });
});
