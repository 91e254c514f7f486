import { createHash } from "node:crypto";
import { isOpenStackNotFound } from "../errors/predicates.ts";
import type { ServiceClient } from "../session/client.ts";
import type * as S from "../types/object-store.ts";
import { ignoringNotFound } from "./collection.ts";
import { listIn } from "./wire.ts";

const BYTES = "application/octet-stream";
const OBJECT = "/{id}/{id}";
/** A download is held in memory as one array of bytes. */
const LARGEST = 64 * 2 ** 20;

/** Swift. Its address in the catalog has the account. */
export function createObjectStoreService(client: ServiceClient): S.ObjectStoreService {
  return {
    async createContainer(name, options) {
      await client.send({ method: "PUT", route: "/{id}", ids: [name] }, options);
    },
    deleteContainer: (name, options) =>
      ignoringNotFound(client.send({ method: "DELETE", route: "/{id}", ids: [name] }, options)),
    async objects(container, listing = {}, options) {
      const query = { format: "json", ...listing };
      const body = await client.send({ method: "GET", route: "/{id}", ids: [container], query }, options);
      return listIn({ objects: body }, "objects");
    },
    async put(container, name, data, options) {
      const headers = { ETag: createHash("md5").update(data).digest("hex") };
      const size = Math.ceil(data.length / 2 ** 20);
      const content = { type: BYTES, data };
      await client.send({ method: "PUT", route: OBJECT, ids: [container, name], content, headers, size }, options);
    },
    async get(container, name, options) {
      try {
        const ids = [container, name];
        const call = { method: "GET" as const, route: OBJECT, ids, accept: BYTES, limit: LARGEST };
        return ((await client.send(call, options)) as Uint8Array | undefined) ?? new Uint8Array();
      } catch (error) {
        if (isOpenStackNotFound(error)) return undefined;
        throw error;
      }
    },
    delete: (container, name, options) =>
      ignoringNotFound(client.send({ method: "DELETE", route: OBJECT, ids: [container, name] }, options)),
  };
}
