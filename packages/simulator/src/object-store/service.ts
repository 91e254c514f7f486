import { Hono } from "hono";
import type { Kernel, Service } from "../kernel/interface.ts";
import { mountContainers } from "./resources/containers.ts";
import { objectStore } from "./model.ts";
import { mountObjects } from "./resources/objects.ts";

/**
 * Swift v1, https://docs.openstack.org/api-ref/object-store/ : containers of a project's account, and objects with
 * their checksums. No large objects in segments, access lists, versions or temporary URLs.
 */
export function createObjectStoreService(kernel: Kernel): Service {
  const store = objectStore(kernel);
  const app: Service["app"] = new Hono();
  mountContainers(app, store);
  mountObjects(app, store);
  return { type: "object-store", name: "swift", catalogPath: "/v1/AUTH_{project_id}", app };
}
