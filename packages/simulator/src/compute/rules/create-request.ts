import { isIP } from "node:net";
import { at, isObject, textAt, type JsonObject } from "../../kernel/json.ts";
import { computeError } from "../model.ts";
import { pythonRepr } from "../../kernel/python.ts";

/** One entry of `block_device_mapping_v2`; `size` is in GiB, 0 where the request has none. */
export interface BootVolume {
  readonly source: "volume" | "image" | "snapshot" | "blank";
  readonly uuid: string;
  readonly size: number;
  readonly type?: string;
  readonly tag?: string;
  readonly delete_on_termination: boolean;
  readonly boot_index: number;
}

/** One entry of `networks`: an existing port, or a network in which Nova makes one. */
export interface AskedNetwork {
  readonly port?: string;
  readonly uuid?: string;
  readonly fixed_ip?: string;
}

/** The body of POST /servers, its shape checked; what it names may not exist. */
export interface CreateRequest {
  readonly name: string;
  readonly flavor: string;
  readonly image: string;
  readonly networks: readonly AskedNetwork[] | "auto" | "none" | undefined;
  readonly zone: string | undefined;
  readonly key: string | undefined;
  readonly user_data: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly security_groups: readonly string[];
  readonly config_drive: boolean;
  readonly description: string | null;
  readonly group: string | undefined;
  readonly volumes: readonly BootVolume[];
  readonly count: number;
  readonly reached: Reached;
  readonly files: readonly InjectedFile[];
  readonly hostname: string | undefined;
}

/** A file that a server is to have on its config drive. */
export interface InjectedFile {
  readonly path: string;
  /** Base64. */
  readonly contents: string;
}

/** How a server is to be reached, and its disk's layout, as they are kept. */
export interface Reached {
  readonly access_v4?: string;
  readonly access_v6?: string;
  readonly disk_config?: string;
}

const userDataLimit = 65535;

/** Fields of a server that may be sent, with the minor version from which. */
const fields: Readonly<Record<string, number>> = {
  name: 1,
  imageRef: 1,
  flavorRef: 1,
  adminPass: 1,
  metadata: 1,
  networks: 1,
  personality: 1,
  "OS-DCF:diskConfig": 1,
  accessIPv4: 1,
  accessIPv6: 1,
  availability_zone: 1,
  block_device_mapping: 1,
  block_device_mapping_v2: 1,
  config_drive: 1,
  key_name: 1,
  min_count: 1,
  max_count: 1,
  return_reservation_id: 1,
  security_groups: 1,
  user_data: 1,
  description: 19,
  tags: 52,
  trusted_image_certificates: 63,
  host: 74,
  hypervisor_hostname: 74,
  hostname: 90,
};

/** Nova's 400 for a value that its JSON schema refuses; `why` is the validator's own sentence. */
export const invalid = (field: string, value: unknown, why: string) =>
  computeError(400, `Invalid input for field/attribute ${field}. Value: ${pythonText(value)}. ${why}`);

/** Strings bare, the rest as Python writes it. */
const pythonText = (value: unknown) => (typeof value === "string" ? value : pythonRepr(value));

/** Reads the body as the schema of this minor version does. Throws Nova's 400. */
export function readCreateRequest(body: unknown, minor: number): CreateRequest {
  if (body === undefined) throw computeError(400, "Malformed request body");
  const server = at(body, "server");
  if (server === undefined) throw computeError(400, "'server' is a required property");
  if (!isObject(server)) throw invalid("server", server, `${pythonRepr(server)} is not of type 'object'`);
  checkFields(server, minor);
  return {
    name: textAt(server, "name")?.trim() ?? "",
    flavor: String(server["flavorRef"] as string | number),
    image: imageOf(server["imageRef"] ?? ""),
    networks: networksOf(server["networks"], minor),
    zone: textAt(server, "availability_zone"),
    key: textAt(server, "key_name"),
    user_data: userDataOf(textAt(server, "user_data")),
    metadata: metadataOf(server["metadata"] ?? {}),
    tags: tagsOf(server["tags"] ?? []),
    security_groups: listOf(server["security_groups"]).flatMap((g) => textAt(g, "name") ?? []),
    config_drive: server["config_drive"] === true || /^true$/i.test(textAt(server, "config_drive") ?? ""),
    description: textAt(server, "description") ?? null,
    group: groupOf(body),
    volumes: listOf(server["block_device_mapping_v2"]).flatMap((mapping) =>
      isLocal(mapping) ? [] : [volumeOf(mapping)],
    ),
    count: countOf(server),
    reached: reachOf(server),
    files: filesOf(server["personality"] ?? []),
    hostname: hostnameOf(server["hostname"]),
  };
}

/** The access addresses and the disk layout of a request. Throws 400. */
export function reachOf(given: unknown): Reached {
  const address = (field: string, version: 4 | 6) => {
    const value = at(given, field);
    if (value === undefined) return undefined;
    if (typeof value !== "string" || isIP(value) !== version) {
      throw invalid(field, value, `${pythonRepr(value)} is not a 'ipv${version}'`);
    }
    // As the database writes it: the shortest form.
    return version === 4 ? value : new URL(`http://[${value}]`).hostname.slice(1, -1);
  };
  const [access_v4, access_v6] = [address("accessIPv4", 4), address("accessIPv6", 6)];
  const disk = at(given, "OS-DCF:diskConfig");
  if (disk !== undefined && disk !== "AUTO" && disk !== "MANUAL") {
    throw invalid("OS-DCF:diskConfig", disk, `${pythonRepr(disk)} is not one of ['AUTO', 'MANUAL']`);
  }
  return {
    ...(access_v4 === undefined ? {} : { access_v4 }),
    ...(access_v6 === undefined ? {} : { access_v6 }),
    ...(disk === undefined ? {} : { disk_config: disk }),
  };
}

/** How many servers: max_count, or else min_count, or one. */
function countOf(server: JsonObject): number {
  const [least, most] = ["min_count", "max_count"].map((field) => {
    const value = server[field];
    if (value === undefined || value === null) return undefined;
    const number = typeof value === "string" && /^[0-9]+$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isInteger(number)) {
      throw invalid(field, value, `${pythonRepr(value)} does not match '^[0-9]*$'`);
    }
    if (number < 1) throw invalid(field, value, `${number} is less than the minimum of 1`);
    return number;
  });
  if (least !== undefined && most !== undefined && least > most) {
    throw computeError(400, "min_count must be <= max_count");
  }
  return most ?? least ?? 1;
}

function userDataOf(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (value.length > userDataLimit) throw invalid("user_data", value, `${pythonRepr(value)} is too long`);
  return value;
}

/** A host name of its own, checked (from 2.90). */
export function hostnameOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalid("hostname", value, `${pythonRepr(value)} is not of type 'string'`);
  const pattern = "^[a-zA-Z0-9]+[a-zA-Z0-9-]*[a-zA-Z0-9]+$";
  if (value.length < 2) throw invalid("hostname", value, `${pythonRepr(value)} is too short`);
  if (value.length > 63) throw invalid("hostname", value, `${pythonRepr(value)} is too long`);
  if (new RegExp(pattern).test(value)) return value;
  throw invalid("hostname", value, `${pythonRepr(value)} does not match '${pattern}'`);
}

/** Files to inject, checked; from 2.57 there are none. */
export function filesOf(value: unknown): readonly InjectedFile[] {
  if (!Array.isArray(value)) throw invalid("personality", value, `${pythonRepr(value)} is not of type 'array'`);
  return value.map((file: unknown, place) => {
    if (!isObject(file)) throw invalid(String(place), file, `${pythonRepr(file)} is not of type 'object'`);
    const other = Object.keys(file).find((field) => field !== "path" && field !== "contents");
    if (other !== undefined) {
      const why = `Additional properties are not allowed (${pythonRepr(other)} was unexpected)`;
      throw invalid(String(place), file, why);
    }
    const { path, contents } = file;
    if (path !== undefined && typeof path !== "string") {
      throw invalid("path", path, `${pythonRepr(path)} is not of type 'string'`);
    }
    if (contents !== undefined && (typeof contents !== "string" || !isBase64(contents))) {
      throw invalid("contents", contents, `${pythonRepr(contents)} is not a 'base64'`);
    }
    return { path: path ?? "", contents: contents ?? "" };
  });
}

/** As Python reads it: what is no letter of base64 is passed over, the rest must be whole. */
function isBase64(text: string): boolean {
  const letters = text.replaceAll(/[^A-Za-z0-9+/=]/g, "");
  const end = letters.indexOf("=");
  const data = end < 0 ? letters.length : end;
  return data % 4 === 0 || (data % 4 > 1 && letters.length - data >= 4 - (data % 4));
}

function imageOf(value: unknown): string {
  if (value === "" || isUuid(value)) return value;
  throw invalid("imageRef", value, `${pythonRepr(value)} is not valid under any of the given schemas`);
}

/** The server group in the scheduler's hints. */
function groupOf(body: unknown): string | undefined {
  const hints = at(body, "os:scheduler_hints") ?? at(body, "OS-SCH-HNT:scheduler_hints");
  const group = at(hints, "group");
  if (group === undefined || isUuid(group)) return group;
  throw invalid("group", group, `${pythonRepr(group)} is not a 'uuid'`);
}

function checkFields(server: JsonObject, minor: number): void {
  const required = minor >= 37 ? ["name", "flavorRef", "networks"] : ["name", "flavorRef"];
  const missing = required.find((field) => server[field] === undefined);
  if (missing !== undefined) throw invalid("server", server, `'${missing}' is a required property`);
  const since = (field: string) => (field === "personality" && minor >= 57 ? Infinity : (fields[field] ?? Infinity));
  const unknown = Object.keys(server).find((field) => since(field) > minor);
  if (unknown !== undefined) {
    throw invalid("server", server, `Additional properties are not allowed (${pythonRepr(unknown)} was unexpected)`);
  }
  const name = server["name"];
  if (typeof name !== "string") throw invalid("name", name, `${pythonRepr(name)} is not of type 'string'`);
  if (name.trim() === "" || name.length > 255) {
    throw invalid("name", name, `${pythonRepr(name)} is too ${name.length > 255 ? "long" : "short"}`);
  }
}

/** As Nova accepts them in paths and bodies: also without dashes. */
export const isUuid = (value: unknown): value is string =>
  typeof value === "string" && /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i.test(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function networksOf(value: unknown, minor: number): CreateRequest["networks"] {
  if (value === undefined || value === null) return undefined;
  if (minor >= 37 && (value === "auto" || value === "none")) return value;
  if (!Array.isArray(value)) throw invalid("networks", value, `${pythonRepr(value)} is not of type 'array'`);
  return value.map((network: unknown) => {
    const [port, uuid, fixed_ip] = [textAt(network, "port"), textAt(network, "uuid"), textAt(network, "fixed_ip")];
    return {
      ...(port === undefined ? {} : { port }),
      ...(uuid === undefined ? {} : { uuid }),
      ...(fixed_ip === undefined ? {} : { fixed_ip }),
    };
  });
}

/** Metadata of a request, checked. */
export function metadataOf(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) throw invalid("metadata", value, `${pythonRepr(value)} is not of type 'object'`);
  const out: Record<string, string> = {};
  for (const [key, item] of Object.entries(value)) {
    if (!/^[a-zA-Z0-9-_:. ]{1,255}$/.test(key)) {
      const why = `'${key}' does not match any of the regexes: '^[a-zA-Z0-9-_:. ]{1,255}$'`;
      throw invalid("metadata", value, why);
    }
    if (typeof item !== "string") throw invalid(key, item, `${pythonRepr(item)} is not of type 'string'`);
    if (item.length > 255) throw invalid(key, item, `${pythonRepr(item)} is too long`);
    out[key] = item;
  }
  return out;
}

/** Tags of a request, checked: at most 50, of 1 to 60 characters without "," and "/". Repeats count once. */
export function tagsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalid("tags", value, `${pythonRepr(value)} is not of type 'array'`);
  if (value.length > 50) throw invalid("tags", value, `${pythonRepr(value)} is too long`);
  const tags = value.map((tag: unknown, place) => checkTag(tag, String(place)));
  return [...new Set(tags)].sort();
}

/** A tag of a server or a device: at most 60 characters, without "," and "/". Throws Nova's 400. */
export function checkTag(tag: unknown, field: string): string {
  if (typeof tag !== "string") throw invalid(field, tag, `${pythonRepr(tag)} is not of type 'string'`);
  if (tag.length > 60) throw invalid(field, tag, `${pythonRepr(tag)} is too long`);
  if (!/^[^,/]+$/.test(tag)) throw invalid(field, tag, `${pythonRepr(tag)} does not match '^[^,/]*$'`);
  return tag;
}

/** A disk of the hypervisor: Nova makes no volume for it. */
function isLocal(mapping: unknown): boolean {
  const source = textAt(mapping, "source_type") ?? "blank";
  return at(mapping, "destination_type") === "local" && (source === "blank" || source === "image");
}

function volumeOf(mapping: unknown): BootVolume {
  const source = textAt(mapping, "source_type") ?? "blank";
  const type = textAt(mapping, "volume_type");
  const tag = textAt(mapping, "tag");
  const index = at(mapping, "boot_index");
  const target = at(mapping, "destination_type");
  if (target !== undefined && target !== "local" && target !== "volume") {
    throw invalid("destination_type", target, `${pythonRepr(target)} is not one of ['local', 'volume']`);
  }
  return {
    source: source === "volume" || source === "image" || source === "snapshot" ? source : "blank",
    uuid: textAt(mapping, "uuid") ?? "",
    size: Number(at(mapping, "volume_size") ?? 0),
    ...(type === undefined ? {} : { type }),
    ...(tag === undefined ? {} : { tag }),
    delete_on_termination: at(mapping, "delete_on_termination") === true,
    boot_index: typeof index === "number" || typeof index === "string" ? Number(index) : -1,
  };
}
