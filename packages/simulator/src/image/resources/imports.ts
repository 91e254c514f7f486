import { htmlPage } from "../../kernel/html-page.ts";
import type { Kernel, Service } from "../../kernel/interface.ts";
import { at, bodyOf, textAt } from "../../kernel/json.ts";
import { completed } from "./data.ts";
import { download, passesFilter } from "../rules/download.ts";
import { imageFor, ownImage, type Image, type ImageTables } from "../model.ts";
import { taskView, type Task, type TaskTable } from "../rules/task-model.ts";

/** Methods of the interoperable image import that are enabled, as GET /v2/info/import lists them. */
const importMethods = ["glance-direct", "web-download"] as const;
const STORE = "file";
/** The lock of the one import that an image may have at a time. */
const LOCK = "os_glance_import_task";

const refused = (status: number, explanation: string): Error => htmlPage(status, { explanation });

/**
 * Importing an image's bytes: from what was staged, or from a URL.
 * https://docs.openstack.org/api-ref/image/v2/#interoperable-image-import
 */
export function mountImports(app: Service["app"], kernel: Kernel, tables: ImageTables & { tasks: TaskTable }): void {
  const importer = new Importer(kernel, tables);
  app.get("/v2/info/import", (c) => {
    const methods = { description: "Import methods available.", type: "array", value: importMethods };
    return c.json({ "import-methods": methods });
  });
  app.put("/v2/images/:id/stage", async (c) => {
    if (c.req.header("content-type") !== "application/octet-stream") throw refused(415, "Invalid content type");
    const { id, status } = ownImage(tables, c.get("caller"), c.req.param("id"));
    const bytes = Buffer.from(await c.req.arrayBuffer());
    if (status !== "queued") throw refused(409, `Image status transition from ${status} to uploading is not allowed`);
    kernel.atomic(() => {
      tables.staged.insert({ id, base64: bytes.toString("base64") });
      tables.images.update(id, { status: "uploading", size: bytes.length, updated_at: kernel.timestamp() });
    });
    return c.body(null, 204);
  });
  app.post("/v2/images/:id/import", async (c) => {
    const body = await bodyOf(c.req);
    const method = methodOf(body);
    const { caller } = c.var;
    const image = imageFor(tables, caller, c.req.param("id"));
    checkState(image, method);
    ownImage(tables, caller, image.id);
    if (image.properties[LOCK] !== undefined) throw refused(409, "Image has active task");
    const uri = textAt(body, "method", "uri");
    if (method === "web-download" && !passesFilter(uri)) {
      throw refused(400, `URI for web-download does not pass filtering: ${uri ?? "None"}`);
    }
    importer.begin(image, { caller, body, requestId: c.req.header("x-openstack-request-id") ?? "" });
    return c.body(null, 202);
  });
  app.get("/v2/images/:id/tasks", (c) => {
    const image = imageFor(tables, c.get("caller"), c.req.param("id"));
    return c.json({ tasks: tables.tasks.by("image_id", image.id).map(taskView) });
  });
}

/** The method of an import; Glance's 400 if it is none of this cloud's. */
function methodOf(body: unknown): (typeof importMethods)[number] {
  if (at(body, "method") === undefined) throw refused(400, "Import request requires a 'method' field.");
  const name = textAt(body, "method", "name");
  if (name === undefined) throw refused(400, "Import request requires a 'name' field.");
  const method = importMethods.find((known) => known === name);
  if (!method) throw refused(400, `Unknown import method name '${name}'.`);
  for (const flag of ["all_stores_must_succeed", "all_stores"]) {
    const value = at(body, flag);
    if (value !== undefined && typeof value !== "boolean") throw refused(400, `'${flag}' must be boolean value only`);
  }
  return method;
}

function checkState(image: Image, method: string): void {
  const { status, container_format: container, disk_format: disk } = image;
  if (status === "active") throw refused(409, "Image with status active cannot be target for import");
  if (status !== "queued" && method === "web-download")
    throw refused(409, "Image needs to be in 'queued' state to use 'web-download' method");
  if (status !== "uploading" && method === "glance-direct")
    throw refused(409, "Image needs to be staged before 'glance-direct' method can be used");
  if (container === null) throw refused(409, "'container_format' needs to be set before import");
  if (disk === null) throw refused(409, "'disk_format' needs to be set before import");
}

interface Begin {
  readonly caller: { readonly projectId: string; readonly userId: string };
  readonly body: unknown;
  readonly requestId: string;
}

/** Carries tasks out: pending, processing, and then success or failure. */
class Importer {
  readonly #kernel: Kernel;
  readonly #tables: ImageTables & { readonly tasks: TaskTable };
  /** Bytes that came, or why none did, until the next timer keeps them. */
  readonly #downloads = new Map<string, Buffer | Error>();

  constructor(kernel: Kernel, tables: ImageTables & { readonly tasks: TaskTable }) {
    this.#kernel = kernel;
    this.#tables = tables;
    kernel.timers.handler("image.import", (id) => this.#process(id));
    kernel.timers.handler("image.import.end", (id) => this.#end(id));
    // A download that the end of the process cut off begins again.
    for (const { id, status } of tables.tasks.all()) {
      if (status === "processing") kernel.timers.after(0, "image.import", id);
    }
  }

  begin(image: Image, { caller, body, requestId }: Begin): void {
    const kernel = this.#kernel;
    const now = kernel.timestamp();
    const task: Task = {
      id: kernel.newId(),
      image_id: image.id,
      type: "api_image_import",
      status: "pending",
      owner: caller.projectId,
      user_id: caller.userId,
      request_id: requestId,
      input: { image_id: image.id, import_req: body, backend: [STORE] },
      result: null,
      message: "",
      created_at: now,
      updated_at: now,
      expires_at: null,
    };
    const stores = { os_glance_importing_to_stores: STORE, os_glance_failed_import: "" };
    kernel.atomic(() => {
      this.#tables.tasks.insert(task);
      this.#tables.images.update(image.id, { properties: { ...image.properties, ...stores, [LOCK]: task.id } });
      kernel.timers.after(kernel.delay("image.import"), "image.import", task.id);
    });
  }

  #process(id: string): void {
    const { tasks, images } = this.#tables;
    const task = tasks.get(id);
    if (!task) return;
    const now = this.#kernel.timestamp();
    tasks.update(id, { status: "processing", updated_at: now });
    if (images.get(task.image_id)) images.update(task.image_id, { status: "importing", updated_at: now });
    const uri = textAt(task.input, "import_req", "method", "uri");
    if (textAt(task.input, "import_req", "method", "name") === "glance-direct") this.#end(id);
    else {
      download(uri ?? "").then(
        (bytes) => this.#arrived(id, bytes),
        (error: unknown) => this.#arrived(id, error instanceof Error ? error : new Error(String(error))),
      );
    }
  }

  #arrived(id: string, result: Buffer | Error): void {
    this.#downloads.set(id, result);
    try {
      this.#kernel.timers.after(0, "image.import.end", id);
    } catch {
      // The cloud was closed meanwhile; the next start downloads again.
    }
  }

  #end(id: string): void {
    const { tasks, images, staged } = this.#tables;
    const task = tasks.get(id);
    if (!task) return;
    const image = images.get(task.image_id);
    const kept = staged.get(task.image_id);
    const result = this.#downloads.get(id) ?? (kept ? Buffer.from(kept.base64, "base64") : undefined);
    this.#downloads.delete(id);
    if (result === undefined && image) return this.#process(id);
    if (kept) staged.remove(kept.id);
    if (image) this.#settle(image, result instanceof Error ? undefined : result);
    const expires_at = new Date(this.#kernel.clock.now() + 48 * 3_600_000).toISOString().replace(/\.\d+Z$/, "Z");
    const over = { updated_at: this.#kernel.timestamp(), expires_at };
    if (result instanceof Error || !image) {
      tasks.update(id, { ...over, status: "failure", message: "Task failed due to Internal Error" });
    } else tasks.update(id, { ...over, status: "success", result: { image_id: image.id } });
  }

  /** The image after its import; undefined: there are no bytes. */
  #settle(image: Image, bytes: Buffer | undefined): void {
    const { [LOCK]: _lock, ...others } = image.properties;
    const failed = bytes ? "" : STORE;
    const properties = { ...others, os_glance_importing_to_stores: "", os_glance_failed_import: failed };
    if (bytes) completed(this.#kernel, this.#tables, { image: { ...image, properties }, bytes });
    else {
      const queued = { status: "queued", size: null, updated_at: this.#kernel.timestamp() };
      this.#tables.images.update(image.id, { ...queued, properties });
    }
  }
}
