import { isRecord } from "@causeway/foundation";
import { isOpenStackConflict, isBadRequest } from "../errors/predicates.ts";
import type { ServiceClient } from "../session/client.ts";
import type { NetworkService } from "../types/cloud.ts";
import type { CallOptions } from "../types/collection.ts";
import type * as N from "../types/network.ts";
import { createCollection, ignoringNotFound } from "./collection.ts";
import { createBulk } from "./network-bulk.ts";
import { createNetworkExtensions } from "./network-extensions.ts";
import { listIn } from "./wire.ts";

type InterfaceBody = { subnet_id: string } | { port_id: string };

/** Neutron. */
export function createNetworkService(client: ServiceClient): NetworkService {
  const plainPorts = createCollection<N.Port, N.PortCreate>(client, { route: "/ports", one: "port", many: "ports" });
  const ports: typeof plainPorts = {
    ...plainPorts,
    create: async (body, options) =>
      withTags(await plainPorts.create(await sendable(body, options), options), body, options),
  };
  let aliases: Promise<ReadonlySet<string>> | undefined;

  const hasInterface = async (routerId: string, body: InterfaceBody, options?: CallOptions): Promise<boolean> => {
    if ("port_id" in body) return (await ports.find(body.port_id, options))?.device_id === routerId;
    const held = await ports.all({ device_id: routerId }, options);
    return held.some((port) => port.fixed_ips.some((ip) => ip.subnet_id === body.subnet_id));
  };

  const bulk = createBulk(client);

  const setTags: NetworkService["setTags"] = async (kind, id, tags, options) => {
    await client.send({ method: "PUT", route: `/${kind}/{id}/tags`, ids: [id], body: { tags } }, options);
  };

  const extensions: NetworkService["extensions"] = (options) => {
    aliases ??= readExtensions(client, options).catch((error: unknown) => {
      aliases = undefined;
      throw error;
    });
    return aliases;
  };

  /** Without its extension Neutron refuses the tags of a port that is created, or drops them and says nothing. */
  const sendable = async (body: N.PortCreate, options?: CallOptions): Promise<N.PortCreate> => {
    if (body.tags === undefined || (await extensions(options)).has("tag-ports-during-bulk-creation")) return body;
    const { tags: _later, ...rest } = body;
    return rest;
  };
  const withTags = async (port: N.Port, { tags = [] }: N.PortCreate, options?: CallOptions): Promise<N.Port> => {
    if (tags.every((tag) => port.tags.includes(tag))) return port;
    await setTags("ports", port.id, tags, options);
    return { ...port, tags: [...tags] };
  };

  return {
    ...createNetworkExtensions(client, extensions),
    ports,
    networks: createCollection(client, { route: "/networks", one: "network", many: "networks" }),
    subnets: createCollection(client, { route: "/subnets", one: "subnet", many: "subnets" }),
    routers: createCollection(client, { route: "/routers", one: "router", many: "routers" }),
    securityGroups: createCollection(client, {
      route: "/security-groups",
      one: "security_group",
      many: "security_groups",
    }),
    securityGroupRules: createCollection(client, {
      route: "/security-group-rules",
      one: "security_group_rule",
      many: "security_group_rules",
    }),
    floatingIps: createCollection(client, { route: "/floatingips", one: "floatingip", many: "floatingips" }),
    createSecurityGroupRules: (rules, options) => bulk("security_group_rules", rules, options),
    async createPorts(bodies, options) {
      const sent = await Promise.all(bodies.map((body) => sendable(body, options)));
      const made = await bulk<N.Port>("ports", sent, options);
      return Promise.all(made.map((port, i) => withTags(port, bodies[i] ?? { name: "", network_id: "" }, options)));
    },
    async addRouterInterface(routerId, body, options) {
      try {
        const route = "/routers/{id}/add_router_interface";
        await client.send({ method: "PUT", route, ids: [routerId], body }, options);
      } catch (error) {
        if (!isBadRequest(error) && !isOpenStackConflict(error)) throw error;
        if (!(await hasInterface(routerId, body, options))) throw error;
      }
    },
    async removeRouterInterface(routerId, body, options) {
      const route = "/routers/{id}/remove_router_interface";
      await ignoringNotFound(client.send({ method: "PUT", route, ids: [routerId], body }, options));
    },
    setTags,
    extensions,
  };
}

async function readExtensions(client: ServiceClient, options?: CallOptions): Promise<ReadonlySet<string>> {
  const body = await client.send({ method: "GET", route: "/extensions" }, options);
  const aliases = listIn<unknown>(body, "extensions").map((e) => (isRecord(e) ? e["alias"] : undefined));
  return new Set(aliases.filter((a) => typeof a === "string"));
}
