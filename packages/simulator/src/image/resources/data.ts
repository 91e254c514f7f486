import { createHash } from "node:crypto";
import { htmlPage } from "../../kernel/html-page.ts";
import type { Kernel, Service } from "../../kernel/interface.ts";
import { imageFor, ownImage, type Image, type ImageTables } from "../model.ts";

/** Keeps an image's bytes: it is active, with what is computed of them. */
export function completed(
  kernel: Kernel,
  tables: ImageTables,
  { image, bytes }: { readonly image: Image; readonly bytes: Buffer },
): void {
  const digest = (algorithm: string) => createHash(algorithm).update(bytes).digest("hex");
  tables.data.insert({ id: image.id, base64: bytes.toString("base64") });
  tables.images.update(image.id, {
    status: "active",
    size: bytes.length,
    virtual_size: image.disk_format === "raw" ? bytes.length : null,
    checksum: digest("md5"),
    os_hash_algo: "sha512",
    os_hash_value: digest("sha512"),
    updated_at: kernel.timestamp(),
    properties: image.properties,
  });
}

/** An image's bytes, and whether they may be had. */
export function mountImageData(app: Service["app"], kernel: Kernel, tables: ImageTables): void {
  app.put("/v2/images/:id/file", async (c) => {
    const image = ownImage(tables, c.get("caller"), c.req.param("id"));
    const { status, disk_format, container_format } = image;
    if (c.req.header("content-type") !== "application/octet-stream") {
      throw htmlPage(415, {
        explanation: `The request media type ${c.req.header("content-type") ?? ""} is not supported by this server. `,
      });
    }
    const bytes = new Uint8Array(await c.req.arrayBuffer());
    if (status !== "queued") {
      throw htmlPage(409, { explanation: `Image status transition from ${status} to saving is not allowed` });
    }
    if (disk_format === null || container_format === null) {
      throw htmlPage(400, {
        explanation: "Properties disk_format, container_format must be set prior to saving data.",
      });
    }
    kernel.atomic(() => completed(kernel, tables, { image, bytes: Buffer.from(bytes) }));
    return c.body(null, 204);
  });
  app.get("/v2/images/:id/file", (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    if (image.status === "deactivated" && !c.get("caller").isAdmin) {
      throw htmlPage(403, {
        explanation: "The requested image has been deactivated. Image data download is forbidden.",
      });
    }
    const data = tables.data.get(image.id);
    if (!data) return c.body(null, 204);
    const bytes = Buffer.from(data.base64, "base64");
    const headers = { "content-type": "application/octet-stream", "content-md5": image.checksum ?? "" };
    return c.body(bytes, 200, headers);
  });
  for (const [action, from, to] of [
    ["deactivate", "active", "deactivated"],
    ["reactivate", "deactivated", "active"],
  ] as const) {
    app.post(`/v2/images/:id/actions/${action}`, (c) => {
      const { id, status } = ownImage(tables, c.get("caller"), c.req.param("id"));
      if (status === to) return c.body(null, 204);
      if (status !== from) {
        throw htmlPage(403, { explanation: `Not allowed to ${action} image in status '${status}'` });
      }
      tables.images.update(id, { status: to, updated_at: kernel.timestamp() });
      return c.body(null, 204);
    });
  }
}
