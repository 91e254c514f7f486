import { OpenStackMachine, OpenStackMachineTemplate } from "@causeway/api";
import { Event } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demoSpec } from "../testing/objects.ts";
import { condition, namespace, openInfrastructure } from "./world.ts";

const world = openInfrastructure();

describe("a server that runs, in the simulated cloud", { timeout: 300_000 }, () => {
  let cloud: Cloud;
  let process: ReturnType<typeof world.start>;
  beforeAll(() => {
    cloud = connectCloud(loadCloudsYaml({ text: world.simulator.cloudsYaml, cloud: "simulator" }));
    // What others do in the cloud is seen soon.
    process = world.start({ fast: 20, fastest: 20, slow: 500 });
  });
  afterAll(async () => {
    await process.kill();
    await cloud.close();
  });

  it("changes a running server in place, replaces a port that it lost, and gives a template its capacity", async () => {
    const before = world.inventory();
    await world.createCluster("live", { ...demoSpec, tags: ["blue"] });
    await world.clusterReady("live");
    const group = await cloud.network.securityGroups.create({ name: "live-web" });
    const template = { namespace, name: "live-workers" };
    const ports = [{ trunk: true, subports: [{ segmentationID: 7 }] }, { nameSuffix: "extra" }];
    const flavor = { filter: { name: "m1.tiny" } };
    const image = { filter: { name: "cirros" } };
    await world.client.create(OpenStackMachineTemplate, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "OpenStackMachineTemplate",
      metadata: { ...template, labels: { "cluster.x-k8s.io/cluster-name": "live" } },
      spec: { template: { spec: { flavor, image, ports } } },
    });
    await world.createMachine("live", "live-a", { ports, tags: ["old"] });
    const machine = await world.machineReady("live-a");
    const id = machine.status?.instanceID ?? "";
    const key = { namespace, name: "live-a" };
    const known = await world.until("a capacity", async () => {
      const { status } = await world.client.get(OpenStackMachineTemplate, template);
      return status?.capacity;
    });
    expect(known).toEqual({ cpu: "1", memory: "512Mi", "ephemeral-storage": "1Gi" });

    const spec = {
      tags: ["new"],
      serverMetadata: [{ key: "role", value: "node" }],
      securityGroups: [{ filter: { name: "live-web" } }],
    };
    await world.client.patch(OpenStackMachine, key, { type: "merge", body: { spec } });
    const attached = async (name: string) => (await cloud.network.ports.all({ device_id: id, name }))[0];
    await world.until("the changes", async () => {
      const server = await cloud.compute.servers.get(id);
      const all = await cloud.network.ports.all({ device_id: id });
      const isNew = server.tags?.includes("new") === true && server.metadata["role"] === "node";
      return isNew && all.every((p) => p.security_groups.includes(group.id));
    });
    expect([...((await cloud.compute.servers.get(id)).tags ?? [])].sort()).toEqual(["blue", "new"]);

    const pairs = [{ ipAddress: "10.244.0.0/16" }];
    await world.client.patch(OpenStackMachine, key, {
      type: "merge",
      body: {
        metadata: {
          annotations: {
            "cluster.x-k8s.io/cloned-from-name": "live-workers",
            "cluster.x-k8s.io/cloned-from-groupkind": "OpenStackMachineTemplate.infrastructure.cluster.x-k8s.io",
          },
        },
      },
    });
    const [first, extra] = ports;
    const changed = [{ ...first, allowedAddressPairs: pairs }, extra];
    await world.client.patch(OpenStackMachineTemplate, template, {
      type: "merge",
      body: { spec: { template: { spec: { flavor, image, ports: changed } } } },
    });
    await world.until("the template's pairs on the port", async () =>
      (await attached("live-a-0"))?.allowed_address_pairs.some((pair) => pair.ip_address === "10.244.0.0/16"),
    );

    const lost = await attached("live-a-extra");
    await cloud.network.ports.delete(lost?.id ?? "");
    const replacement = await world.until("another port on the server", () => attached("live-a-extra"));
    expect(replacement.id).not.toBe(lost?.id);
    const status = await world.until("the record of it", async () => {
      const object = await world.client.get(OpenStackMachine, key);
      return object.status?.resources?.ports?.some((p) => p.id === replacement.id) === true && object.status;
    });
    expect(status.resources?.ports).toHaveLength(2);
    expect(await cloud.network.ports.all({ name: "live-a-extra" })).toHaveLength(1);
    expect(condition({ ...machine, status }, "Ready")?.status).toBe("True");
    await world.remove("live", ["live-a"]);
    await cloud.network.securityGroups.delete(group.id);
    await world.client.delete(OpenStackMachineTemplate, template);
    expect(world.inventory()).toEqual(before);
  });

  it("is reported as deleted at the first list without it, and no other is created in its place", async () => {
    const before = world.inventory();
    await world.createCluster("gone", demoSpec);
    await world.clusterReady("gone");
    await world.createMachine("gone", "gone-a", { ports: [{}] });
    const { status } = await world.machineReady("gone-a");
    const servers = (method: string) =>
      world.simulator.calls.filter((call) => call.method === method && /\/servers(\/detail)?(\?|$)/.test(call.path));
    const made = servers("POST").length;
    await cloud.compute.servers.delete(status?.instanceID ?? "");
    await world.until(
      "the server gone",
      async () => (await cloud.compute.servers.find(status?.instanceID ?? "")) === undefined,
    );
    const listed = servers("GET").length;
    const machine = await world.until("the condition", async () => {
      const object = await world.client.get(OpenStackMachine, { namespace, name: "gone-a" });
      return condition(object, "InstanceReady")?.status === "False" && object;
    });
    // One list may have been under way, one may have begun before the condition was read.
    expect(servers("GET").length - listed).toBeLessThanOrEqual(3);
    expect(condition(machine, "InstanceReady")).toMatchObject({ reason: "InstanceDeleted" });
    expect(condition(machine, "Ready")).toMatchObject({ status: "False", reason: "InstanceDeleted" });
    expect(machine.status?.instanceState).toBe("DELETED");
    const event = await world.until("an event", async () => {
      const { items } = await world.client.list(Event, { namespace });
      return items.find(
        ({ reason, involvedObject }) => reason === "InstanceDeleted" && involvedObject.name === "gone-a",
      );
    });
    expect(event.type).toBe("Warning");
    await world.rested();
    expect(servers("POST")).toHaveLength(made);
    await world.remove("gone", ["gone-a"]);
    expect(world.inventory()).toEqual(before);
  });

  it("reports once that the network driver makes no trunk for a server that runs, and the machine remains ready", async () => {
    const before = world.inventory();
    await world.createCluster("late", demoSpec);
    await world.clusterReady("late");
    await world.createMachine("late", "late-a", { ports: [{}] });
    await world.machineReady("late-a");
    const key = { namespace, name: "late-a" };
    const trunks = () => world.simulator.calls.filter((c) => c.method === "POST" && c.path.includes("/trunks")).length;
    const made = trunks();
    const set = (ports: object[]) =>
      world.client.patch(OpenStackMachine, key, { type: "merge", body: { spec: { ports } } });
    await set([{ trunk: true }]);
    const refused = await world.until("a refusal", async () => {
      const object = await world.client.get(OpenStackMachine, key);
      return condition(object, "UpdatesApplied")?.reason === "TrunkUpdateFailed" && object;
    });
    expect(condition(refused, "UpdatesApplied")?.message).toMatch(/not eligible.*recreate the Machine, or undo/);
    expect(condition(refused, "Ready")?.status).toBe("True");
    await world.client.patch(OpenStackMachine, key, {
      type: "merge",
      body: { metadata: { annotations: { poke: "1" } } },
    });
    await world.rested();
    expect(trunks()).toBe(made + 1);
    await set([{}]);
    await world.until("no refusal", async () => {
      const object = await world.client.get(OpenStackMachine, key);
      return condition(object, "UpdatesApplied")?.status === "True";
    });
    await world.remove("late", ["late-a"]);
    expect(world.inventory()).toEqual(before);
  });
});
