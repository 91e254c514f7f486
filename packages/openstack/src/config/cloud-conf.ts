import { iniBoolean, iniSection, iniText, parseIni, type IniSection, InputError } from "@causeway/foundation";
import type { SearchOptions } from "./cloud-files.ts";
import { loadEntry, mergeEntries, type Entries } from "./clouds-yaml.ts";
import type { CloudConfig } from "./config.ts";
import { readEntry } from "./entry.ts";

/** Keys of [Global] and the fields of `auth` in clouds.yaml that mean the same. */
const AUTH: Readonly<Record<string, string>> = {
  "auth-url": "auth_url",
  "user-id": "user_id",
  username: "username",
  password: "password",
  "tenant-id": "project_id",
  "tenant-name": "project_name",
  "trust-id": "trust_id",
  "domain-id": "domain_id",
  "domain-name": "domain_name",
  "tenant-domain-id": "project_domain_id",
  "tenant-domain-name": "project_domain_name",
  "user-domain-id": "user_domain_id",
  "user-domain-name": "user_domain_name",
  token: "token",
  "application-credential-id": "application_credential_id",
  "application-credential-name": "application_credential_name",
  "application-credential-secret": "application_credential_secret",
};

/** And those next to `auth`. */
const OUTSIDE_AUTH: Readonly<Record<string, string>> = {
  region: "region_name",
  "os-endpoint-type": "interface",
  "ca-file": "cacert",
  "cert-file": "cert",
  "key-file": "key",
};

/** And those that are read one by one. */
const SINGLE = ["trustee-id", "trustee-password", "tls-insecure", "use-clouds", "clouds-file", "cloud"];

/** Every key of [Global] that is read: for warnings about others. */
export const cloudConfKeys: readonly string[] = [...Object.keys(AUTH), ...Object.keys(OUTSIDE_AUTH), ...SINGLE];

/** Characters. */
const LARGEST = 1024 * 1024;

/** Which section of a cloud.conf is read, and where its clouds.yaml is searched for. */
export interface CloudConfOptions extends Omit<SearchOptions, "path"> {
  /** Of the section [Global "NAME"]. Default: [Global] without a name. */
  readonly name?: string | undefined;
}

/**
 * The cloud that [Global] of a cloud.conf describes (cloud-provider-openstack's configuration file). With
 * `use-clouds = true` the entry `cloud` of clouds.yaml fills in what the file itself leaves open. Other sections and
 * unknown keys are ignored. Throws INI_INVALID, CLOUD_CONFIG_INVALID, and what loadCloudsYaml throws.
 */
export function parseCloudConf(text: string, options: CloudConfOptions = {}): CloudConfig {
  if (text.length > LARGEST) {
    throw new InputError("CLOUD_CONFIG_INVALID", "The cloud.conf is not read: it is larger than 1 MiB.");
  }
  return configOf(iniSection(parseIni(text, "cloud.conf"), "global", options.name), options);
}

function configOf(global: IniSection | undefined, options: CloudConfOptions): CloudConfig {
  const own = entryOf(global);
  const home = (options.env ?? process.env)["HOME"];
  if (iniBoolean(global, "use-clouds") !== true) return readEntry(given(global, "cloud") ?? "cloud.conf", own, home);
  const path = given(global, "clouds-file");
  const { name, fields } = loadEntry({ ...options, path, cloud: given(global, "cloud") });
  return readEntry(name, mergeEntries(fields, own), home);
}

/**
 * The same of settings that are not in a file: keys as in [Global]. Throws CLOUD_CONFIG_INVALID, and what
 * loadCloudsYaml throws.
 */
export function cloudConfOf(settings: Readonly<Record<string, string>>, options: CloudConfOptions = {}): CloudConfig {
  const values = Object.entries(settings).map(([key, text]) => [key, [{ text, bare: false, line: 0 }]] as const);
  return configOf({ name: "global", subsection: undefined, line: 0, values: new Map(values) }, options);
}

function entryOf(global: IniSection | undefined): Entries {
  const auth = pick(global, AUTH);
  const trustee = { user_id: given(global, "trustee-id"), password: given(global, "trustee-password") };
  for (const [field, value] of Object.entries(trustee)) if (value !== undefined) auth[field] = value;
  if ((given(global, "cert-file") === undefined) !== (given(global, "key-file") === undefined)) {
    throw new InputError("CLOUD_CONFIG_INVALID", "cloud.conf has only one of cert-file and key-file.", {
      hint: "A client certificate needs both; set the other one or remove this one.",
    });
  }
  const insecure = iniBoolean(global, "tls-insecure") === true;
  return { ...pick(global, OUTSIDE_AUTH), ...(insecure && { verify: false }), auth };
}

function pick(global: IniSection | undefined, names: Readonly<Record<string, string>>): Entries {
  const picked: Entries = {};
  for (const [key, field] of Object.entries(names)) {
    const value = given(global, key);
    if (value !== undefined) picked[field] = value;
  }
  return picked;
}

/** A value that is not empty. */
function given(global: IniSection | undefined, key: string): string | undefined {
  return iniText(global, key) || undefined;
}
