import type { RawCase } from "../case.ts";
import type { FilteredList } from "./list.ts";
import { made } from "./made.ts";

export const nova = (
  path: string,
  many: string,
  make: readonly RawCase[],
  more: FilteredList["more"] = {},
): FilteredList => ({
  service: "compute",
  path,
  many,
  make,
  more,
  headers: { "openstack-api-version": "compute 2.79" },
  as: "member",
});

export const newest = { "openstack-api-version": "compute 2.79" };
/** The last version that has the proxies of other services. */
export const proxied = { "openstack-api-version": "compute 2.35" };

export const image: RawCase = {
  says: "an image",
  service: "image",
  call: "GET /v2/images?name=cirros",
  keep: { image: "images.0.id" },
};
export const server = (networks: unknown): readonly RawCase[] => [
  image,
  made({
    path: "/servers",
    one: "server",
    body: { name: "{run}-s", description: "{run}", flavorRef: "1", imageRef: "{image}", networks, tags: ["{run}"] },
    keep: "server",
    more: { as: "member", headers: newest },
  }),
  {
    says: "the server is active",
    call: "GET /servers/{server}",
    headers: newest,
    until: { field: "server.status", is: ["ACTIVE", "ERROR"] },
    keep: { id: "server.id" },
  },
];
/** What has to be gone after the server is declared before it. */
export const volume: readonly RawCase[] = [
  made({
    path: "/volumes",
    one: "volume",
    body: { name: "{run}-v", description: "{run}", size: 1 },
    keep: "volume",
    more: { as: "member", service: "volumev3" },
  }),
  {
    says: "the volume is available",
    service: "volumev3",
    call: "GET /volumes/{volume}",
    until: { field: "volume.status", is: ["available", "error"] },
    keep: { id: "volume.id" },
  },
];
export const there = (path: string, id: string, more: Partial<RawCase> = {}): RawCase => ({
  says: `one of ${path}`,
  call: `GET ${path}`,
  as: "admin",
  headers: newest,
  keep: { id },
  ...more,
});
export const member = (each: RawCase): RawCase => ({ ...each, as: "member", service: "network" });
export const byAdmin = (list: FilteredList): FilteredList => ({ ...list, as: "admin" });
