import { Hono, type Context } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { htmlPage, plainText } from "../kernel/html-page.ts";
import { mountImageData } from "./resources/data.ts";
import { mountImageMembers } from "./resources/members.ts";
import { mountMetadefs } from "./resources/metadefs.ts";
import { imageTables } from "./model.ts";
import { mountImports } from "./resources/imports.ts";
import { mountSchemas } from "./resources/schema-documents.ts";
import { seedImages } from "./seed.ts";
import { taskTable } from "./rules/task-model.ts";
import { mountTasks } from "./resources/tasks.ts";
import { mountImages } from "./resources/images.ts";

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
  mountImages(app, kernel, tables);
  mountImageData(app, kernel, tables);
  mountImageMembers(app, kernel, tables);
  mountMetadefs(app, kernel);
  const tasks = taskTable(kernel);
  mountImports(app, kernel, { ...tables, tasks });
  mountTasks(app, kernel, tasks);
  mountSchemas(app);
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
