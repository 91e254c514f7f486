import { base64, isRecord, messageOf } from "@causeway/foundation";
import { parse } from "yaml";

type Fields = Readonly<Record<string, unknown>>;

/** A file of an Ignition config; its contents are a URL, mostly of the scheme data. */
export interface IgnitionFile extends Fields {
  readonly path: string;
}

/** The parts of an Ignition config (2.3.0) that are written here. */
export interface IgnitionConfig {
  readonly passwd?: { readonly users?: readonly object[]; readonly groups?: readonly object[] };
  readonly systemd?: { readonly units?: readonly object[] };
  readonly networkd?: { readonly units?: readonly object[] };
  readonly storage?: {
    readonly disks?: readonly object[];
    readonly raid?: readonly object[];
    readonly filesystems?: readonly object[];
    readonly files?: readonly IgnitionFile[];
    readonly directories?: readonly object[];
    readonly links?: readonly object[];
  };
}

/** The lists of the second after those of the first, as Ignition appends a config. */
export function appended(first: IgnitionConfig, second: IgnitionConfig): IgnitionConfig {
  const sections = new Set([...Object.keys(first), ...Object.keys(second)]) as Set<keyof IgnitionConfig>;
  return Object.fromEntries(
    [...sections].map((section) => {
      const [a, b] = [first[section] ?? {}, second[section] ?? {}] as [Fields, Fields];
      const names = new Set([...Object.keys(a), ...Object.keys(b)]);
      const list = (from: Fields, name: string) => (from[name] ?? []) as unknown[];
      return [section, Object.fromEntries([...names].map((name) => [name, [...list(a, name), ...list(b, name)]]))];
    }),
  );
}

/** How a field of a Container Linux Config is written in Ignition: its name there, and the fields inside. */
interface Shape {
  readonly as?: string;
  readonly fields?: Readonly<Record<string, Shape>>;
  /** Writes a value, with its path for messages. */
  readonly write?: (value: unknown, path: string) => unknown;
}

const same: Shape = {};
const renamed = (as: string): Shape => ({ as });
const mode: Shape = { write: octal };
const owner: Shape = { fields: { id: same, name: same } };
const dropins: Shape = { fields: { name: same, contents: same } };
const verification: Shape = {
  fields: { hash: { fields: { function: same, sum: same } } },
  write: (value) => (isRecord(value) && isRecord(value["hash"]) ? hashOf(value["hash"]) : {}),
};
const remote: Shape = { fields: { url: renamed("source"), compression: same, verification } };
const node: Readonly<Record<string, Shape>> = {
  filesystem: same,
  path: same,
  user: owner,
  group: owner,
  overwrite: same,
};
const partition: Shape = {
  fields: { label: same, number: same, size: same, start: same, guid: same, type_guid: renamed("typeGuid") },
};
const account: Readonly<Record<string, Shape>> = {
  name: same,
  password_hash: renamed("passwordHash"),
  ssh_authorized_keys: renamed("sshAuthorizedKeys"),
  uid: same,
  gecos: same,
  home_dir: renamed("homeDir"),
  no_create_home: renamed("noCreateHome"),
  primary_group: renamed("primaryGroup"),
  groups: same,
  no_user_group: renamed("noUserGroup"),
  no_log_init: renamed("noLogInit"),
  shell: same,
  system: same,
};

/** Sections, their lists, and the fields of what is in these. */
const sections: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  passwd: {
    users: { fields: account },
    groups: { fields: { name: same, gid: same, password_hash: renamed("passwordHash"), system: same } },
  },
  systemd: {
    units: { fields: { name: same, enable: same, enabled: same, mask: same, contents: same, dropins } },
  },
  networkd: { units: { fields: { name: same, contents: same, dropins } } },
  storage: {
    disks: { fields: { device: same, wipe_table: renamed("wipeTable"), partitions: partition } },
    raid: { fields: { name: same, level: same, devices: same, spares: same, options: same } },
    filesystems: {
      fields: {
        name: same,
        path: same,
        mount: {
          fields: {
            device: same,
            format: same,
            label: same,
            uuid: same,
            options: same,
            wipe_filesystem: renamed("wipeFilesystem"),
          },
        },
      },
    },
    files: { fields: { ...node, mode, append: same, contents: { fields: { inline: same, remote } } } },
    directories: { fields: { ...node, mode } },
    links: { fields: { ...node, target: same, hard: same } },
  },
};

/**
 * The Ignition config of a Container Linux Config, as far as it does not depend on a platform: without the sections for
 * etcd, flannel, docker, locksmith and updates. With `strict` an unknown field is an error; otherwise it is ignored.
 *
 * @throws Error that names the field
 */
export function additionalConfig(text: string, strict: boolean): IgnitionConfig {
  let config: unknown;
  try {
    config = parse(text, { maxAliasCount: 0, schema: "yaml-1.1", logLevel: "error" }) as unknown;
  } catch (error) {
    throw new Error(`it is not YAML: ${messageOf(error)}`, { cause: error });
  }
  if (!isRecord(config)) throw new Error("it is not a mapping");
  const written = Object.entries(config).flatMap(([name, section]) => {
    const lists = Object.hasOwn(sections, name) ? sections[name] : undefined;
    if (!lists) throw new Error(`section ${name} is not supported; write the files and units that it represents`);
    return section === null ? [] : [[name, sectionOf(section, lists, { path: name, strict })]];
  });
  return Object.fromEntries(written) as IgnitionConfig;
}

interface Place {
  readonly path: string;
  readonly strict: boolean;
}

function sectionOf(section: unknown, lists: Readonly<Record<string, Shape>>, { path, strict }: Place): Fields {
  if (!isRecord(section)) throw new Error(`${path} is not a mapping`);
  return Object.fromEntries(
    Object.entries(section).flatMap(([name, list]): [string, unknown][] => {
      const shape = Object.hasOwn(lists, name) ? lists[name] : undefined;
      const place = { path: `${path}.${name}`, strict };
      if (!shape) return unknown(place);
      if (list === null) return [];
      if (!Array.isArray(list)) throw new Error(`${place.path} is not a list`);
      const items = list.map((item: unknown, at) => written(item, shape, { ...place, path: `${place.path}[${at}]` }));
      return [[name, name === "files" ? items.map(withSource) : items]];
    }),
  );
}

function unknown({ path, strict }: Place): [] {
  if (strict) throw new Error(`${path} is not known`);
  return [];
}

function written(value: unknown, { fields, write }: Shape, place: Place): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value))
    return value.map((item: unknown, at) =>
      written(item, fields ? { fields } : {}, { ...place, path: `${place.path}[${at}]` }),
    );
  if (write) return write(value, place.path);
  if (!fields) return value;
  if (!isRecord(value)) throw new Error(`${place.path} is not a mapping`);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
      const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const inside = { ...place, path: `${place.path}.${name}` };
      return shape ? [[shape.as ?? name, written(inner, shape, inside)]] : unknown(inside);
    }),
  );
}

/** Octal as the user wrote it: YAML 1.1 reads 0644 as a number, and "0644" in quotes is a text. */
function octal(value: unknown, path: string): number {
  const number = typeof value === "string" && /^0?[0-7]{3,4}$/.test(value) ? Number.parseInt(value, 8) : value;
  if (typeof number !== "number" || !Number.isInteger(number) || number < 0 || number > 0o7777)
    throw new Error(`${path} is not a mode such as 0644`);
  return number;
}

function hashOf({ function: algorithm, sum }: Fields): object {
  return { hash: `${String(algorithm)}-${String(sum)}` };
}

/** Contents are a URL in Ignition. */
function withSource(file: unknown): IgnitionFile {
  const { contents, filesystem = "root", path, ...more } = file as Fields & { contents?: Fields };
  if (typeof path !== "string" || !path.startsWith("/")) throw new Error("storage.files: a file has no absolute path");
  const { inline, remote: from } = contents ?? {};
  const source = isRecord(from) ? from : { source: `data:;base64,${base64(typeof inline === "string" ? inline : "")}` };
  return { filesystem, path, ...more, contents: source };
}
