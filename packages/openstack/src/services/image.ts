import type { ServiceClient } from "../session/client.ts";
import type { CallOptions } from "../types/collection.ts";
import type * as I from "../types/image.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { listIn, objectIn } from "./wire.ts";

const BYTES = "application/octet-stream";
const PATCH = "application/openstack-images-v2.1-json-patch";

/** A download is held in memory as one array of bytes. */
const LARGEST_IMAGE = 2 * 1024 ** 3;

/** Glance. Its pages have 25 items by default. */
export function createImageService(client: ServiceClient): I.ImageService {
  const images = createCollection<I.Image, I.ImageCreate, I.ImagePatch>(client, {
    route: "/images",
    one: "",
    many: "images",
    defaults: { limit: 1000 },
  });
  const order = async (method: "POST" | "PUT" | "DELETE", below: string, ids: string[], options?: CallOptions) => {
    await client.send({ method, route: `/images/{id}${below}`, ids }, options);
  };
  return {
    images: {
      ...images,
      async update(id, patch, options) {
        const content = { type: PATCH, data: JSON.stringify(patch) };
        return objectIn(await client.send({ method: "PATCH", route: "/images/{id}", ids: [id], content }, options), "");
      },
    },
    async upload(id, data, options) {
      const content = { type: BYTES, data };
      const size = data instanceof Uint8Array ? Math.ceil(data.length / 2 ** 20) : 3_600;
      await client.send({ method: "PUT", route: "/images/{id}/file", ids: [id], content, size }, options);
    },
    async download(id, options) {
      const call = {
        method: "GET" as const,
        route: "/images/{id}/file",
        ids: [id],
        accept: BYTES,
        limit: LARGEST_IMAGE,
      };
      return ((await client.send(call, options)) as Uint8Array | undefined) ?? new Uint8Array();
    },
    deactivate: (id, options) => order("POST", "/actions/deactivate", [id], options),
    reactivate: (id, options) => order("POST", "/actions/reactivate", [id], options),
    addTag: (id, tag, options) => order("PUT", "/tags/{id}", [id, tag], options),
    removeTag: (id, tag, options) => ignoringNotFound(order("DELETE", "/tags/{id}", [id, tag], options)),
    members: (id) => membersOf(client, id),
  };
}

function membersOf(client: ServiceClient, image: string): I.ImageMembers {
  const route = "/images/{id}/members";
  const one = `${route}/{id}`;
  return {
    all: async (options) => listIn(await client.send({ method: "GET", route, ids: [image] }, options), "members"),
    async add(member, options) {
      return objectIn(await client.send({ method: "POST", route, ids: [image], body: { member } }, options), "");
    },
    async answer(member, status, options) {
      const call = { method: "PUT" as const, route: one, ids: [image, member], body: { status } };
      return objectIn(await client.send(call, options), "");
    },
    remove: (member, options) =>
      ignoringNotFound(client.send({ method: "DELETE", route: one, ids: [image, member] }, options)),
  };
}
