import type { ServiceClient } from "../session/client.ts";
import type * as X from "../types/compute-extras.ts";
import type { Flavor, Keypair } from "../types/compute.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { createServerActions } from "./server-actions.ts";
import { listIn, objectIn } from "./wire.ts";

/** Nova's API other than servers. */
export function createComputeExtras(client: ServiceClient): X.ComputeExtras {
  const quota = (answer: unknown): X.ComputeQuota => {
    const entries = Object.entries(objectIn<Record<string, unknown>>(answer, "quota_set"));
    return Object.fromEntries(entries.filter((e): e is [string, number] => typeof e[1] === "number"));
  };
  return {
    serverActions: createServerActions(client),
    interfaces: (server) => interfacesOf(client, server),
    volumeAttachments: (server) => volumesOf(client, server),
    async setMetadata(id, metadata, options) {
      await client.send({ method: "POST", route: "/servers/{id}/metadata", ids: [id], body: { metadata } }, options);
    },
    deleteMetadata: (id, key, options) =>
      ignoringNotFound(
        client.send({ method: "DELETE", route: "/servers/{id}/metadata/{id}", ids: [id, key] }, options),
      ),
    async setServerTags(id, tags, options) {
      await client.send({ method: "PUT", route: "/servers/{id}/tags", ids: [id], body: { tags } }, options);
    },
    async instanceActions(id, options) {
      const call = { method: "GET" as const, route: "/servers/{id}/os-instance-actions", ids: [id] };
      return listIn(await client.send(call, options), "instanceActions");
    },
    keypairs: createCollection<Keypair, X.KeypairCreate, never>(client, {
      route: "/os-keypairs",
      one: "keypair",
      many: "keypairs",
      unwrap: "keypair",
    }),
    flavors: createCollection<Flavor, X.FlavorCreate, { description: string }>(client, {
      route: "/flavors",
      listRoute: "/flavors/detail",
      one: "flavor",
      many: "flavors",
    }),
    async setExtraSpecs(id, specs, options) {
      const body = { extra_specs: specs };
      await client.send({ method: "POST", route: "/flavors/{id}/os-extra_specs", ids: [id], body }, options);
    },
    hypervisors: createCollection<X.Hypervisor, never>(client, {
      route: "/os-hypervisors",
      listRoute: "/os-hypervisors/detail",
      one: "hypervisor",
      many: "hypervisors",
    }),
    hosts: createCollection<X.ComputeHost, never>(client, { route: "/os-services", one: "service", many: "services" }),
    async deleteHost(id, options) {
      await client.send({ method: "DELETE", route: "/os-services/{id}", ids: [id] }, options);
    },
    async changeHost(id, change, options) {
      await client.send({ method: "PUT", route: "/os-services/{id}", ids: [id], body: { ...change } }, options);
    },
    aggregates: createCollection<X.HostAggregate, never>(client, {
      route: "/os-aggregates",
      one: "aggregate",
      many: "aggregates",
    }),
    quota: async (id, options) =>
      quota(await client.send({ method: "GET", route: "/os-quota-sets/{id}", ids: [id] }, options)),
    async setQuota(id, limits, options) {
      const call = { method: "PUT" as const, route: "/os-quota-sets/{id}", ids: [id], body: { quota_set: limits } };
      return quota(await client.send(call, options));
    },
  };
}

function interfacesOf(client: ServiceClient, server: string): X.InterfaceAttachments {
  const route = "/servers/{id}/os-interface";
  return {
    all: async (options) =>
      listIn(await client.send({ method: "GET", route, ids: [server] }, options), "interfaceAttachments"),
    async attach(interfaceAttachment, options) {
      const call = { method: "POST" as const, route, ids: [server], body: { interfaceAttachment } };
      return objectIn(await client.send(call, options), "interfaceAttachment");
    },
    detach: (port, options) =>
      ignoringNotFound(client.send({ method: "DELETE", route: `${route}/{id}`, ids: [server, port] }, options)),
  };
}

function volumesOf(client: ServiceClient, server: string): X.VolumeAttachments {
  const route = "/servers/{id}/os-volume_attachments";
  return {
    all: async (options) =>
      listIn(await client.send({ method: "GET", route, ids: [server] }, options), "volumeAttachments"),
    async attach(volumeAttachment, options) {
      const call = { method: "POST" as const, route, ids: [server], body: { volumeAttachment } };
      return objectIn(await client.send(call, options), "volumeAttachment");
    },
    detach: (volume, options) =>
      ignoringNotFound(client.send({ method: "DELETE", route: `${route}/{id}`, ids: [server, volume] }, options)),
  };
}
