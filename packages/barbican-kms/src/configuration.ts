import { iniSection, iniText, InputError, messageOf, parseIni, readTextFile } from "@causeway/foundation";
import { parseCloudConf, type CloudConfig } from "@causeway/openstack";
import { isKeyId } from "./keys/plan-key.ts";

/** A cloud.conf with [Global] and [KeyManager]; durations in milliseconds. */
export interface Configuration {
  readonly cloud: CloudConfig;
  readonly keyId: string;
  readonly lifetime: number | undefined;
  readonly outage: number | undefined;
  /** Keys that no program reads, one a line. */
  readonly warnings: readonly string[];
}

/** Of the sections that this program reads; a cloud.conf that serves other programs, too, has further sections. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  global: `auth-url username user-id password token region os-endpoint-type tls-insecure
  tenant-id tenant-name tenant-domain-id tenant-domain-name user-domain-id user-domain-name domain-id domain-name
  trust-id trustee-id trustee-password ca-file cert-file key-file use-clouds clouds-file cloud
  application-credential-id application-credential-name application-credential-secret`.split(/\s+/),
  keymanager: ["key-id", "key-lifetime", "key-outage"],
};

/** @throws KMS_CONFIG_INVALID, INI_INVALID, CLOUD_CONFIG_INVALID */
export function readConfiguration(path: string): Configuration {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (cause) {
    throw invalid(`${path} cannot be read: ${messageOf(cause)}`, cause);
  }
  const ini = parseIni(text, "cloud.conf");
  const section = iniSection(ini, "keymanager");
  const keyId = section && iniText(section, "key-id");
  // Barbican names secrets by their URL; the id is its last part.
  const id = keyId?.split("/").at(-1) ?? "";
  if (!isKeyId(id)) throw invalid("[KeyManager] key-id is not the id of a secret in Barbican");
  return {
    cloud: parseCloudConf(text),
    keyId: id,
    lifetime: duration("key-lifetime", section && iniText(section, "key-lifetime")),
    outage: duration("key-outage", section && iniText(section, "key-outage")),
    warnings: Object.entries(KNOWN).flatMap(([name, known]) =>
      [...(iniSection(ini, name)?.values.keys() ?? [])]
        .filter((key) => !known.includes(key))
        .map((key) => `key ${key} of [${name}] is not known`),
    ),
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
    hint: "Specify a cloud.conf with [Global] and, in [KeyManager], key-id = ID of a symmetric secret.",
  });
}
