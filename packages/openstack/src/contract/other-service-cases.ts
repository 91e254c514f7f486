import assert from "node:assert/strict";
import { eventually, failsWith, makeSubnet, type ContractCase } from "./case.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** What we rely on of services that not every cloud has. */
export const otherServiceCases: readonly ContractCase[] = [
  {
    name: "a secret is stored, read and deleted",
    needs: { services: ["key-manager"] },
    async run(context) {
      const { keyManager } = context.cloud;
      const reference = await keyManager.secrets.create({
        name: context.name("secret"),
        payload: "open sesame",
        payload_content_type: "text/plain",
        secret_type: "passphrase",
      });
      context.cleanup(() => keyManager.secrets.delete(reference));
      assert.match(reference, /^https?:\/\/.*\/v1\/secrets\/[0-9a-f-]{36}$/);
      const secret = await keyManager.secrets.get(reference);
      assert.equal(secret.secret_ref, reference);
      assert.equal(secret.status, "ACTIVE");
      assert.equal(secret.secret_type, "passphrase");
      assert.equal(text(await keyManager.payload(reference, { contentType: "text/plain" })), "open sesame");
      const named = await keyManager.secrets.all({ name: context.name("secret") });
      assert.deepEqual(
        named.map((s) => s.secret_ref),
        [reference],
      );
      await keyManager.secrets.delete(reference);
      assert.equal(await keyManager.secrets.find(reference), undefined);
      await keyManager.secrets.delete(reference);
    },
  },
  {
    name: "binary secrets travel as base64 and come back as bytes, and a container holds references",
    needs: { services: ["key-manager"] },
    async run(context) {
      const { keyManager } = context.cloud;
      const bytes = new Uint8Array([0, 1, 2, 253, 254, 255]);
      const reference = await keyManager.secrets.create({
        name: context.name("bytes"),
        payload: Buffer.from(bytes).toString("base64"),
        payload_content_type: "application/octet-stream",
        payload_content_encoding: "base64",
      });
      context.cleanup(() => keyManager.secrets.delete(reference));
      assert.deepEqual(new Uint8Array(await keyManager.payload(reference)), bytes);
      const container = await keyManager.containers.create({
        name: context.name("container"),
        type: "generic",
        secret_refs: [{ name: "one", secret_ref: reference }],
      });
      context.cleanup(() => keyManager.containers.delete(container));
      assert.deepEqual((await keyManager.containers.get(container)).secret_refs, [
        { name: "one", secret_ref: reference },
      ]);
    },
  },
  {
    name: "the ACL of a secret lists its users",
    needs: { services: ["key-manager"] },
    async run(context) {
      const { keyManager } = context.cloud;
      const reference = await keyManager.secrets.create({
        name: context.name("acl"),
        payload: "x",
        payload_content_type: "text/plain",
      });
      context.cleanup(() => keyManager.secrets.delete(reference));
      assert.equal((await keyManager.acl("secrets", reference)).read?.["project-access"], true);
      const users = ["0123456789abcdef0123456789abcdef"];
      await keyManager.setAcl("secrets", reference, { read: { users, "project-access": false } });
      const acl = await keyManager.acl("secrets", reference);
      assert.deepEqual(acl.read?.users, users);
      assert.equal(acl.read?.["project-access"], false);
    },
  },
  {
    name: "a share is created, granted access, extended and deleted",
    needs: { services: ["shared-file-system"] },
    async run(context) {
      const { sharedFileSystem: manila } = context.cloud;
      const [type] = await manila.shareTypes.all();
      const subnet = await makeSubnet(context);
      const handles = type?.extra_specs["driver_handles_share_servers"] === "True";
      const network = handles
        ? await manila.shareNetworks.create({
            name: context.name("sn"),
            neutron_net_id: subnet.network_id,
            neutron_subnet_id: subnet.id,
          })
        : undefined;
      context.cleanup(async () => {
        if (network) await manila.shareNetworks.delete(network.id);
      });
      const share = await manila.shares.create({
        name: context.name("share"),
        share_proto: "NFS",
        size: 1,
        ...(type && { share_type: type.name }),
        ...(network && { share_network_id: network.id }),
        metadata: { a: "1" },
      });
      context.cleanup(async () => {
        await manila.shares.delete(share.id);
        await eventually(
          context,
          () => manila.shares.find(share.id),
          (s) => s === undefined,
        );
      });
      const is = (status: string) =>
        eventually(
          context,
          () => manila.shares.get(share.id),
          (s) => s.status === status,
        );
      assert.equal((await is("available")).size, 1);
      assert.ok((await manila.exportLocations(share.id)).length > 0);
      const rule = await manila.allow(share.id, { access_type: "ip", access_to: "10.0.0.0/24", access_level: "ro" });
      const rules = await eventually(
        context,
        () => manila.accessRules(share.id),
        (all) => all.every((r) => r.state === "active"),
      );
      assert.deepEqual(
        rules.map((r) => [r.id, r.access_to, r.access_level]),
        [[rule.id, "10.0.0.0/24", "ro"]],
      );
      const twice = manila.allow(share.id, { access_type: "ip", access_to: "10.0.0.0/24", access_level: "ro" });
      await failsWith(twice, "OPENSTACK_BAD_REQUEST");
      await manila.deny(share.id, rule.id);
      await manila.extend(share.id, 2);
      assert.equal((await is("available")).size, 2);
      await failsWith(manila.extend(share.id, 1), "OPENSTACK_BAD_REQUEST");
    },
  },
  {
    name: "a zone has record sets, which are replaced as a whole",
    needs: { services: ["dns"] },
    async run(context) {
      const { dns } = context.cloud;
      const zone = await dns.zones.create({ name: `${context.name("zone")}.example.`, email: "a@example.org" });
      context.cleanup(() => dns.zones.delete(zone.id));
      await eventually(
        context,
        () => dns.zones.get(zone.id),
        (z) => z.status === "ACTIVE",
      );
      const sets = dns.recordSets(zone.id);
      const set = await sets.create({ name: `www.${zone.name}`, type: "A", records: ["192.0.2.1"], ttl: 60 });
      assert.deepEqual(set.records, ["192.0.2.1"]);
      const changed = await sets.update(set.id, { records: ["192.0.2.1", "192.0.2.2"] });
      assert.deepEqual([...changed.records].sort(), ["192.0.2.1", "192.0.2.2"]);
      await failsWith(
        sets.create({ name: `www.${zone.name}`, type: "A", records: ["192.0.2.9"] }),
        "OPENSTACK_CONFLICT",
      );
      const found = await sets.all({ name: `www.${zone.name}`, type: "A" });
      assert.deepEqual(
        found.map((s) => s.id),
        [set.id],
      );
      await failsWith(dns.zones.create({ name: "no-dot.example" }), "OPENSTACK_BAD_REQUEST");
    },
  },
  {
    name: "a placement of a size is offered to an administrator, with the providers' inventories",
    needs: { services: ["placement"], admin: true },
    async run({ admin, cloud }) {
      const [provider] = await admin.placement.resourceProviders.all();
      assert.ok(provider);
      const inventories = await admin.placement.inventories(provider.uuid);
      assert.ok((inventories["VCPU"]?.total ?? 0) > 0);
      assert.ok("VCPU" in (await admin.placement.usages(provider.uuid)));
      assert.ok((await admin.placement.traits(provider.uuid)).length > 0);
      const offered = await admin.placement.candidates({ resources: "VCPU:1,MEMORY_MB:64" });
      assert.ok(offered.allocation_requests.length > 0);
      assert.ok(provider.uuid in offered.provider_summaries);
      await failsWith(cloud.placement.resourceProviders.all(), "OPENSTACK_FORBIDDEN");
    },
  },
  {
    name: "objects are stored with their checksums, listed in the order of their names, and deleted",
    needs: { services: ["object-store"] },
    async run({ cloud: { objectStore }, name, cleanup }) {
      const container = name("container");
      cleanup(() => objectStore.deleteContainer(container));
      await failsWith(objectStore.objects(container), "OPENSTACK_NOT_FOUND");
      await objectStore.createContainer(container);
      await objectStore.createContainer(container);
      const content = Uint8Array.from([0, 255, 1, 254]);
      const names = ["b/2", "b/1", "a ü%/x", "b/10"];
      cleanup(async () => {
        for (const each of names) await objectStore.delete(container, each);
      });
      for (const each of names) await objectStore.put(container, each, content);
      assert.deepEqual(await objectStore.get(container, "a ü%/x"), content);
      assert.equal(await objectStore.get(container, "b/3"), undefined);
      const listed = async (listing: object) =>
        (await objectStore.objects(container, listing)).map((each) => each.name);
      assert.deepEqual(await listed({}), ["a ü%/x", "b/1", "b/10", "b/2"]);
      assert.deepEqual(await listed({ prefix: "b/", marker: "b/1", limit: 1 }), ["b/10"]);
      await objectStore.put(container, "b/1", Uint8Array.from([7]));
      assert.equal((await objectStore.objects(container, { prefix: "b/1" }))[0]?.bytes, 1);
      await failsWith(objectStore.deleteContainer(container), "OPENSTACK_CONFLICT");
      await objectStore.delete(container, "b/1");
      await objectStore.delete(container, "b/1");
      assert.equal(await objectStore.get(container, "b/1"), undefined);
    },
  },
  {
    name: "a stack is created from a template, lists its resources and outputs, and is deleted with them",
    needs: { services: ["orchestration"], templates: true },
    async run(context) {
      const { orchestration } = context.cloud;
      const template = {
        heat_template_version: "2018-08-31",
        parameters: { note: { type: "string", default: "none" } },
        resources: { text: { type: "OS::Heat::Value", properties: { value: { get_param: "note" } } } },
        outputs: { said: { value: { get_attr: ["text", "value"] } } },
      };
      const name = context.name("stack");
      const made = await orchestration.create({ stack_name: name, template, parameters: { note: "hello" } });
      const reference = { id: made.id, stack_name: name };
      context.cleanup(async () => {
        await orchestration.delete(reference);
        await eventually(
          context,
          () => orchestration.find(made.id),
          (s) => s === undefined || s.stack_status === "DELETE_COMPLETE",
        );
      });
      const done = await eventually(
        context,
        () => orchestration.stack(made.id),
        (s) => s.stack_status === "CREATE_COMPLETE",
      );
      assert.equal(done.outputs?.[0]?.output_value, "hello");
      assert.deepEqual(
        (await orchestration.resources(reference)).map((r) => r.resource_type),
        ["OS::Heat::Value"],
      );
      assert.equal((await orchestration.template(reference))["heat_template_version"], "2018-08-31");
      assert.equal((await orchestration.find(name))?.id, made.id);
    },
  },
  {
    name: "a cluster template is described, patched and deleted",
    needs: { services: ["container-infrastructure-management"] },
    async run(context) {
      const { clusterTemplates } = context.cloud.containerInfrastructure;
      const images = await context.cloud.image.images.all();
      const image = images.find((i) => (i as unknown as Record<string, unknown>)["os_distro"] === "fedora-coreos");
      assert.ok(image, "an image of fedora-coreos");
      const made = await clusterTemplates.create({
        name: context.name("template"),
        coe: "kubernetes",
        image_id: image.id,
        external_network_id: context.externalNetwork,
        flavor_id: context.flavor,
        labels: { kube_tag: "v1.23.3" },
      });
      context.cleanup(() => clusterTemplates.delete(made.uuid));
      assert.equal(made.coe, "kubernetes");
      assert.equal(made.labels["kube_tag"], "v1.23.3");
      const patch = [{ op: "replace", path: "/dns_nameserver", value: "9.9.9.9" }] as const;
      assert.equal((await clusterTemplates.update(made.uuid, patch)).dns_nameserver, "9.9.9.9");
      assert.equal((await clusterTemplates.find(made.uuid))?.name, context.name("template"));
    },
  },
];
