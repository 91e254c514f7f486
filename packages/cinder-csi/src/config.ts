import {
  InputError,
  iniBoolean,
  iniSection,
  iniText,
  parseIni,
  suggestion,
  type IniSection,
} from "@causeway/foundation";
import type { MetadataSource } from "@causeway/csi-openstack";
import { cloudConfKeys, parseCloudConf, type CloudConfig } from "@causeway/openstack";
import type { BlockStorageOptions } from "./clouds.ts";

/** cloud.conf, as far as the driver reads it. */
export interface DriverConfig {
  readonly blockStorage: BlockStorageOptions;
  readonly attachLimit: number | undefined;
  readonly rescanOnResize: boolean;
  readonly metadataOrder: readonly MetadataSource[];
  /** Sections and keys that neither this program nor upstream reads, with the nearest known name. */
  readonly warnings: readonly string[];
}

/**
 * Sections of cloud.conf and their keys. Keys that programs before this one read, and that have no effect today, are
 * known, too.
 */
const KNOWN = new Map<string, readonly string[] | "another program's">([
  ["global", cloudConfKeys],
  [
    "blockstorage",
    [
      "node-volume-attach-limit",
      "rescan-on-resize",
      "ignore-volume-az",
      "ignore-volume-microversion",
      "bs-version",
      "trust-device-path",
    ],
  ],
  ["metadata", ["search-order", "request-timeout"]],
  ["networking", "another program's"],
  ["route", "another program's"],
  ["loadbalancer", "another program's"],
  ["loadbalancerclass", "another program's"],
  ["keymanager", "another program's"],
]);

const SOURCES: readonly MetadataSource[] = ["configDrive", "metadataService"];

/**
 * [BlockStorage] and [Metadata]; unknown keys and sections are ignored, as upstream does, with a warning. Throws
 * INI_INVALID, CINDER_CSI_CONFIG_INVALID.
 * @example
 * parseDriverConfig("[BlockStorage]\nignore-volume-az = true").blockStorage.ignoreVolumeAz; // true
 */
export function parseDriverConfig(text: string): DriverConfig {
  const sections = parseIni(text, "cloud.conf");
  const storage = iniSection(sections, "blockstorage");
  return {
    blockStorage: {
      ignoreVolumeAz: iniBoolean(storage, "ignore-volume-az") ?? false,
      ignoreVolumeMicroversion: iniBoolean(storage, "ignore-volume-microversion") ?? false,
    },
    attachLimit: wholeNumber(storage, "node-volume-attach-limit"),
    rescanOnResize: iniBoolean(storage, "rescan-on-resize") ?? false,
    metadataOrder: metadataOrder(iniText(iniSection(sections, "metadata"), "search-order")),
    warnings: sections.flatMap(unknownKeys),
  };
}

function unknownKeys({ name, values }: IniSection): readonly string[] {
  const known = KNOWN.get(name);
  if (known === undefined) return [`section [${name}] is not known${suggestion(name, [...KNOWN.keys()])}`];
  if (known === "another program's") return [];
  const unknown = [...values.keys()].filter((key) => !known.includes(key));
  return unknown.map((key) => `key ${key} of [${name}] is not known${suggestion(key, known)}`);
}

/** The cloud of [Global] ("") or [Global "name"]. */
export function parseNamedCloud(text: string, name: string): CloudConfig {
  if (name === "") return parseCloudConf(text);
  if (!iniSection(parseIni(text, "cloud.conf"), "global", name)) {
    throw new InputError("CINDER_CSI_CONFIG_INVALID", `cloud.conf has no section [Global "${name}"].`, {
      hint: "Add the section, or remove the name from --cloud-name.",
    });
  }
  return parseCloudConf(text, { name });
}

function wholeNumber(section: IniSection | undefined, key: string): number | undefined {
  const text = iniText(section, key);
  if (text === undefined) return undefined;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InputError("CINDER_CSI_CONFIG_INVALID", `${key} in cloud.conf is not a whole number.`);
}

function metadataOrder(text: string | undefined): readonly MetadataSource[] {
  if (text === undefined) return SOURCES;
  const order = text.split(",").map((each) => SOURCES.find((known) => known === each.trim()));
  const known = order.flatMap((each) => each ?? []);
  if (known.length === order.length && known.length <= 2) return known;
  throw new InputError("CINDER_CSI_CONFIG_INVALID", `search-order in cloud.conf is "${text}".`, {
    hint: "It lists configDrive and metadataService.",
  });
}
