import { createHash } from "node:crypto";
import { Hono, type Context } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { htmlPage, plainText } from "../kernel/html-page.ts";
import { listImages } from "./list.ts";
import { addImageDataRoutes } from "./data.ts";
import { addImageMemberRoutes } from "./members.ts";
import { addMetadefRoutes } from "./metadefs.ts";
import { imageFor, imageTables, imageView, type ImageTables } from "./model.ts";
import { schemas } from "./schemas.ts";
import { addImportRoutes, importMethods } from "./imports.ts";
import { taskTable } from "./task-model.ts";
import { addTaskRoutes } from "./tasks.ts";
import { addImageWriteRoutes } from "./writes.ts";

/** Glance v2: https://docs.openstack.org/api-ref/image/v2/ . */
export function createImageService(kernel: Kernel): Service {
  const tables = imageTables(kernel);
  seedImages(kernel, tables);
  const app: Service["app"] = new Hono();
  app.use("*", async (c, next) => {
    await next();
    // Who accepts nothing (`Accept:`) is given no page, but a text.
    if (c.req.header("accept") !== "" || !c.res.headers.get("content-type")?.startsWith("text/html")) return;
    const text = plainText(await c.res.text());
    const headers = new Headers(c.res.headers);
    headers.set("content-type", "text/plain; charset=UTF-8");
    headers.delete("content-length");
    c.res = new Response(text, { status: c.res.status, headers });
  });
  app.get("/", (c) => c.json({ versions: versions(c) }, 300));
  app.get("/versions", (c) => c.json({ versions: versions(c) }));
  app.get("/v2/images", (c) => {
    const url = new URL(c.req.url);
    const { page, more } = listImages(tables, c.get("caller"), url.searchParams);
    const last = page.at(-1);
    const query = (marker?: string) => {
      const parameters = new URLSearchParams(url.searchParams);
      parameters.delete("marker");
      if (marker !== undefined) parameters.append("marker", marker);
      return parameters.size === 0 ? "/v2/images" : `/v2/images?${parameters.toString()}`;
    };
    return c.json({
      images: page.map((image) => imageView(image, c.get("caller"))),
      first: query(),
      schema: "/v2/schemas/images",
      ...(more && last ? { next: query(last.id) } : {}),
    });
  });
  app.get("/v2/images/:id", (c) =>
    c.json(imageView(imageFor(tables, c.get("caller"), c.req.param("id")), c.get("caller"))),
  );
  addImageWriteRoutes(app, kernel, tables);
  addImageDataRoutes(app, kernel, tables);
  addImageMemberRoutes(app, kernel, tables);
  addMetadefRoutes(app, kernel);
  const tasks = taskTable(kernel);
  addImportRoutes(app, kernel, { ...tables, tasks });
  addTaskRoutes(app, kernel, tasks);
  app.get("/v2/info/import", (c) => {
    const methods = { description: "Import methods available.", type: "array", value: importMethods };
    return c.json({ "import-methods": methods });
  });
  app.get("/v2/schemas/:name{.+}", (c) => {
    const schema = schemas[c.req.param("name")];
    if (!schema) throw htmlPage(404, {});
    return c.json(schema);
  });
  app.all("*", () => {
    throw htmlPage(404, {});
  });
  return {
    type: "image",
    name: "glance",
    catalogPath: "",
    open: ["", "/", "/versions"],
    unauthorized: () => htmlPage(401, {}),
    app,
  };
}

function versions(c: Context): readonly object[] {
  const links = [{ rel: "self", href: `${new URL(c.req.url).origin}/image/v2/` }];
  const minors = [15, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
  return minors.map((minor, place) => ({ id: `v2.${minor}`, status: place === 0 ? "CURRENT" : "SUPPORTED", links }));
}

/** cirros and fedora-coreos, of the admin's project, for all; nothing if there are images. */
function seedImages(kernel: Kernel, { images, data }: ImageTables): void {
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
