import { glob, mkdtemp, readdir, readFile, realpath, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CausewayError, messageOf, parseBoundedJson, readBounded } from "@causeway/foundation";
import { output, type Host } from "./host.ts";

/** What the driver reads of a server's metadata. */
export interface ServerMetadata {
  readonly uuid: string;
  readonly zone: string;
  readonly disks: readonly { readonly bus: string; readonly address: string; readonly serial: string }[];
}

/** A place of a server's metadata: the config drive or the metadata service. */
export type MetadataSource = "configDrive" | "metadataService";

/** Where a server's metadata is searched, in which order. */
export interface MetadataOptions {
  readonly host: Host;
  readonly order?: readonly MetadataSource[];
  /** Without a path. */
  readonly service?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const DOCUMENT = "openstack/latest/meta_data.json";
const SERVICE = "http://169.254.169.254";
const LARGEST = 1024 * 1024;
const DEEPEST = 32;
const LONGEST_REQUEST = 10_000;

/** The server's metadata from the first source that has it. Throws CSI_METADATA_MISSING. */
export async function readMetadata(options: MetadataOptions): Promise<ServerMetadata> {
  const failures: string[] = [];
  for (const source of options.order ?? ["configDrive", "metadataService"]) {
    try {
      const text = source === "configDrive" ? await fromConfigDrive(options.host) : await fromService(options);
      return parseMetadata(text);
    } catch (error) {
      failures.push(`${source}: ${messageOf(error)}`);
    }
  }
  throw new CausewayError(
    "CSI_METADATA_MISSING",
    `The metadata of this server cannot be read: ${failures.join("; ")}`,
    {
      hint: "The node service needs the config drive, or http://169.254.169.254 without a proxy.",
    },
  );
}

/** Reads the metadata once, and again after a failure: the metadata service may not be ready when the node starts. */
export function metadataReader(options: MetadataOptions): () => Promise<ServerMetadata> {
  let read: Promise<ServerMetadata> | undefined;
  return () => {
    read ??= readMetadata(options);
    read.catch(() => (read = undefined));
    return read;
  };
}

/** Throws where the document is not that of a server. */
export function parseMetadata(text: string): ServerMetadata {
  const document = parseBoundedJson(text, DEEPEST) as Readonly<Record<string, unknown>> | null;
  const [uuid, zone, devices] = [document?.["uuid"], document?.["availability_zone"], document?.["devices"]];
  if (typeof uuid !== "string" || uuid === "") throw new Error("the document has no uuid");
  const disks = (Array.isArray(devices) ? devices : []).flatMap((each: Readonly<Record<string, unknown>>) => {
    const { type, bus, address, serial } = each;
    if (type !== "disk" || typeof serial !== "string" || typeof bus !== "string" || typeof address !== "string")
      return [];
    return [{ bus, address, serial }];
  });
  return { uuid, zone: typeof zone === "string" ? zone : "", disks };
}

async function fromService({ service = SERVICE, headers = {} }: MetadataOptions): Promise<string> {
  const response = await fetch(`${service}/${DOCUMENT}`, {
    headers,
    signal: AbortSignal.timeout(LONGEST_REQUEST),
    redirect: "error",
  });
  if (response.status !== 200 || response.body === null) throw new Error(`${service} responded ${response.status}`);
  return (await readBounded(response.body, LARGEST)).toString("utf8");
}

async function fromConfigDrive(host: Host): Promise<string> {
  const device = await configDrive(host);
  const folder = await mkdtemp(join(tmpdir(), "config-drive-"));
  try {
    await output(host, "mount", ["-o", "ro", device, folder]);
    try {
      return await readFile(join(folder, DOCUMENT), "utf8");
    } finally {
      await output(host, "umount", [folder]);
    }
  } finally {
    await rmdir(folder);
  }
}

/**
 * The device with the label config-2 that is no Cinder volume: who may write to a block volume could give it that
 * label, and with it the node the identity of another server.
 */
async function configDrive(host: Host): Promise<string> {
  const volumes = await volumeDevices(host);
  const labelled = await realpath("/dev/disk/by-label/config-2").catch(() => undefined);
  const isVolume = (device: string) => volumes.some((each) => device.startsWith(each));
  if (labelled !== undefined && !isVolume(labelled)) return labelled;
  const found = (await output(host, "blkid", ["-t", "LABEL=config-2", "-o", "device"])).split("\n");
  const device = found.map((each) => each.trim()).find((each) => each !== "" && !isVolume(each));
  if (device !== undefined) return device;
  throw new CausewayError("CSI_METADATA_MISSING", "Only volumes have the label config-2; they are no config drive.");
}

/** The begin of the name of a link to a volume's device, whose serial is the volume's ID. */
const VOLUME_LINK = /^(?:virtio-|scsi-0QEMU_QEMU_HARDDISK_)[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]/i;

/** The devices of attached volumes; their partitions begin with the same path. */
async function volumeDevices(host: Host): Promise<readonly string[]> {
  const links = (await readdir(host.byId).catch(() => [])).filter((name) => VOLUME_LINK.test(name));
  return Promise.all(links.map((name) => realpath(join(host.byId, name)).catch(() => join(host.byId, name))));
}

/** The device of a serial where Nova's driver cannot set it (Hyper-V): the metadata service has its address. */
export async function deviceFromMetadata(options: MetadataOptions, serial: string): Promise<string | undefined> {
  const { disks } = await readMetadata({ ...options, order: ["metadataService"] });
  const disk = disks.find((each) => each.serial === serial);
  if (disk === undefined || !/^[\w.:-]+$/.test(`${disk.bus}${disk.address}`)) return undefined;
  const found = await Array.fromAsync(glob(`/dev/disk/by-path/*-${disk.bus}-${disk.address}`));
  return found.length === 1 ? found[0] : undefined;
}
