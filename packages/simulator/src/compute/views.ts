import { createHash } from "node:crypto";
import type { Context } from "hono";
import { requestedPorts, zones, type ComputeEnv, type ComputeParts, type Flavor, type Server } from "./model.ts";

/** A request to Nova. */
export type ComputeContext = Context<ComputeEnv>;
type View = Record<string, unknown>;

/** Root of the service, as the caller sees it. */
export const rootOf = (c: Context): string => `${new URL(c.req.url).origin}/compute`;

/** The two links of a resource: with the version in the path, and the bookmark without it. */
export function linksOf(c: Context, kind: string, id: string): readonly object[] {
  const root = rootOf(c);
  return [
    { rel: "self", href: `${root}/v2.1/${kind}/${id}` },
    { rel: "bookmark", href: `${root}/${kind}/${id}` },
  ];
}

const bookmark = (c: Context, kind: string, id: string) => ({
  id,
  links: [{ rel: "bookmark", href: `${rootOf(c)}/${kind}/${id}` }],
});

/** "…Z" with microseconds and no zone, as Nova writes some instants. */
const micros = (timestamp: string | null) => (timestamp === null ? null : timestamp.replace(/Z$/, ".000000"));

/** The status that clients see: "ACTIVE", "SHUTOFF", "VERIFY_RESIZE", …; a task can hide the state ("REBOOT"). */
export function statusOf(server: Server): string {
  switch (server.vm_state) {
    case "building":
      return "BUILD";
    case "active":
      return busyStates[server.task_state ?? ""] ?? "ACTIVE";
    case "stopped":
      return busyStates[server.task_state ?? ""] ?? "SHUTOFF";
    case "resized":
      return server.task_state === "resize_reverting" ? "REVERT_RESIZE" : "VERIFY_RESIZE";
    case "rescued":
      return "RESCUE";
    case "paused":
    case "suspended":
    case "shelved_offloaded":
    case "error":
    case "deleted":
      return server.vm_state.toUpperCase();
  }
}

/** What a running or stopped server is called while a task changes it. */
const busyStates: Readonly<Record<string, string>> = {
  reboot_started: "REBOOT",
  reboot_started_hard: "HARD_REBOOT",
  rebuilding: "REBUILD",
  resize_prep: "RESIZE",
  migrating: "MIGRATING",
  updating_password: "PASSWORD",
};

const powerStates: Readonly<Record<Server["vm_state"], number>> = {
  building: 0,
  active: 1,
  paused: 3,
  suspended: 4,
  stopped: 4,
  rescued: 1,
  resized: 1,
  shelved_offloaded: 4,
  error: 0,
  deleted: 0,
};

/** The host a server runs on; null while it has none. */
export const hostOf = (server: Server): string | null =>
  server.launched_at === null || server.vm_state === "shelved_offloaded" ? null : (zones[server.zone] ?? null);

/** A server in a list without details. */
export const briefView = (c: Context, server: Server): View => ({
  id: server.id,
  name: server.name,
  links: linksOf(c, "servers", server.id),
});

/** A server in full. `show`: the response to GET of one server, which has more fields than a list. */
export function serverView(c: ComputeContext, parts: ComputeParts, server: Server, show = true): View {
  const minor = c.get("minor");
  const status = statusOf(server);
  const admin = c.get("caller").isAdmin;
  return {
    id: server.id,
    name: server.name,
    status,
    tenant_id: server.project_id,
    user_id: server.user_id,
    metadata: server.metadata,
    hostId:
      (server.networked || server.launched_at !== null) && server.vm_state !== "shelved_offloaded"
        ? hostId(server)
        : "",
    image: server.image_id === "" ? "" : bookmark(c, "images", server.image_id),
    flavor: minor < 47 ? bookmark(c, "flavors", server.flavor.id) : embeddedFlavor(server.flavor),
    created: server.created,
    updated: server.updated,
    addresses: server.networked ? addressesOf(parts, server) : {},
    accessIPv4: server.access_v4 ?? "",
    accessIPv6: server.access_v6 ?? "",
    links: linksOf(c, "servers", server.id),
    "OS-DCF:diskConfig": server.disk_config ?? "MANUAL",
    ...(progressing.has(status) ? { progress: 0 } : {}),
    ...(server.fault ? { fault: server.fault } : {}),
    "OS-EXT-AZ:availability_zone": server.zone,
    config_drive: server.config_drive ? "True" : "",
    key_name: server.key_name,
    "OS-SRV-USG:launched_at": micros(server.launched_at),
    "OS-SRV-USG:terminated_at": micros(server.terminated_at),
    ...securityGroups(parts, server),
    ...(admin ? adminView(server, minor) : {}),
    ...(!admin && minor >= 90 ? { "OS-EXT-SRV-ATTR:hostname": server.hostname } : {}),
    "OS-EXT-STS:task_state": server.task_state === "reboot_started_hard" ? "reboot_started" : server.task_state,
    "OS-EXT-STS:vm_state": server.vm_state,
    "OS-EXT-STS:power_state": powerStates[server.vm_state],
    "os-extended-volumes:volumes_attached": server.volumes.map((v) =>
      minor < 3 ? { id: v.volume_id } : { id: v.volume_id, delete_on_termination: v.delete_on_termination },
    ),
    ...laterFields(server, { minor, admin, show }),
  };
}

/** Fields that the responses of PUT and of a rebuild have only from 2.75 on; a rebuild names the key from 2.54 on. */
const laterInChanges = [
  ..."OS-EXT-AZ:availability_zone OS-EXT-STS:power_state OS-EXT-STS:task_state OS-EXT-STS:vm_state".split(" "),
  ..."OS-SRV-USG:launched_at OS-SRV-USG:terminated_at config_drive key_name security_groups host_status".split(" "),
  ..."os-extended-volumes:volumes_attached OS-EXT-SRV-ATTR:hostname OS-EXT-SRV-ATTR:host".split(" "),
  ..."OS-EXT-SRV-ATTR:instance_name OS-EXT-SRV-ATTR:hypervisor_hostname OS-EXT-SRV-ATTR:reservation_id".split(" "),
  ..."OS-EXT-SRV-ATTR:launch_index OS-EXT-SRV-ATTR:kernel_id OS-EXT-SRV-ATTR:ramdisk_id".split(" "),
  ..."OS-EXT-SRV-ATTR:root_device_name OS-EXT-SRV-ATTR:user_data".split(" "),
];

/** A server as PUT and rebuild return it. */
export function changedView(c: ComputeContext, parts: ComputeParts, server: Server): View {
  const all = serverView(c, parts, server);
  if (c.get("minor") >= 75) return all;
  const shown = { ...all, addresses: server.networked ? addressesOf(parts, server, true) : {} };
  return Object.fromEntries(Object.entries(shown).filter(([field]) => !laterInChanges.includes(field)));
}

function laterFields(server: Server, { minor, admin, show }: { minor: number; admin: boolean; show: boolean }): View {
  return {
    ...(admin && minor >= 16 ? { host_status: "UP" } : {}),
    ...(minor >= 9 ? { locked: server.locked } : {}),
    ...(minor >= 73 ? { locked_reason: server.locked_reason } : {}),
    ...(minor >= 19 ? { description: server.description } : {}),
    ...(minor >= 26 ? { tags: server.tags } : {}),
    ...(minor >= 63 ? { trusted_image_certificates: null } : {}),
    ...(minor >= 71 && show ? { server_groups: server.group_id === null ? [] : [server.group_id] } : {}),
  };
}

function adminView(server: Server, minor: number): View {
  const host = hostOf(server);
  return {
    "OS-EXT-SRV-ATTR:host": host,
    "OS-EXT-SRV-ATTR:instance_name": `instance-${server.number.toString(16).padStart(8, "0")}`,
    "OS-EXT-SRV-ATTR:hypervisor_hostname": host,
    ...(minor < 3
      ? {}
      : {
          "OS-EXT-SRV-ATTR:reservation_id": server.reservation_id,
          "OS-EXT-SRV-ATTR:launch_index": 0,
          "OS-EXT-SRV-ATTR:hostname": server.hostname,
          "OS-EXT-SRV-ATTR:kernel_id": "",
          "OS-EXT-SRV-ATTR:ramdisk_id": "",
          "OS-EXT-SRV-ATTR:root_device_name": "/dev/sda",
          "OS-EXT-SRV-ATTR:user_data": server.user_data,
        }),
  };
}

/** Statuses in which a server shows its progress. */
const progressing = new Set(["ACTIVE", "BUILD", "REBUILD", "RESIZE", "VERIFY_RESIZE", "MIGRATING"]);

/** The host under a name that shows a project only whether two servers share it. */
export const hostId = (server: Server) =>
  createHash("sha224")
    .update(server.project_id + (zones[server.zone] ?? ""))
    .digest("hex");

const embeddedFlavor = (flavor: Flavor) => ({
  vcpus: flavor.vcpus,
  ram: flavor.ram,
  disk: flavor.disk,
  ephemeral: flavor.ephemeral ?? 0,
  swap: flavor.swap ?? 0,
  original_name: flavor.name,
  extra_specs: flavor.extra_specs,
});

/** Addresses by the name of their network, fixed and floating. */
export function addressesOf(parts: ComputeParts, server: Server, brief = false): View {
  const out: Record<string, object[]> = {};
  for (const address of parts.network.serverAddresses(server.id, requestedPorts(server))) {
    (out[address.network] ??= []).push(
      brief
        ? { version: address.version, addr: address.addr }
        : {
            version: address.version,
            addr: address.addr,
            "OS-EXT-IPS:type": address.kind,
            "OS-EXT-IPS-MAC:mac_addr": address.mac_address,
          },
    );
  }
  return out;
}

/** One entry per port and group, as Nova returns them: with repeats; absent while there is no port. */
function securityGroups(parts: ComputeParts, server: Server): View {
  if (!server.networked) return {};
  const names = parts.network.portsOf(server.id).flatMap((port) => parts.network.securityGroupNames(port.id));
  return names.length === 0 ? {} : { security_groups: names.map((name) => ({ name })) };
}

/** The same request from after `marker`: parameters sorted, the marker last, as Nova writes it. */
export function nextLink(c: ComputeContext, marker: string): string {
  const url = new URL(c.req.url);
  const query = new URLSearchParams(url.searchParams);
  query.delete("marker");
  query.sort();
  query.append("marker", marker);
  return `${url.origin}${url.pathname}?${query.toString()}`;
}
