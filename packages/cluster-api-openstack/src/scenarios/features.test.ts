import {
  OpenStackCluster,
  OpenStackClusterIdentity,
  OpenStackMachine,
  OpenStackServer,
  toCustomResourceDefinition,
} from "@causeway/api";
import { Event, Namespace, type KubeObject, type ResourceType } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, type Cloud } from "@causeway/openstack";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { condition, namespace, openInfrastructure } from "./world.ts";
import { demoSpec } from "../testing/objects.ts";

const world = openInfrastructure();
const OrcImage: ResourceType<KubeObject> = {
  group: "openstack.k-orc.cloud",
  version: "v1alpha1",
  kind: "Image",
  plural: "images",
  namespaced: true,
};

describe("the OpenStack provider on the simulated cloud", { timeout: 120_000 }, () => {
  let cloud: Cloud;
  let process: ReturnType<typeof world.start>;
  beforeAll(() => {
    cloud = connectCloud(loadCloudsYaml({ text: world.simulator.cloudsYaml, cloud: "simulator" }));
    process = world.start();
  });
  afterAll(async () => {
    await process.kill();
    await cloud.close();
  });

  it("makes a server with trunk, disks, group, hints, metadata and tags as upstream names them, and leaves nothing", async () => {
    const group = await cloud.compute.serverGroups.create({ name: "spread", policy: "soft-anti-affinity" });
    const before = world.inventory();
    await world.createCluster("rich", { ...demoSpec, tags: ["blue"] });
    await world.clusterReady("rich");
    const calls = world.simulator.calls.length;
    await world.createMachine("rich", "rich-a", {
      trunk: true,
      ports: [
        { allowedAddressPairs: [{ ipAddress: "10.244.0.0/16" }], tags: ["front"] },
        { nameSuffix: "storage", trunk: false, fixedIPs: [{ ipAddress: "10.6.0.77" }], propagateUplinkStatus: true },
      ],
      rootVolume: { sizeGiB: 1 },
      additionalBlockDevices: [
        { name: "etcd", sizeGiB: 1, storage: { type: "Volume" } },
        { name: "scratch", sizeGiB: 1, storage: { type: "Local" } },
      ],
      serverGroup: { filter: { name: "spread" } },
      schedulerHintAdditionalProperties: [{ name: "retries", value: { type: "Number", number: 3 } }],
      serverMetadata: [{ key: "role", value: "node" }],
      configDrive: true,
      tags: ["machine"],
    });
    const machine = await world.machineReady("rich-a");
    const id = machine.status?.instanceID ?? "";
    const server = await cloud.compute.servers.get(id);
    expect(server.metadata).toMatchObject({ role: "node" });
    expect([...(server.tags ?? [])].sort()).toEqual(["blue", "machine"]);
    const ports = await cloud.network.ports.all({ device_id: id });
    const described = ports.map((p) => `${p.name} ${[...p.tags].sort().join()}`).sort();
    expect(described).toEqual(["rich-a-0 blue,front,machine", "rich-a-storage blue,machine"]);
    const first = ports.find((p) => p.name === "rich-a-0");
    expect(first?.allowed_address_pairs).toMatchObject([{ ip_address: "10.244.0.0/16" }]);
    expect(ports.find((p) => p.name === "rich-a-storage")?.fixed_ips).toMatchObject([{ ip_address: "10.6.0.77" }]);
    const trunks = await cloud.network.trunks.all({});
    expect(trunks.map((t) => [t.name, t.port_id, [...t.tags].sort().join()])).toEqual([
      ["rich-a-0", first?.id, "blue,front,machine"],
    ]);
    const volumes = await cloud.blockStorage.volumes.all({});
    expect(volumes.map((v) => `${v.name}: ${v.description}`).sort()).toEqual([
      "rich-a-etcd: Additional block device for rich-a",
      "rich-a-root: Root volume for rich-a",
    ]);
    expect((await cloud.compute.serverGroups.get(group.id)).members).toEqual([id]);
    const made = world.simulator.calls
      .slice(calls)
      .filter((c) => c.method !== "GET" && c.service !== "identity")
      .map((c) => `${c.method} ${c.path.split("?")[0]?.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")}`)
      .filter((c) => !c.startsWith("DELETE"));
    // Two ports, two volumes, a trunk with its tags, a server: none of them twice.
    expect(made.filter((c) => c.startsWith("POST")).length).toBe(6);
    await world.remove("rich", ["rich-a"]);
    expect(world.inventory()).toEqual(before);
    await cloud.compute.serverGroups.delete(group.id);
  });

  it("makes a bastion with a floating IP, takes it away when it is disabled, and lets a user declare a server", async () => {
    const before = world.inventory();
    const machine = { flavor: { filter: { name: "m1.tiny" } }, image: { filter: { name: "cirros" } } };
    await world.createCluster("jump", { ...demoSpec, tags: ["blue"], bastion: { enabled: true, spec: machine } });
    const ready = await world.until("a bastion", async () => {
      const object = await world.client.get(OpenStackCluster, { namespace, name: "jump" });
      return condition(object, "BastionReady")?.status === "True" && object;
    });
    expect(ready.status?.bastion).toMatchObject({ name: "jump-bastion", floatingIP: expect.stringMatching(/^172\./) });
    const servers = await cloud.compute.servers.all({ name: "^jump-bastion$" });
    expect(servers.map((s) => s.tags)).toEqual([["blue"]]);
    const ports = await cloud.network.ports.all({ device_id: servers[0]?.id ?? "" });
    const group = ready.status?.bastionSecurityGroup?.id;
    expect(ports.map((p) => [p.name, p.security_groups])).toEqual([["jump-bastion-0", [group]]]);
    const addresses = await cloud.network.floatingIps.all({ port_id: ports[0]?.id ?? "" });
    expect(addresses.map((ip) => [ip.floating_ip_address, ip.description, ip.tags])).toEqual([
      [ready.status?.bastion?.floatingIP, "Created by cluster-api-provider-openstack cluster default-jump", ["blue"]],
    ]);

    const key = { namespace, name: "jump" };
    const disabled = { spec: { bastion: { enabled: false } } };
    await world.client.patch(OpenStackCluster, key, { type: "merge", body: disabled });
    await world.until("no bastion", async () => world.inventory().every((line) => !/bastion|floatingip/.test(line)));

    const { flavor: _flavor, ...shared } = machine;
    await world.client.create(OpenStackServer, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "OpenStackServer",
      metadata: { name: "alone", namespace },
      spec: {
        ...shared,
        flavor: "m1.tiny",
        sshKeyName: "",
        identityRef: { name: "jump-cloud", cloudName: "simulator" },
        ports: [{ network: { filter: { name: "k8s-clusterapi-cluster-default-jump" } } }],
      },
    });
    const server = await world.until("a server", async () => {
      const object = await world.client.get(OpenStackServer, { namespace, name: "alone" });
      return object.status?.ready === true && object;
    });
    expect(world.inventory()).toEqual(expect.arrayContaining([expect.stringMatching(/^server alone/)]));
    expect(server.status?.addresses?.[0]).toMatchObject({ type: "InternalIP" });
    await world.client.delete(OpenStackServer, { namespace, name: "alone" });
    await world.until("no server", async () => world.inventory().every((line) => !line.includes("alone")));
    await world.remove("jump");
    expect(world.inventory()).toEqual(before);
  });

  it("waits for an Image of OpenStack Resource Controller, and continues by itself when it is Available", async () => {
    await world.createCluster("orc");
    await world.clusterReady("orc");
    await world.createMachine("orc", "orc-a", { image: { imageRef: { name: "node" } } });
    const reason = async () =>
      condition(await world.client.get(OpenStackMachine, { namespace, name: "orc-a" }), "InstanceReady")?.reason;
    await world.until("a wait", async () => (await reason()) === "DependencyFailed");
    const definition = toCustomResourceDefinition(OpenStackMachine);
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await world.client.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      body: {
        ...definition,
        metadata: { name: "images.openstack.k-orc.cloud" },
        spec: {
          group: "openstack.k-orc.cloud",
          scope: "Namespaced",
          names: { kind: "Image", listKind: "ImageList", plural: "images", singular: "image" },
          versions: [{ name: "v1alpha1", served: true, storage: true, schema: { openAPIV3Schema: open } }],
        },
      },
    });
    const id = (await cloud.image.images.all({ name: "cirros" }))[0]?.id;
    const conditions = [
      { type: "Available", status: "True", reason: "Success", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    await world.until("the kind", async () => {
      const image = {
        apiVersion: "openstack.k-orc.cloud/v1alpha1",
        kind: "Image",
        metadata: { name: "node", namespace },
      };
      return world.client.create(OrcImage, { ...image, status: { id, conditions } } as KubeObject).catch(() => false);
    });
    const machine = await world.machineReady("orc-a");
    expect(machine.status?.resolved?.imageID).toBe(id);
    await world.remove("orc", ["orc-a"]);
  });

  it("uses an OpenStackClusterIdentity where its selector allows the namespace, and not before", async () => {
    const before = world.inventory();
    await world.createCredentials("shared");
    await world.client.create(OpenStackClusterIdentity, {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "OpenStackClusterIdentity",
      metadata: { name: "shared" },
      spec: { secretRef: { name: "shared", namespace }, namespaceSelector: { matchLabels: { team: "a" } } },
    });
    const identityRef = { type: "ClusterIdentity" as const, name: "shared", cloudName: "simulator" };
    await world.createCluster("allowed", { ...demoSpec, identityRef });
    await world.until("a refusal", async () => {
      const object = await world.client.get(OpenStackCluster, { namespace, name: "allowed" });
      return condition(object, "OpenStackAuthenticationSucceeded")?.message?.includes("does not allow");
    });
    expect(world.inventory()).toEqual(before);
    const labels = { metadata: { labels: { team: "a" } } };
    await world.client.patch(Namespace, { namespace: "", name: namespace }, { type: "merge", body: labels });
    await world.clusterReady("allowed");
    await world.remove("allowed");
    expect(world.inventory()).toEqual(before);
    const account = await world.until("the account of the deletion", async () => {
      const events = (await world.client.list(Event, { namespace })).items;
      return events.find((e) => e.reason === "DeletionCompleted" && e.message?.includes("default-allowed"))?.message;
    });
    expect(account).toMatch(/^Removed: router .*network .*security group .*Kept: nothing$/);
  });
});
