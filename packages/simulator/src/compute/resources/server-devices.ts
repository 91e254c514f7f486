import { at, bodyOf, textAt } from "../../kernel/json.ts";
import type { LinkedPort } from "../../kernel/links.ts";
import { invalid } from "../rules/create-request.ts";
import type { Lifecycle } from "../rules/lifecycle.ts";
import {
  computeError,
  requireAdmin,
  type ComputeApp,
  type ComputeParts,
  type Server,
  type ServerVolume,
} from "../model.ts";
import { orderedBy, requireUnlocked, serverOf } from "./servers.ts";

/** Interfaces and volumes of a server. */
export function mountDevices(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  mountInterfaces(app, parts, lifecycle);
  mountVolumes(app, parts, lifecycle);
  parts.kernel.timers.handler("server.detach-port", (argument) => {
    const [serverId = "", portId = ""] = argument.split(" ");
    const server = parts.tables.servers.get(serverId);
    if (!server || parts.network.port(portId)?.device_id !== serverId) return;
    if (server.own_ports.includes(portId)) parts.network.deletePort(portId);
    else parts.network.unbindPort(portId);
    lifecycle.touch(serverId, { own_ports: server.own_ports.filter((id) => id !== portId) });
  });
}

const interfaceView = (port: LinkedPort, minor: number) => ({
  net_id: port.network_id,
  port_id: port.id,
  mac_addr: port.mac_address,
  port_state: port.status,
  fixed_ips: port.fixed_ips,
  ...(minor >= 70 ? { tag: null } : {}),
});

function mountInterfaces(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  const { network, kernel } = parts;
  const path = "/v2.1/servers/:id/os-interface";
  app.get(path, (c) => {
    const ports = network.portsOf(serverOf(c, parts).id);
    return c.json({ interfaceAttachments: ports.map((port) => interfaceView(port, c.get("minor"))) });
  });
  const portOf = (server: Server, id: string) => {
    const port = network.port(id);
    if (port?.device_id === server.id) return port;
    throw computeError(404, `Port id ${id} could not be found.`);
  };
  app.get(`${path}/:port`, (c) => {
    const port = portOf(serverOf(c, parts), c.req.param("port"));
    return c.json({ interfaceAttachment: interfaceView(port, c.get("minor")) });
  });
  app.post(path, async (c) => {
    const asked = at(await bodyOf(c.req), "interfaceAttachment");
    const server = serverOf(c, parts);
    requireUnlocked(c, server);
    requireState(server, ["active", "paused", "stopped"], "attach_interface");
    const port = kernel.atomic(() => attachPort(parts, server, asked));
    lifecycle.note(lifecycle.touch(server.id, {}), { action: "attach_interface", ...orderedBy(c) });
    return c.json({ interfaceAttachment: interfaceView(port, c.get("minor")) });
  });
  app.delete(`${path}/:port`, (c) => {
    const server = serverOf(c, parts);
    requireUnlocked(c, server);
    requireState(server, ["active", "paused", "stopped"], "detach_interface");
    lifecycle.note(server, { action: "detach_interface", ...orderedBy(c) });
    // Nova only sends the order to the host; no error is ever reported for a missing port.
    kernel.timers.after(kernel.delay("server.detach"), "server.detach-port", `${server.id} ${c.req.param("port")}`);
    return c.body(null, 202);
  });
}

/** Throws 409 unless the server is in one of these states. */
export function requireState(server: Server, states: readonly string[], action: string): void {
  if (server.task_state !== null && action !== "delete") {
    throw computeError(409, `Cannot '${action}' instance ${server.id} while it is in task_state ${server.task_state}`);
  }
  if (states.includes(server.vm_state)) return;
  throw computeError(409, `Cannot '${action}' instance ${server.id} while it is in vm_state ${server.vm_state}`);
}

function attachPort(parts: ComputeParts, server: Server, asked: unknown): LinkedPort {
  const { network, tables } = parts;
  const given = textAt(asked, "port_id");
  const id = given ?? makePort(parts, server, asked);
  const port = network.port(id);
  if (port?.project_id !== server.project_id) throw computeError(404, `Port id ${id} could not be found.`);
  if (port.device_id !== "") throw computeError(409, `Port ${id} is still in use.`);
  network.bindPort(id, server.id, server.zone);
  if (given === undefined) tables.servers.update(server.id, { own_ports: [...server.own_ports, id] });
  // The response is sent before Neutron has seen the interface come up.
  const bound = network.port(id) ?? port;
  network.activatePort(id);
  return bound;
}

function makePort({ network }: ComputeParts, server: Server, asked: unknown): string {
  const network_id = textAt(asked, "net_id") ?? network.networksOf(server.project_id)[0];
  if (network_id === undefined || network.networkName(network_id, server.project_id) === undefined) {
    throw computeError(404, `Network ${network_id ?? ""} could not be found.`);
  }
  const fixed = at(asked, "fixed_ips");
  const ip_address = Array.isArray(fixed) ? textAt(fixed[0], "ip_address") : undefined;
  return network.createPort(server.project_id, { network_id, ...(ip_address === undefined ? {} : { ip_address }) }).id;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const volumeStates = ["active", "paused", "suspended", "stopped", "resized"];

function mountVolumes(app: ComputeApp, parts: ComputeParts, lifecycle: Lifecycle): void {
  const { volumes, kernel } = parts;
  const path = "/v2.1/servers/:id/os-volume_attachments";
  app.get(path, (c) => {
    const server = serverOf(c, parts);
    return c.json({ volumeAttachments: server.volumes.map((v) => attachmentView(server, v, c.get("minor"))) });
  });
  const attached = (server: Server, id: string) => {
    const volume = server.volumes.find((v) => v.volume_id === id);
    if (!volume) throw computeError(404, `Instance ${server.id} is not attached to volume ${id}`);
    return volume;
  };
  app.get(`${path}/:volume`, (c) => {
    const server = serverOf(c, parts);
    const volume = attached(server, c.req.param("volume"));
    return c.json({ volumeAttachment: attachmentView(server, volume, c.get("minor")) });
  });
  app.post(path, async (c) => {
    const asked = at(await bodyOf(c.req), "volumeAttachment");
    const server = serverOf(c, parts);
    requireUnlocked(c, server);
    requireState(server, volumeStates, "attach_volume");
    const volume_id = attachable(parts, server, textAt(asked, "volumeId") ?? "");
    const device = deviceFor(server, textAt(asked, "device"));
    const wait = kernel.delay("server.attach");
    const attachment_id = volumes.attach(volume_id, { serverId: server.id, device }, wait);
    const delete_on_termination = at(asked, "delete_on_termination") === true;
    const tag = textAt(asked, "tag");
    const kept = { delete_on_termination, ...(tag === undefined ? {} : { tag }) };
    const volume = { volume_id, attachment_id, bdm_uuid: kernel.newId(), device, ...kept };
    const holding = lifecycle.touch(server.id, { volumes: [...server.volumes, volume] });
    lifecycle.note(holding, { action: "attach_volume", ...orderedBy(c) });
    const { id, ...rest } = attachmentView(server, volume, Math.min(c.get("minor"), 88));
    return c.json({ volumeAttachment: { id, ...rest } });
  });
  // The same volume: whether it ends with the server (2.85). Another: it takes the place of this one, which only Nova
  // itself asks for.
  app.put(`${path}/:volume`, async (c) => {
    const asked = at(await bodyOf(c.req), "volumeAttachment");
    const wanted = textAt(asked, "volumeId") ?? "";
    if (!uuid.test(wanted)) throw invalid("volumeId", wanted, `'${wanted}' is not a 'uuid'`);
    const id = c.req.param("volume");
    const swaps = id !== wanted || c.get("minor") < 85;
    if (swaps) requireAdmin(c.get("caller"), "os-volumes-attachments:swap");
    const server = serverOf(c, parts);
    const had = attached(server, id);
    const delete_on_termination = at(asked, "delete_on_termination") === true;
    const volume = swaps ? swapped(parts, server, { had, wanted }) : { ...had, delete_on_termination };
    lifecycle.touch(server.id, { volumes: server.volumes.map((one) => (one === had ? volume : one)) });
    return c.body(null, 202);
  });
  app.delete(`${path}/:volume`, (c) => {
    const server = serverOf(c, parts);
    requireUnlocked(c, server);
    requireState(server, volumeStates, "detach_volume");
    const volume = attached(server, c.req.param("volume"));
    volumes.detach(volume.volume_id, server.id, kernel.delay("server.detach"));
    const left = lifecycle.touch(server.id, { volumes: server.volumes.filter((v) => v !== volume) });
    lifecycle.note(left, { action: "detach_volume", ...orderedBy(c) });
    return c.body(null, 202);
  });
}

function swapped(
  parts: ComputeParts,
  server: Server,
  { had, wanted }: { readonly had: ServerVolume; readonly wanted: string },
): ServerVolume {
  requireState(server, volumeStates, "swap_volume");
  if (!parts.volumes.volume(server.project_id, wanted)) throw computeError(400, `Volume ${wanted} could not be found.`);
  const volume_id = attachable(parts, server, wanted);
  parts.volumes.detach(had.volume_id, server.id, 0);
  const attachment_id = parts.volumes.attach(volume_id, { serverId: server.id, device: had.device }, 0);
  return { ...had, volume_id, attachment_id };
}

function attachable({ volumes }: ComputeParts, server: Server, id: string): string {
  const volume = volumes.volume(server.project_id, id);
  if (!volume) throw computeError(404, `Volume ${id} could not be found.`);
  if (volume.status === "available" || (volume.multiattach && volume.status === "in-use")) return id;
  if (server.volumes.some(({ volume_id }) => volume_id === id)) {
    throw computeError(400, `Invalid volume: volume ${id} is already attached to instances: ${server.id}`);
  }
  throw computeError(400, `Invalid volume: volume ${id} status must be 'available'; it is '${volume.status}'`);
}

/** The requested name, on the bus of the root disk; else the next free one. */
const deviceFor = (server: Server, asked: string | undefined): string =>
  asked === undefined ? nextDevice(server) : `/dev/sd${asked.replace(/^(\/dev\/)?([shv]|xv)d/, "")}`;

/** The next free name; /dev/sda is the root disk's. */
function nextDevice(server: Server): string {
  const taken = new Set(["/dev/sda", ...server.volumes.map((v) => v.device)]);
  let letter = 97;
  while (taken.has(`/dev/sd${String.fromCodePoint(letter)}`)) letter++;
  return `/dev/sd${String.fromCodePoint(letter)}`;
}

function attachmentView(server: Server, volume: ServerVolume, minor: number) {
  return {
    ...(minor < 89 ? { id: volume.volume_id } : {}),
    volumeId: volume.volume_id,
    serverId: server.id,
    device: volume.device,
    ...(minor >= 70 ? { tag: volume.tag ?? null } : {}),
    ...(minor >= 79 ? { delete_on_termination: volume.delete_on_termination } : {}),
    ...(minor >= 89 ? { attachment_id: volume.attachment_id, bdm_uuid: volume.bdm_uuid } : {}),
  };
}
