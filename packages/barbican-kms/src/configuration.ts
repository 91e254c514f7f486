import { iniSection, iniText, InputError, messageOf, parseIni, readTextFile } from "@causeway/foundation";
import { parseCloudConf, type CloudConfig } from "@causeway/openstack";
import { isKeyId } from "./keys/plan-key.ts";

/** A cloud.conf with [Global] and [KeyManager]; durations in milliseconds. */
export interface Configuration {
  readonly cloud: CloudConfig;
  readonly keyId: string;
  readonly lifetime: number | undefined;
  readonly outage: number | undefined;
}

/** @throws KMS_CONFIG_INVALID, INI_INVALID, CLOUD_CONFIG_INVALID */
export function readConfiguration(path: string): Configuration {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (cause) {
    throw invalid(`${path} cannot be read: ${messageOf(cause)}`, cause);
  }
  const section = iniSection(parseIni(text, "cloud.conf"), "keymanager");
  const keyId = section && iniText(section, "key-id");
  // Barbican names secrets by their URL; the id is its last part.
  const id = keyId?.split("/").at(-1) ?? "";
  if (!isKeyId(id)) throw invalid("[KeyManager] key-id is not the id of a secret in Barbican");
  return {
    cloud: parseCloudConf(text),
    keyId: id,
    lifetime: duration("key-lifetime", section && iniText(section, "key-lifetime")),
    outage: duration("key-outage", section && iniText(section, "key-outage")),
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function duration(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const [, number, unit = ""] = /^(\d{1,9})(s|m|h)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (number === undefined || factor === undefined) throw invalid(`[KeyManager] ${name} is not a duration such as 1h`);
  return Number(number) * factor;
}

function invalid(why: string, cause?: unknown): InputError {
  return new InputError("KMS_CONFIG_INVALID", `The configuration of the KMS plugin cannot be used: ${why}.`, {
    cause,
    hint: "Give a cloud.conf with [Global] and, in [KeyManager], key-id = ID of a symmetric secret.",
  });
}
