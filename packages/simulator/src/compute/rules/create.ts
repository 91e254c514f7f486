import { randomBytes } from "node:crypto";
import type { Caller } from "../../kernel/interface.ts";
import { textAt } from "../../kernel/json.ts";
import { ServiceError } from "../../kernel/service-error.ts";
import type { LinkedVolume, VolumeRequest } from "../../kernel/volume-links.ts";
import { imageVisible } from "../../image/model.ts";
import type { AskedNetwork, BootVolume, CreateRequest, InjectedFile } from "./create-request.ts";
import { flavorFor } from "./usable-flavors.ts";
import { checkQuota } from "./limits.ts";
import { computeError, zones, type ComputeParts, type Flavor, type RequestedNetwork, type Server } from "../model.ts";

interface CreateContext {
  readonly parts: ComputeParts;
  readonly caller: Caller;
  readonly request: CreateRequest;
  readonly requestId: string;
}

/** Makes the servers of a request, in state BUILD. Throws Nova's 400, 403 or 409, and then has changed nothing. */
export function createServers(making: CreateContext): readonly Server[] {
  const { parts, caller, request } = making;
  if (request.zone !== undefined && zones[request.zone.split(":")[0] ?? ""] === undefined) {
    throw computeError(400, "The requested availability zone is not available");
  }
  const flavor = flavorOf(parts, caller, request.flavor);
  checkImage(making, flavor);
  const unknown = request.security_groups.find((group) => !parts.network.hasSecurityGroup(caller.projectId, group));
  if (unknown !== undefined) {
    throw computeError(400, `Unable to find security_group with name or id '${unknown}'`);
  }
  const requested = requestedNetworks(parts, caller, request.networks);
  checkRest(making);
  checkQuota(parts, caller.projectId, { instances: request.count, cores: flavor.vcpus, ram: flavor.ram });
  const reservation = `r-${randomBytes(5).toString("hex").slice(0, 8)}`;
  return parts.kernel.atomic(() =>
    Array.from({ length: request.count }, (_, place) => {
      const name = request.count === 1 ? request.name : `${request.name}-${place + 1}`;
      return insertServer(making, { name, flavor, requested, reservation });
    }),
  );
}

function flavorOf(parts: ComputeParts, caller: Caller, id: string): Flavor {
  const flavor = flavorFor(parts.tables, caller, id.slice(id.lastIndexOf("/") + 1));
  if (!flavor) throw computeError(400, `Flavor ${id} could not be found.`);
  return flavor;
}

function checkImage({ parts, caller, request }: CreateContext, flavor: Flavor): void {
  if (request.image === "") {
    const root = request.volumes.find((volume) => volume.boot_index === 0);
    if (!root) throw computeError(400, "Missing imageRef attribute");
    checkRoot(parts, caller, root);
    return;
  }
  const image = parts.tables.images.get(request.image);
  if (!image || !imageVisible(image, caller.projectId, caller.isAdmin)) {
    throw computeError(400, "Can not find requested image");
  }
  if (image.status !== "active") throw computeError(400, `Image ${image.id} is not active.`);
  if (flavor.ram < image.min_ram) throw computeError(400, "Flavor's memory is too small for requested image.");
}

function checkRoot(parts: ComputeParts, caller: Caller, root: BootVolume): void {
  if (root.source === "volume") {
    const volume = parts.volumes.volume(caller.projectId, root.uuid);
    if (!volume) {
      throw computeError(400, `Block Device Mapping is Invalid: failed to get volume ${root.uuid}.`);
    }
    if (!volume.bootable) {
      throw computeError(400, `Block Device ${root.uuid} is not bootable.`);
    }
    if (volume.status !== "available") {
      const why = `volume ${root.uuid} status must be 'available'; it is '${volume.status}'`;
      throw computeError(400, `Invalid volume: ${why}`);
    }
  } else if (root.source === "image") {
    const image = parts.tables.images.get(root.uuid);
    if (!image || !imageVisible(image, caller.projectId, caller.isAdmin)) {
      throw computeError(400, `Block Device Mapping is Invalid: failed to get image ${root.uuid}.`);
    }
  }
}

function requestedNetworks(
  parts: ComputeParts,
  caller: Caller,
  asked: CreateRequest["networks"],
): readonly RequestedNetwork[] {
  if (asked === "none") return [];
  if (asked === undefined || asked === "auto" || asked.length === 0) {
    const own = parts.network.networksOf(caller.projectId);
    if (own.length > 1) {
      throw computeError(409, "Multiple possible networks found, use a Network ID to be more specific.");
    }
    return own.map((network_id) => ({ network_id }));
  }
  return asked.map((network) => requestedNetwork(parts, caller, network));
}

function requestedNetwork(parts: ComputeParts, caller: Caller, asked: AskedNetwork): RequestedNetwork {
  if (asked.port !== undefined) {
    const port = parts.network.port(asked.port);
    if (!port || (port.project_id !== caller.projectId && !caller.isAdmin)) {
      throw computeError(400, `Port id ${asked.port} could not be found.`);
    }
    if (port.device_id !== "") throw computeError(409, `Port ${asked.port} is still in use.`);
    if (port.fixed_ips.length === 0) {
      throw computeError(400, `Port ${asked.port} requires a FixedIP in order to be used.`);
    }
    return { port_id: asked.port };
  }
  const id = asked.uuid ?? "";
  if (parts.network.networkName(id, caller.isAdmin ? undefined : caller.projectId) === undefined) {
    throw computeError(400, `Network ${id} could not be found.`);
  }
  return { network_id: id, ...(asked.fixed_ip === undefined ? {} : { fixed_ip: asked.fixed_ip }) };
}

function checkRest({ parts, caller, request }: CreateContext): void {
  const items = parts.kernel.quota(caller.projectId, "metadata_items");
  if (items >= 0 && Object.keys(request.metadata).length > items) {
    throw computeError(403, `Quota exceeded for metadata_items, allowed ${items}.`);
  }
  checkFiles(parts, caller.projectId, request.files);
  if (request.key !== undefined && !parts.tables.keypairs.get(`${caller.userId}/${request.key}`)) {
    throw computeError(400, "Invalid key_name provided.");
  }
  if (request.group !== undefined) {
    const group = parts.tables.groups.get(request.group);
    if (group?.project_id !== caller.projectId) {
      throw computeError(400, `Instance group ${request.group} could not be found.`);
    }
    const limit = parts.kernel.quota(caller.projectId, "server_group_members");
    if (limit >= 0 && group.members.length + request.count > limit) {
      throw computeError(403, "Quota exceeded, too many servers in group");
    }
  }
}

/** Files to inject are limited, and a server keeps them for its config drive. Throws 403. */
export function checkFiles({ kernel }: ComputeParts, projectId: string, files: readonly InjectedFile[]): void {
  const over = (resource: string, amount: number): boolean => {
    const limit = kernel.quota(projectId, resource);
    return limit >= 0 && amount > limit;
  };
  if (over("injected_files", files.length)) throw computeError(403, "Personality file limit exceeded");
  for (const { path, contents } of files) {
    for (const [what, resource, length] of [
      ["path", "injected_file_path_bytes", path.length],
      ["content", "injected_file_content_bytes", Buffer.from(contents, "base64").length],
    ] as const) {
      if (!over(resource, length)) continue;
      const limit = kernel.quota(projectId, resource);
      throw computeError(403, `Personality file ${what} exceeds maximum ${limit}`);
    }
  }
}

interface Fresh {
  readonly name: string;
  readonly flavor: Flavor;
  readonly requested: readonly RequestedNetwork[];
  /** One for all servers of a request. */
  readonly reservation: string;
}

function insertServer(making: CreateContext, { name, flavor, requested, reservation }: Fresh): Server {
  const { parts, caller, request, requestId } = making;
  const { kernel, tables, network } = parts;
  const now = kernel.timestamp();
  const zone = request.zone?.split(":")[0] ?? "nova";
  const id = kernel.newId();
  const action = { action: "create", request_id: requestId, user_id: caller.userId, message: null };
  for (const wanted of requested) {
    if (wanted.port_id !== undefined) network.bindPort(wanted.port_id, id, zone);
  }
  const server = tables.servers.insert({
    id,
    name,
    project_id: caller.projectId,
    user_id: caller.userId,
    flavor,
    image_id: request.image,
    vm_state: "building",
    task_state: "scheduling",
    metadata: request.metadata,
    tags: request.tags,
    key_name: request.key ?? null,
    user_data: request.user_data,
    config_drive: request.config_drive,
    ...(request.files.length === 0 ? {} : { files: request.files }),
    description: request.description,
    zone,
    group_id: request.group ?? null,
    created: now,
    updated: now,
    launched_at: null,
    terminated_at: null,
    fault: null,
    locked: false,
    ...request.reached,
    locked_reason: null,
    requested,
    security_groups: request.security_groups,
    networked: false,
    own_ports: [],
    volumes: disks(making, zone).map((disk, place) => attachDisk(parts, id, disk, place)),
    number: tables.servers.all().length + tables.deleted.all().length + 1,
    reservation_id: reservation,
    hostname:
      request.hostname ??
      name
        .toLowerCase()
        .replaceAll(/[^a-z0-9-]+/g, "-")
        .slice(0, 63),
    actions: [{ ...action, start_time: now, updated_at: now }],
  });
  joinGroup(parts, server);
  kernel.timers.after(kernel.delay("server.create") * 0.4, "server.network", id);
  return server;
}

interface Disk {
  readonly volume_id: string;
  readonly delete_on_termination: boolean;
  readonly tag?: string;
}

/** The volumes of a server: those given, and those Nova makes from an image, a snapshot or nothing. */
function disks({ parts, caller, request }: CreateContext, zone: string): readonly Disk[] {
  const asked = request.volumes.filter((volume) => volume.source !== "image" || volume.boot_index === 0);
  const real = request.image === "" ? asked : asked.filter((volume) => volume.source !== "image");
  return real.map(({ source, uuid, size, type, tag, delete_on_termination }) => {
    const kept = { delete_on_termination, ...(tag === undefined ? {} : { tag }) };
    if (source === "volume") return { volume_id: uuid, ...kept };
    const volume = bootVolume(parts, caller.projectId, {
      user_id: caller.userId,
      size: size || 1,
      zone,
      ...(type === undefined ? {} : { type }),
      ...(source === "image" ? { image_id: uuid } : {}),
      ...(source === "snapshot" ? { snapshot_id: uuid } : {}),
    });
    return { volume_id: volume.id, ...kept };
  });
}

/** An error of the block storage service is returned as Nova's own: 403 if it was over quota. */
function bootVolume(parts: ComputeParts, projectId: string, request: VolumeRequest): LinkedVolume {
  try {
    return parts.volumes.createVolume(projectId, request);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const message = textAt(error.body, "overLimit", "message");
    throw message === undefined ? error : computeError(403, message);
  }
}

/** Takes a volume for the server: /dev/sda for the first of a server that boots from it. */
function attachDisk(parts: ComputeParts, serverId: string, disk: Disk, place: number): Server["volumes"][number] {
  const device = `/dev/sd${String.fromCodePoint(97 + place)}`;
  const wait = parts.kernel.delay("server.create");
  const attachment_id = parts.volumes.attach(disk.volume_id, { serverId, device }, wait);
  return { ...disk, device, attachment_id, bdm_uuid: parts.kernel.newId() };
}

function joinGroup({ tables }: ComputeParts, server: Server): void {
  const group = server.group_id === null ? undefined : tables.groups.get(server.group_id);
  if (group) tables.groups.update(group.id, { members: [...group.members, server.id] });
}
