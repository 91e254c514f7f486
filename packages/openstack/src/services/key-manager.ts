import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import type * as K from "../types/key-manager.ts";
import { createCollection } from "./collection.ts";
import { objectIn } from "./wire.ts";

/** Barbican. */
export function createKeyManagerService(client: ServiceClient): K.KeyManagerService {
  const keys = <T, Create>(many: string, reference: string): K.KeyCollection<T, Create> => {
    const plain = createCollection<T, Create>(client, { route: `/${many}`, one: "", many });
    return {
      list: (query, options) => plain.list(query, options),
      all: (query, options) => plain.all(query, options),
      get: (id, options) => plain.get(lastPart(id), options),
      find: (id, options) => plain.find(lastPart(id), options),
      create: (body, options = {}) =>
        client.create({
          method: "POST",
          route: `/${many}`,
          body,
          read: (answer) => String(objectIn<Record<string, unknown>>(answer, "")[reference]),
          options,
        }),
      delete: (id, options) => plain.delete(lastPart(id), options),
    };
  };
  const aclRoute = (kind: string, id: string) => ({ route: `/${kind}/{id}/acl`, ids: [lastPart(id)] });
  return {
    secrets: keys<K.Secret, K.SecretCreate>("secrets", "secret_ref"),
    containers: keys<K.SecretContainer, K.SecretContainerCreate>("containers", "container_ref"),
    orders: keys<K.KeyOrder, K.KeyOrderCreate>("orders", "order_ref"),
    async payload(id, options = {}) {
      const { contentType: accept = "application/octet-stream", ...rest } = options;
      const call = { method: "GET" as const, route: "/secrets/{id}/payload", ids: [lastPart(id)], accept };
      return (await client.send({ ...call, requires: accept }, rest)) as Uint8Array;
    },
    async acl(kind, id, options?: CallOptions) {
      return objectIn(await client.send({ method: "GET", ...aclRoute(kind, id) }, options), "");
    },
    async setAcl(kind, id, acl, options) {
      await client.send({ method: "PUT", ...aclRoute(kind, id), body: acl }, options);
    },
  };
}

/** The id in a reference such as http://host:9311/v1/secrets/ID; an id is its own last part. */
function lastPart(reference: string): string {
  return reference.replace(/\/+$/, "").split("/").at(-1) ?? reference;
}
