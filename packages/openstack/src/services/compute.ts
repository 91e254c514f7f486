import type { Clock } from "@causeway/foundation";
import type { ServiceClient } from "../session/client.ts";
import type { ComputeService } from "../types/cloud.ts";
import type * as C from "../types/compute.ts";
import { createCollection } from "./collection.ts";
import { createComputeExtras } from "./compute-extras.ts";
import { absoluteLimits } from "./limits.ts";
import { listIn, objectIn } from "./wire.ts";

/** Nova. */
export function createComputeService(client: ServiceClient, clock: Clock): ComputeService {
  return {
    ...createComputeExtras(client),
    servers: createCollection<C.Server, C.ServerCreate, C.ServerUpdate>(client, {
      route: "/servers",
      listRoute: "/servers/detail",
      one: "server",
      many: "servers",
      envelope: ({ schedulerHints, ...server }) => ({
        server,
        ...(schedulerHints && { "os:scheduler_hints": schedulerHints }),
      }),
      complete: (answer, create) => acceptedServer(objectIn<{ id: string }>(answer, "server").id, create, clock.now()),
    }),
    serverGroups: createCollection(client, {
      route: "/os-server-groups",
      one: "server_group",
      many: "server_groups",
    }),
    async availabilityZones(options) {
      const body = await client.send({ method: "GET", route: "/os-availability-zone" }, options);
      return listIn(body, "availabilityZoneInfo");
    },
    limits: (options) => absoluteLimits(client, options),
  };
}

/**
 * A server right after Nova accepted it. Nova's response to a create (202) has the id and an administrator's
 * password only; the password is dropped here, and what is known by the API's contract fills the rest: the state is
 * BUILD and there are no addresses. Reading it would cost a call for each server and add nothing.
 */
function acceptedServer(id: string, create: C.ServerCreate, now: number): C.Server {
  const instant = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    id,
    name: create.name,
    status: "BUILD",
    tenant_id: "",
    user_id: "",
    created: instant,
    updated: instant,
    hostId: "",
    addresses: {},
    metadata: { ...create.metadata },
    tags: [...(create.tags ?? [])],
    key_name: create.key_name ?? null,
    flavor: { id: create.flavorRef },
    image: create.imageRef === undefined ? "" : { id: create.imageRef },
    "OS-EXT-STS:vm_state": "building",
    "OS-EXT-STS:task_state": "scheduling",
    "OS-EXT-STS:power_state": 0,
    config_drive: create.config_drive === true ? "True" : "",
  };
}
