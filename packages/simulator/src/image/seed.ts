import { createHash } from "node:crypto";
import type { Kernel } from "../kernel/interface.ts";
import type { ImageTables } from "./model.ts";

/** cirros and fedora-coreos, of the admin's project, for all; nothing if there are images. */
export function seedImages(kernel: Kernel, { images, data }: ImageTables): void {
  if (images.all().length > 0) return;
  const owner = kernel.table<{ id: string; name: string }>("_project", ["name"]).by("name", "admin")[0]?.id ?? "admin";
  const bytes = Buffer.from("causeway".repeat(8192));
  const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest("hex");
  const now = kernel.timestamp();
  for (const name of ["cirros", "fedora-coreos"]) {
    const id = kernel.newId();
    data.insert({ id, base64: bytes.toString("base64") });
    images.insert({
      id,
      name,
      status: "active",
      visibility: "public",
      owner,
      disk_format: "raw",
      container_format: "bare",
      size: bytes.length,
      virtual_size: bytes.length,
      checksum: digest("md5"),
      os_hash_algo: "sha512",
      os_hash_value: digest("sha512"),
      protected: false,
      os_hidden: false,
      min_ram: 0,
      min_disk: 0,
      created_at: now,
      updated_at: now,
      tags: [],
      properties: { os_distro: name, hw_disk_bus: "virtio" },
    });
  }
}
