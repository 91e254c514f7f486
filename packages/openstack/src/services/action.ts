import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";

/**
 * An order to an object: POST …/{id}/action with `{[name]: body}`, as compute, block storage and shared file systems
 * have it.
 */
export type Act = (id: string, order: Readonly<Record<string, unknown>>, options?: CallOptions) => Promise<unknown>;

/** Actions of the objects of one collection: "/servers". */
export function actionsOf(client: ServiceClient, collection: string): Act {
  return (id, order, options) =>
    client.send({ method: "POST", route: `${collection}/{id}/action`, ids: [id], body: order }, options);
}
