import type { Context } from "hono";
import type { Caller, Kernel, Table } from "../kernel/interface.ts";
import { ServiceError } from "../kernel/service-error.ts";

/** A container of a project; its id is "PROJECT/NAME". */
export interface Container {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
}

/** An object, without its bytes; its id is "PROJECT/CONTAINER/NAME". */
export interface StoredObject {
  readonly id: string;
  readonly container: string;
  readonly name: string;
  readonly bytes: number;
  readonly hash: string;
  readonly content_type: string;
  readonly last_modified: string;
}

/** The tables of Swift. */
export interface ObjectStore {
  readonly kernel: Kernel;
  readonly containers: Table<Container>;
  readonly objects: Table<StoredObject>;
  readonly contents: Table<{ readonly id: string; readonly base64: string }>;
}

/** A request to Swift. */
export type SwiftContext = Context<{ Variables: { caller: Caller } }>;

/** Swift's default limits: names in bytes, one object, one page of a listing. */
export const LIMITS = { container: 256, object: 1024, size: 5 * 2 ** 30, page: 10_000 };

/** Swift's tables in the kernel's store. */
export const objectStore = (kernel: Kernel): ObjectStore => ({
  kernel,
  containers: kernel.table("container", ["project_id"]),
  objects: kernel.table("object", ["container"]),
  contents: kernel.table("_object_content"),
});

/** The caller's project, whose account the path has to name; 403 otherwise. */
export function account(c: SwiftContext): string {
  const { projectId, roles } = c.get("caller");
  if (c.req.param("account") !== `AUTH_${projectId}` || roles.length === 0)
    throw plain(403, "Access was denied to this resource.");
  return projectId;
}

/** The container of a path, or 404. */
export function containerOf({ containers }: ObjectStore, c: SwiftContext): Container {
  const found = containers.get(`${account(c)}/${c.req.param("container")}`);
  if (!found) throw plain(404, "The resource could not be found.");
  return found;
}

/** An error as Swift writes it: a page. */
export function plain(status: number, message: string): ServiceError {
  const body = `<html><h1>${message}</h1></html>`;
  return new ServiceError(status, body, { "content-type": "text/html; charset=UTF-8" });
}
