/**
 * The block devices of a simulated server: a loop device for each attached volume, linked as udev does on a KVM guest.
 */
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { CloudInformer, Volume } from "@causeway/openstack";

const GIB = 1024 ** 3;

export interface Devices {
  /** In place of /dev/disk/by-id. */
  readonly byId: string;
  close(): void;
}

/** Follows the volumes of one server. Needs root, and files with holes in `dir`. */
export function followDevices(volumes: CloudInformer<Volume>, server: string, dir: string): Devices {
  const byId = join(dir, "by-id");
  mkdirSync(byId);
  const loops = new Map<string, { readonly device: string; size: number }>();

  const grow = (file: string, size: number) => {
    const descriptor = openSync(file, "a");
    ftruncateSync(descriptor, size * GIB);
    closeSync(descriptor);
  };
  const link = (id: string) => join(byId, `virtio-${id.slice(0, 20)}`);
  const detach = (id: string) => {
    const loop = loops.get(id);
    if (!loop) return;
    loops.delete(id);
    rmSync(link(id), { force: true });
    execFileSync("losetup", ["--detach", loop.device]);
  };
  const follow = (volume: Volume) => {
    const file = join(dir, `${volume.id}.img`);
    const loop = loops.get(volume.id);
    const isHere = volume.attachments.some(({ server_id }) => server_id === server);
    if (!isHere) return detach(volume.id);
    if (volume.status !== "in-use") return undefined;
    if (!loop) {
      grow(file, volume.size);
      const device = execFileSync("losetup", ["--find", "--show", file], { encoding: "utf8" }).trim();
      loops.set(volume.id, { device, size: volume.size });
      symlinkSync(device, link(volume.id));
    } else if (loop.size < volume.size) {
      grow(file, volume.size);
      execFileSync("losetup", ["--set-capacity", loop.device]);
      loop.size = volume.size;
    }
    return undefined;
  };
  const stop = volumes.onChange(({ type, object }) => (type === "deleted" ? detach(object.id) : follow(object)));
  return {
    byId,
    close() {
      stop();
      for (const id of loops.keys()) detach(id);
    },
  };
}
