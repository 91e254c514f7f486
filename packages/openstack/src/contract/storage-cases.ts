import assert from "node:assert/strict";
import type { Volume } from "../types/block-storage.ts";
import { eventually, failsWith, type ContractCase, type ContractContext } from "./case.ts";

async function makeVolume(context: ContractContext, size = 1): Promise<Volume> {
  const { volumes } = context.cloud.blockStorage;
  const made = await volumes.create({ name: context.name("volume"), size, metadata: { a: "1" } });
  context.cleanup(async () => {
    await volumes.delete(made.id);
    await eventually(
      context,
      () => volumes.find(made.id),
      (v) => v === undefined,
    );
  });
  return isNow(context, made.id, "available");
}

function isNow(context: ContractContext, id: string, status: string): Promise<Volume> {
  return eventually(
    context,
    () => context.cloud.blockStorage.volumes.get(id),
    (v) => v.status === status,
  );
}

/** What we rely on of Cinder and Glance. */
export const storageCases: readonly ContractCase[] = [
  {
    name: "a volume is created, renamed, given metadata, extended and deleted",
    async run(context) {
      const { blockStorage } = context.cloud;
      const volume = await makeVolume(context);
      assert.equal(volume.size, 1);
      assert.deepEqual(volume.metadata, { a: "1" });
      assert.deepEqual(volume.attachments, []);
      const renamed = await blockStorage.volumes.update(volume.id, { name: context.name("renamed") });
      assert.equal(renamed.name, context.name("renamed"));
      await blockStorage.setMetadata(volume.id, { b: "2" });
      assert.deepEqual((await blockStorage.volumes.get(volume.id)).metadata, { a: "1", b: "2" });
      await blockStorage.volumeActions.extend(volume.id, 2);
      assert.equal((await isNow(context, volume.id, "available")).size, 2);
      await failsWith(blockStorage.volumeActions.extend(volume.id, 1), "OPENSTACK_BAD_REQUEST");
      const found = await blockStorage.volumes.all({ name: context.name("renamed") });
      assert.deepEqual(
        found.map((v) => v.id),
        [volume.id],
      );
    },
  },
  {
    name: "a volume is created from a snapshot, and a volume with snapshots is not deleted",
    async run(context) {
      const { snapshots, volumes } = context.cloud.blockStorage;
      const volume = await makeVolume(context);
      const snapshot = await snapshots.create({ volume_id: volume.id, name: context.name("snapshot") });
      context.cleanup(async () => {
        await snapshots.delete(snapshot.id);
        await eventually(
          context,
          () => snapshots.find(snapshot.id),
          (s) => s === undefined,
        );
      });
      const ready = await eventually(
        context,
        () => snapshots.get(snapshot.id),
        (s) => s.status === "available",
      );
      assert.equal(ready.volume_id, volume.id);
      assert.equal(ready.size, 1);
      await failsWith(volumes.delete(volume.id), "OPENSTACK_BAD_REQUEST");
      const copy = await volumes.create({ name: context.name("copy"), size: 1, snapshot_id: snapshot.id });
      context.cleanup(async () => {
        await volumes.delete(copy.id);
        await eventually(
          context,
          () => volumes.find(copy.id),
          (v) => v === undefined,
        );
      });
      assert.equal((await isNow(context, copy.id, "available")).snapshot_id, snapshot.id);
    },
  },
  {
    name: "a volume of a backup has the metadata of the volume that was backed up, and the backup's ID",
    async run(context) {
      const { backups, volumes } = context.cloud.blockStorage;
      const volume = await makeVolume(context);
      const backup = await backups.create({ volume_id: volume.id, name: context.name("backup") });
      const gone = (find: () => Promise<unknown>) => eventually(context, find, (found) => found === undefined);
      context.cleanup(async () => {
        await backups.delete(backup.id);
        await gone(() => backups.find(backup.id));
      });
      await eventually(
        context,
        () => backups.get(backup.id),
        (b) => b.status === "available",
      );
      const own = { name: context.name("restored"), size: 1, backup_id: backup.id, metadata: { own: "lost" } };
      const { id } = await volumes.create(own);
      context.cleanup(async () => {
        await volumes.delete(id);
        await gone(() => volumes.find(id));
      });
      assert.deepEqual((await isNow(context, id, "available")).metadata, { a: "1", src_backup_id: backup.id });
    },
  },
  {
    name: "a volume of an unknown type, zone or size zero is refused",
    async run(context) {
      const { volumes } = context.cloud.blockStorage;
      const wrong = [{ volume_type: "no-such-type" }, { availability_zone: "nowhere" }, { size: 0 }];
      for (const change of wrong) {
        const error = await failsWith(
          volumes.create({ name: context.name("wrong"), size: 1, ...change }),
          "OPENSTACK_BAD_REQUEST",
          "OPENSTACK_NOT_FOUND",
        );
        assert.match(String(error.details["serviceMessage"]), /\S/);
      }
    },
  },
  {
    name: "a volume's attachment is reserved, given a connector and removed",
    async run(context) {
      const { attachments } = context.cloud.blockStorage;
      const volume = await makeVolume(context);
      const attachment = await attachments.create({ volume_uuid: volume.id, instance_uuid: crypto.randomUUID() });
      context.cleanup(() => attachments.delete(attachment.id));
      assert.equal(attachment.status, "reserved");
      assert.equal((await isNow(context, volume.id, "reserved")).id, volume.id);
      await failsWith(context.cloud.blockStorage.volumes.delete(volume.id), "OPENSTACK_BAD_REQUEST");
      await attachments.delete(attachment.id);
      await isNow(context, volume.id, "available");
    },
  },
  {
    name: "volume types, zones, limits and quotas return what exists and what is used",
    async run(context) {
      const { blockStorage } = context.cloud;
      await makeVolume(context);
      // What was deleted shortly before counts, too, until it is gone.
      await eventually(
        context,
        async () => [(await blockStorage.limits())["totalVolumesUsed"], (await blockStorage.volumes.all()).length],
        ([used, there]) => used === there,
      );
      assert.ok((await blockStorage.availabilityZones()).some((z) => z.zoneState.available));
      const quota = await blockStorage.quota(await context.cloud.projectId());
      assert.ok((quota["volumes"] ?? 0) > 0 && (quota["gigabytes"] ?? 0) > 0);
    },
  },
  {
    name: "an image is described, filled, read back, patched, tagged and deleted",
    async run(context) {
      const { image } = context.cloud;
      const made = await image.images.create({
        name: context.name("image"),
        disk_format: "raw",
        container_format: "bare",
        os_distro: "none",
      });
      context.cleanup(() => image.images.delete(made.id));
      assert.equal(made.status, "queued");
      assert.equal((made as unknown as Record<string, unknown>)["os_distro"], "none");
      const bytes = new TextEncoder().encode("not much of a disk");
      await image.upload(made.id, async function* () {
        yield bytes.slice(0, 5);
        yield bytes.slice(5);
      });
      const active = await image.images.get(made.id);
      assert.equal(active.status, "active");
      assert.equal(active.size, bytes.length);
      assert.deepEqual(new Uint8Array(await image.download(made.id)), bytes);
      const patched = await image.images.update(made.id, [
        { op: "replace", path: "/min_ram", value: 64 },
        { op: "add", path: "/colour", value: "red" },
      ]);
      assert.equal(patched.min_ram, 64);
      assert.equal((patched as unknown as Record<string, unknown>)["colour"], "red");
      await image.addTag(made.id, "one");
      assert.deepEqual((await image.images.get(made.id)).tags, ["one"]);
      await image.removeTag(made.id, "one");
      await image.removeTag(made.id, "one");
      await failsWith(image.upload(made.id, bytes), "OPENSTACK_CONFLICT");
    },
  },
];
