import type { OpenStackMachineSpec, ResolvedMachine } from "@causeway/api";
import type { BlockDeviceMapping, Server, ServerCreate, Volume, VolumeCreate } from "@causeway/openstack";
import { adoptAnnotation, serverOwnerKey, volumeName } from "../resources/naming.ts";
import { chosen, type Found } from "../resources/ownership.ts";
import type { MachineContext } from "./model.ts";
import { markOf, portMarks } from "./ports.ts";
import { serverTags } from "./server-labels.ts";

/** Nova's states in which a server is not there any more. */
export function isGone(server: Server): boolean {
  return server.status === "DELETED" || server.status === "SOFT_DELETED";
}

/** The id in a providerID, openstack://[region]/uuid. */
export function serverIdOf(providerId: string | undefined): string | undefined {
  return providerId?.split("/").at(-1) || undefined;
}

/** The id under which the machine's server was recorded, in its spec or its status. */
export function recordedServerId({ object }: MachineContext): string | undefined {
  return serverIdOf(object.spec.providerID) ?? object.status?.instanceID;
}

/** The machine's server: by its recorded id, else by its name and the mark that we put on it. */
export function findServer(context: MachineContext): Found<Server> {
  const recorded = recordedServerId(context);
  const servers = context.cloud.servers.filter((s) => !isGone(s));
  if (recorded !== undefined) return chosen(servers.filter((s) => s.id === recorded));
  return chosen(servers.filter((s) => isMarked(context, s)));
}

/**
 * Servers with the machine's name and mark in addition to the one that is recorded: Nova finished a call of a process
 * that had ended, after another one had repeated it.
 */
export function otherServers(context: MachineContext, { id }: Server): Server[] {
  return context.cloud.servers.filter((s) => s.id !== id && !isGone(s) && isMarked(context, s));
}

function isMarked({ name, ownerMark }: MachineContext, server: Server): boolean {
  return server.name === name && server.metadata[serverOwnerKey] === ownerMark;
}

/**
 * Proof that a server was created for this machine, whatever is recorded: our metadata, a port with the machine's name
 * and description (which upstream's provider writes, too), or the user's annotation.
 */
export function isProven(context: MachineContext, server: Server): boolean {
  const { object, cloud, ownerMark } = context;
  if (object.metadata.annotations?.[adoptAnnotation] === "true") return true;
  if (server.name !== context.name) return false;
  if (server.metadata[serverOwnerKey] === ownerMark) return true;
  const marks = portMarks(object, context);
  return cloud.ports.some(
    (p) => p.device_id === server.id && p.project_id === cloud.projectId && marks.includes(markOf(p)),
  );
}

type Device = Pick<NonNullable<OpenStackMachineSpec["rootVolume"]>, "sizeGiB" | "type" | "availabilityZone">;

/** The volumes to have before the server is made, by name. */
export function volumeBodies(context: MachineContext, imageId: string): VolumeCreate[] {
  const { rootVolume, additionalBlockDevices = [] } = context.object.spec;
  const body = (name: string, about: string, device: Device): VolumeCreate => ({
    name: volumeName(context.name, name),
    description: `${about} ${context.name}`,
    size: device.sizeGiB,
    ...(device.type ? { volume_type: device.type } : {}),
    ...zoneOf(device, context),
    metadata: { [serverOwnerKey]: context.ownerMark },
  });
  const root = rootVolume ? [{ ...body("root", "Root volume for", rootVolume), imageRef: imageId }] : [];
  const extra = additionalBlockDevices
    .filter((d) => d.storage.type === "Volume")
    .map((d) => body(d.name, "Additional block device for", { sizeGiB: d.sizeGiB, ...d.storage.volume }));
  return [...root, ...extra];
}

function zoneOf({ availabilityZone: zone }: Device, { owner }: MachineContext): { availability_zone?: string } {
  const name = zone?.from === "Machine" ? owner?.zone : zone?.name;
  return name ? { availability_zone: name } : {};
}

/** Volumes of ours for this machine. */
export function ownVolumes(context: MachineContext): Volume[] {
  const { rootVolume, additionalBlockDevices = [] } = context.object.spec;
  const names = [...(rootVolume ? ["root"] : []), ...additionalBlockDevices.map((d) => d.name)].map((d) =>
    volumeName(context.name, d),
  );
  return context.cloud.volumes.filter(
    (v) => names.includes(v.name) && v.metadata[serverOwnerKey] === context.ownerMark,
  );
}

/** What the server is made of, once its ports and volumes are there. */
export interface Ingredients {
  readonly resolved: ResolvedMachine & { readonly flavorID: string; readonly imageID: string };
  readonly portIds: readonly string[];
  readonly volumes: readonly Volume[];
}

/** The body of the call that makes the server; the user data is added when the call is made. */
export function serverBody(context: MachineContext, { resolved, portIds, volumes }: Ingredients): ServerCreate {
  const { object, owner, name, ownerMark } = context;
  const { spec } = object;
  const tags = serverTags(context);
  const devices = blockDevices(context, resolved.imageID, volumes);
  const hints = schedulerHints(spec, resolved.serverGroupID);
  return {
    name,
    flavorRef: resolved.flavorID,
    ...(spec.rootVolume ? {} : { imageRef: resolved.imageID }),
    networks: portIds.map((port) => ({ port })),
    metadata: {
      ...Object.fromEntries((spec.serverMetadata ?? []).map((m) => [m.key, m.value])),
      [serverOwnerKey]: ownerMark,
    },
    ...(owner?.zone ? { availability_zone: owner.zone } : {}),
    ...(spec.sshKeyName ? { key_name: spec.sshKeyName } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(spec.configDrive === undefined ? {} : { config_drive: spec.configDrive }),
    ...(devices.length > 0 ? { block_device_mapping_v2: devices } : {}),
    ...(hints ? { schedulerHints: hints } : {}),
  };
}

/** None for a plain server. With extra disks the root disk must be listed, too (Nova's block device mapping v2). */
function blockDevices(
  { object, name }: MachineContext,
  imageId: string,
  volumes: readonly Volume[],
): BlockDeviceMapping[] {
  const { rootVolume, additionalBlockDevices = [] } = object.spec;
  if (!rootVolume && additionalBlockDevices.length === 0) return [];
  const idOf = (device: string) => volumes.find((v) => v.name === volumeName(name, device))?.id ?? "";
  const root: BlockDeviceMapping = rootVolume
    ? {
        boot_index: 0,
        uuid: idOf("root"),
        source_type: "volume",
        destination_type: "volume",
        delete_on_termination: true,
      }
    : { boot_index: 0, uuid: imageId, source_type: "image", destination_type: "local", delete_on_termination: true };
  const extra = additionalBlockDevices.map((device): BlockDeviceMapping =>
    device.storage.type === "Volume"
      ? {
          boot_index: -1,
          uuid: idOf(device.name),
          source_type: "volume",
          destination_type: "volume",
          delete_on_termination: true,
          tag: device.name,
        }
      : {
          boot_index: -1,
          source_type: "blank",
          destination_type: "local",
          volume_size: device.sizeGiB,
          delete_on_termination: true,
          tag: device.name,
        },
  );
  return [root, ...extra];
}

function schedulerHints(spec: OpenStackMachineSpec, group: string | undefined): Record<string, unknown> | undefined {
  const extra = (spec.schedulerHintAdditionalProperties ?? []).map(({ name, value }) => [
    name,
    value.bool ?? value.number ?? value.string,
  ]);
  if (group === undefined && extra.length === 0) return undefined;
  return { ...Object.fromEntries(extra), ...(group === undefined ? {} : { group }) };
}

/** Addresses as Machines show them: by network name, IPv4 first, then the server's own name. */
export function machineAddresses(server: Server): { type: string; address: string }[] {
  const listed = Object.keys(server.addresses)
    .sort()
    .flatMap((network) => [...(server.addresses[network] ?? [])].sort((a, b) => a.version - b.version))
    .map((a) => ({ type: a["OS-EXT-IPS:type"] === "floating" ? "ExternalIP" : "InternalIP", address: a.addr }));
  return [...listed, { type: "InternalDNS", address: server.name }];
}

/**
 * openstack:///uuid, with the region only where the machine names one: it must equal what the cloud controller writes.
 */
export function providerId(context: MachineContext, server: Server): string {
  return `openstack://${context.object.spec.identityRef?.region ?? ""}/${server.id}`;
}
