import assert from "node:assert/strict";
import type { Port } from "../types/network.ts";
import type { Server, ServerCreate } from "../types/compute.ts";
import { eventually, failsWith, makeSubnet, type ContractCase, type ContractContext } from "./case.ts";

/** What we rely on of Nova. */
export const serverCases: readonly ContractCase[] = [
  {
    name: "a server on a given port, with user data and tags, becomes ACTIVE and is deleted; its port remains",
    async run(context) {
      const { compute, network } = context.cloud;
      const { server, port, create } = await makeServer(context);
      assert.equal(server.status, "BUILD");
      const active = await eventually(
        context,
        () => compute.servers.get(server.id),
        (s) => s.status === "ACTIVE",
      );
      assert.equal(active.name, create.name);
      assert.deepEqual(active.tags, [context.name("tag")]);
      assert.deepEqual(active.metadata, { owner: "contract" });
      assert.equal(Object.values(active.addresses)[0]?.[0]?.addr, port.fixed_ips[0]?.ip_address);
      const up = await eventually(
        context,
        () => network.ports.get(port.id),
        (p) => p.status === "ACTIVE",
      );
      assert.equal(up.device_id, server.id);
      const listed = await compute.servers.all({ tags: [context.name("tag")], name: `^${create.name}$` });
      assert.deepEqual(
        listed.map((s) => s.id),
        [server.id],
      );
      await compute.servers.delete(server.id);
      await eventually(
        context,
        () => compute.servers.find(server.id),
        (s) => s === undefined,
      );
      await compute.servers.delete(server.id);
      const left = await eventually(
        context,
        () => network.ports.get(port.id),
        (p) => p.device_id === "",
      );
      assert.equal(left.id, port.id);
    },
  },
  {
    name: "a server of an unknown flavor, image or zone is a bad request at once",
    async run(context) {
      const { compute } = context.cloud;
      const create = await serverBody(context, { networks: "none" });
      const id = "00000000-0000-4000-8000-000000000000";
      for (const wrong of [{ flavorRef: id }, { imageRef: id }, { availability_zone: "nowhere" }]) {
        await failsWith(compute.servers.create({ ...create, ...wrong }), "OPENSTACK_BAD_REQUEST");
      }
    },
  },
  {
    name: "a create over quota is refused as such, and creates nothing",
    async run(context) {
      const { compute, blockStorage } = context.cloud;
      const most = (await compute.limits())["maxTotalInstances"] ?? -1;
      if (most >= 0) {
        const many = { min_count: most + 1, max_count: most + 1 };
        const create = await serverBody(context, many);
        const error = await failsWith(compute.servers.create(create), "OPENSTACK_QUOTA_EXCEEDED");
        assert.match(error.hint ?? "", /quota/);
        assert.deepEqual(await compute.servers.all({ name: create.name }), []);
      }
      const name = context.name("volume");
      await failsWith(blockStorage.volumes.create({ name, size: 10_000_000 }), "OPENSTACK_QUOTA_EXCEEDED");
      assert.deepEqual(await blockStorage.volumes.all({ name }), []);
    },
  },
  {
    name: "a server group is created with its policy, and deleted",
    async run(context) {
      const { serverGroups } = context.cloud.compute;
      const group = await serverGroups.create({ name: context.name("group"), policy: "soft-anti-affinity" });
      context.cleanup(() => serverGroups.delete(group.id));
      assert.equal((await serverGroups.get(group.id)).policy, "soft-anti-affinity");
      await serverGroups.delete(group.id);
      assert.equal(await serverGroups.find(group.id), undefined);
    },
  },
  {
    name: "a volume becomes available, and is deleted",
    async run(context) {
      const { volumes } = context.cloud.blockStorage;
      const volume = await volumes.create({ name: context.name("volume"), size: 1, metadata: { owner: "contract" } });
      context.cleanup(() => volumes.delete(volume.id));
      const ready = await eventually(
        context,
        () => volumes.get(volume.id),
        (v) => v.status === "available",
      );
      assert.deepEqual(ready.metadata, { owner: "contract" });
      assert.equal((await volumes.all({ name: context.name("volume") })).length, 1);
      await volumes.delete(volume.id);
      await eventually(
        context,
        () => volumes.find(volume.id),
        (v) => v === undefined,
      );
    },
  },
  {
    name: "a volume shows its attachment from the end of attaching to the end of detaching",
    async run(context) {
      const { compute, blockStorage } = context.cloud;
      const server = await compute.servers.create(await serverBody(context, {}));
      context.cleanup(() => gone(context, compute.servers, server.id));
      const volume = await blockStorage.volumes.create({ name: context.name("volume"), size: 1 });
      context.cleanup(() => gone(context, blockStorage.volumes, volume.id));
      const read = () => blockStorage.volumes.get(volume.id);
      await eventually(
        context,
        () => compute.servers.get(server.id),
        ({ status }) => status === "ACTIVE",
      );
      await eventually(context, read, ({ status }) => status === "available");
      const seen = new Map<string, number>();
      /** The attachments that each status is first seen with. */
      const until = (end: string) =>
        eventually(context, read, ({ status, attachments }) => {
          if (!seen.has(status)) seen.set(status, attachments.length);
          return status === end;
        });
      const attachments = compute.volumeAttachments(server.id);
      await attachments.attach({ volumeId: volume.id });
      await until("in-use");
      await attachments.detach(volume.id);
      await until("available");
      const expected = { reserved: 0, attaching: 0, "in-use": 1, detaching: 1, available: 0 };
      for (const [status, count] of Object.entries(expected)) assert.equal(seen.get(status) ?? count, count, status);
      assert.equal(seen.get("in-use"), 1);
    },
  },
];

interface Removable {
  delete(id: string): Promise<void>;
  find(id: string): Promise<unknown>;
}

async function gone(context: ContractContext, collection: Removable, id: string): Promise<void> {
  await collection.delete(id);
  await eventually(
    context,
    () => collection.find(id),
    (found) => found === undefined,
  );
}

async function serverBody(context: ContractContext, rest: Partial<ServerCreate>): Promise<ServerCreate> {
  const { compute, image } = context.cloud;
  const flavor = (await compute.flavors.all()).find((f) => f.name === context.flavor);
  const [disk] = await image.images.all({ name: context.image });
  assert.ok(flavor && disk, "the flavor and the image");
  return { name: context.name("server"), flavorRef: flavor.id, imageRef: disk.id, networks: "none", ...rest };
}

/** A server on its own port; both are removed at the end. */
export async function makeServer(
  context: ContractContext,
): Promise<{ server: Server; port: Port; create: ServerCreate }> {
  const { compute, network } = context.cloud;
  const subnet = await makeSubnet(context);
  const port = await network.ports.create({ name: context.name("port"), network_id: subnet.network_id });
  context.cleanup(() => network.ports.delete(port.id));
  const create = await serverBody(context, {
    networks: [{ port: port.id }],
    user_data: Buffer.from("#cloud-config\n").toString("base64"),
    tags: [context.name("tag")],
    metadata: { owner: "contract" },
  });
  const server = await compute.servers.create(create);
  context.cleanup(() => gone(context, compute.servers, server.id));
  return { server, port, create };
}
