import { rm } from "node:fs/promises";
import { relative } from "node:path";
import { CausewayError, type Clock } from "@causeway/foundation";
import { VolumeCapability_AccessMode_Mode as Mode, type VolumeCapability } from "@causeway/csi";
import { RESIZE_REQUIRED } from "../names.ts";
import { deviceNumber, findDevice } from "./device.ts";
import { fileSystemType, grow, mountOptions, prepare } from "./file-system.ts";
import { output, type Host } from "@causeway/csi-openstack";
import { mountsAt, mountTable, type MountEntry } from "./mount-table.ts";
import { createTargetFile, createTargetFolder, mount, realMountPath, unmount } from "./mounts.ts";

/** What the calls of the node service share. */
export interface NodeParts {
  readonly host: Host;
  readonly clock: Clock;
  readonly fallback?: (volumeId: string) => Promise<string | undefined>;
}

/** A NodeStageVolume call: `path` is the staging path, `context` the volume context. */
export interface StageCall {
  readonly volumeId: string;
  readonly path: string;
  readonly capability: VolumeCapability;
  readonly context: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** Mounts the volume for all pods of the node. A block volume has nothing to mount. */
export async function stage(
  parts: NodeParts,
  { volumeId, path: text, capability, context, signal }: StageCall,
): Promise<void> {
  const { host } = parts;
  const path = await realMountPath(text);
  const { accessType } = capability;
  if (accessType.case === "block") {
    await findDevice({ ...parts, signal }, volumeId);
    return;
  }
  const type = fileSystemType(accessType.value?.fsType ?? "");
  const device = await findDevice({ ...parts, signal }, volumeId);
  if (!(await isMounted(host, path, await deviceNumber(device)))) {
    const readOnly = isReadOnly(capability);
    await createTargetFolder(path);
    await prepare(host, device, { type, readOnly, record: formatRecord(path) });
    const options = mountOptions(type, accessType.value?.mountFlags ?? [], readOnly);
    await mount(host, { source: device, path, type, options });
  }
  const isCopy = context[RESIZE_REQUIRED]?.toLowerCase() === "true";
  if (isCopy && !isReadOnly(capability)) await grow(host, { device, path, type });
}

/** Next to the mount point, where it outlives the driver. */
const formatRecord = (path: string): string => `${path}.formatting`;

/** Unmounts what was staged at the path. */
export async function unstage(host: Host, path: string): Promise<void> {
  await unmount(host, path);
  await rm(formatRecord(await realMountPath(path)), { force: true });
}

const isReadOnly = (capability: VolumeCapability) =>
  capability.accessMode?.mode === Mode.SINGLE_NODE_READER_ONLY ||
  capability.accessMode?.mode === Mode.MULTI_NODE_READER_ONLY;

/** Throws where the path has another device's file system. */
async function isMounted(host: Host, path: string, number: string): Promise<boolean> {
  const top = (await mountsAt(host.mountInfo, path)).at(-1);
  if (top === undefined || top.device === number) return top !== undefined;
  throw new CausewayError(
    "CSI_INTERNAL",
    `${path} is the mount point of ${top.source}, not of the volume's device ${number}.`,
  );
}

/** A NodePublishVolume call. */
export interface PublishCall {
  readonly volumeId: string;
  readonly staging: string;
  readonly target: string;
  readonly capability: VolumeCapability;
  readonly readOnly: boolean;
  readonly signal: AbortSignal;
}

/** Gives a pod the staged volume. */
export async function publish(parts: NodeParts, given: PublishCall): Promise<void> {
  const [staging, target] = [await realMountPath(given.staging), await realMountPath(given.target)];
  const call = { ...given, staging, target };
  if (call.capability.accessType.case === "block") return publishBlock(parts, call);
  const { host } = parts;
  const staged = (await mountsAt(host.mountInfo, staging)).at(-1);
  if (staged === undefined) {
    throw new CausewayError("CSI_FAILED_PRECONDITION", `Volume ${call.volumeId} is not staged at ${staging}.`);
  }
  if (!(await isMounted(host, target, staged.device))) {
    await requireSingleWriter(host, call, (entry) => entry.device === staged.device);
    await createTargetFolder(target);
    await mount(host, { source: staging, path: target, options: ["bind", call.readOnly ? "ro" : "rw"] });
  }
  if (call.readOnly) await requireReadOnly(host, target);
}

/**
 * mount may have been killed between binding a folder and making the bind read-only, which are two system calls before
 * util-linux 2.39.
 */
async function requireReadOnly(host: Host, target: string): Promise<void> {
  const isReadOnlyNow = async () => (await mountsAt(host.mountInfo, target)).at(-1)?.options.includes("ro") === true;
  if (await isReadOnlyNow()) return;
  await output(host, "mount", ["-o", "remount,bind,ro", target]);
  if (await isReadOnlyNow()) return;
  throw new CausewayError("CSI_INTERNAL", `The mount at ${target} could not be made read-only.`);
}

async function publishBlock(parts: NodeParts, call: PublishCall): Promise<void> {
  const { host } = parts;
  const { volumeId, target, readOnly, signal } = call;
  const device = await findDevice({ ...parts, signal }, volumeId);
  if ((await mountsAt(host.mountInfo, target)).length > 0) {
    if ((await deviceNumber(target)) === (await deviceNumber(device))) return;
    throw new CausewayError("CSI_INTERNAL", `${target} is the mount point of another device than ${device}.`);
  }
  const node = `/${relative("/dev", device)}`;
  await requireSingleWriter(host, call, (entry) => entry.fsType === "devtmpfs" && entry.root === node);
  await createTargetFile(target);
  await mount(host, { source: device, path: target, options: ["bind", readOnly ? "ro" : "rw"] });
}

/** A volume of access mode ReadWriteOncePod is published at one path. */
async function requireSingleWriter(
  host: Host,
  { volumeId, capability, staging, target }: PublishCall,
  isVolume: (entry: MountEntry) => boolean,
): Promise<void> {
  if (capability.accessMode?.mode !== Mode.SINGLE_NODE_SINGLE_WRITER) return;
  const other = (await mountTable(host.mountInfo)).find(
    (entry) => entry.path !== staging && entry.path !== target && isVolume(entry),
  );
  if (other === undefined) return;
  throw new CausewayError(
    "CSI_FAILED_PRECONDITION",
    `Volume ${volumeId} is for a single pod and is published at ${other.path}.`,
  );
}
