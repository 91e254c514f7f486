import { InputError, isRecord, messageOf, suggestion } from "@causeway/foundation";
import { parse, stringify } from "yaml";
import {
  findCloudFiles,
  findCompanion,
  LARGEST_CLOUDS_YAML,
  tooLarge,
  type CloudFile,
  type SearchOptions,
} from "./cloud-files.ts";
import type { ApplicationCredentialAuth, CloudAuth, CloudConfig, DomainReference, PasswordAuth } from "./config.ts";
import { readEntry } from "./entry.ts";

/** Which cloud of which clouds.yaml is read. */
export interface LoadOptions extends SearchOptions {
  /** The entry's name. Without it OS_CLOUD, or the only entry there is. */
  readonly cloud?: string | undefined;
  /** The content of a clouds.yaml, in place of any file (as from a Secret). */
  readonly text?: string | undefined;
  /**
   * PEM of the authorities to trust, which a Secret holds next to clouds.yaml. Takes precedence over the entry's
   * cacert.
   */
  readonly ca?: string | undefined;
}

/** Fields of an entry of clouds.yaml that are not checked yet. */
export type Entries = Record<string, unknown>;

/**
 * Reads one entry of clouds.yaml, as openstacksdk does: from `text`, `path`, OS_CLIENT_CONFIG_FILE, or the first
 * clouds.yaml in the working directory, ~/.config/openstack and /etc/openstack; merged over its `profile`
 * (clouds-public.yaml) and under secure.yaml. Throws CLOUD_NOT_FOUND, CLOUD_NOT_SELECTED, CLOUDS_YAML_NOT_FOUND,
 * CLOUDS_YAML_INVALID, CLOUD_CONFIG_INVALID.
 */
export function loadCloudsYaml(options: LoadOptions = {}): CloudConfig {
  const { name, fields } = loadEntry(options);
  const config = readEntry(name, fields, (options.env ?? process.env)["HOME"]);
  return options.ca === undefined ? config : { ...config, tls: { ...config.tls, ca: options.ca } };
}

/** The fields of an entry as the files have them, profile and secure.yaml merged in. */
export function loadEntry(options: LoadOptions): { readonly name: string; readonly fields: Entries } {
  const env = options.env ?? process.env;
  const file = options.text === undefined ? findCloudFiles(options) : { path: "the given text", text: options.text };
  const clouds = entriesOf(file, "clouds");
  const name = options.cloud ?? env["OS_CLOUD"] ?? onlyName(clouds, file);
  const entry = clouds[name];
  if (!isRecord(entry)) throw notFound(name, clouds, file);
  const fromFile = options.text === undefined;
  const secure = fromFile ? companion("secure.yaml", "clouds", file, options)[name] : undefined;
  const profile = typeof entry["profile"] === "string" ? profileOf(entry["profile"], file, options) : {};
  return { name, fields: mergeEntries(mergeEntries(profile, entry), isRecord(secure) ? secure : {}) };
}

/** The content of a clouds.yaml with this one entry. Holds the secrets: only for a Secret or a file of mode 0600. */
export function renderCloudsYaml(config: CloudConfig): string {
  const { auth, scope, tls } = config;
  const entry = {
    auth_type: PLUGINS[auth.type],
    auth: {
      auth_url: config.authUrl,
      ...proofOf(auth),
      project_id: scope?.projectId,
      project_name: scope?.projectName,
      ...domain("project", scope?.projectDomain),
      trust_id: scope?.trustId,
    },
    region_name: config.region,
    interface: config.interface,
    identity_api_version: 3,
    verify: tls?.verify,
    cacert: tls?.ca ?? tls?.caFile,
    cert: tls?.certificate ?? tls?.certificateFile,
    key: tls?.key ?? tls?.keyFile,
    ...Object.fromEntries(
      Object.entries(config.endpointOverrides ?? {}).map(([k, url]) => [
        `${k.replaceAll("-", "_")}_endpoint_override`,
        url,
      ]),
    ),
  };
  return stringify({ clouds: { [config.name]: withoutUndefined(entry) } });
}

/** keystoneauth's names. */
const PLUGINS = {
  password: "v3password",
  token: "v3token",
  application_credential: "v3applicationcredential",
  oidc_access_token: "v3oidcaccesstoken",
} as const;

function proofOf(auth: CloudAuth): Entries {
  switch (auth.type) {
    case "token":
      return { token: auth.token };
    case "oidc_access_token":
      return { identity_provider: auth.identityProvider, protocol: auth.protocol, access_token: auth.accessToken };
    case "password":
      return { ...userOf(auth), password: auth.password };
    case "application_credential":
      return {
        ...userOf(auth),
        application_credential_id: auth.id,
        application_credential_name: auth.name,
        application_credential_secret: auth.secret,
      };
  }
}

function userOf({ userId, username, userDomain }: PasswordAuth | ApplicationCredentialAuth): Entries {
  return { user_id: userId, username, ...domain("user", userDomain) };
}

function domain(of: "user" | "project", reference: DomainReference | undefined): Record<string, string | undefined> {
  return { [`${of}_domain_id`]: reference?.id, [`${of}_domain_name`]: reference?.name };
}

function withoutUndefined(value: Entries): Entries {
  const kept = Object.entries(value).filter(([, v]) => v !== undefined);
  return Object.fromEntries(kept.map(([k, v]) => [k, isRecord(v) ? withoutUndefined(v) : v]));
}

function entriesOf(file: CloudFile, key: "clouds" | "public-clouds"): Entries {
  if (file.text.length > LARGEST_CLOUDS_YAML) throw tooLarge(file.path);
  let content: unknown;
  try {
    // As openstacksdk, which takes the last of keys that are equal; to compare each with all before it takes too long.
    content = parse(file.text, { uniqueKeys: false });
  } catch (cause) {
    throw new InputError(
      "CLOUDS_YAML_INVALID",
      `${file.path} is not YAML: ${firstLine(messageOf(cause)).replace(/:$/, "")}.`,
      {
        hint: "Correct that place, or write the file again as the dashboard or the provider offers it.",
      },
    );
  }
  const clouds = isRecord(content) ? content[key] : undefined;
  if (isRecord(clouds)) return clouds;
  throw new InputError("CLOUDS_YAML_INVALID", `${file.path} has no map "${key}".`, {
    hint: "A clouds.yaml begins with `clouds:` and has one entry for each cloud below it.",
  });
}

function companion(name: string, key: "clouds" | "public-clouds", file: CloudFile, options: SearchOptions): Entries {
  const found = findCompanion(name, file, options);
  return found === undefined ? {} : entriesOf(found, key);
}

function profileOf(name: string, file: CloudFile, options: SearchOptions): Entries {
  const profile = companion("clouds-public.yaml", "public-clouds", file, options)[name];
  return isRecord(profile) ? profile : {};
}

/** `above` wins, field by field. */
export function mergeEntries(below: Entries, above: Entries): Entries {
  const merged: Entries = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key];
    merged[key] = isRecord(under) && isRecord(value) ? mergeEntries(under, value) : value;
  }
  return merged;
}

function onlyName(clouds: Entries, file: CloudFile): string {
  const names = Object.keys(clouds);
  if (names.length === 1 && names[0] !== undefined) return names[0];
  throw new InputError("CLOUD_NOT_SELECTED", `${file.path} has several clouds and none is selected.`, {
    hint: `Set OS_CLOUD or name one of: ${names.join(", ")}.`,
  });
}

function notFound(name: string, clouds: Entries, file: CloudFile): InputError {
  return new InputError(
    "CLOUD_NOT_FOUND",
    `Cloud ${name} is not in ${file.path}${suggestion(name, Object.keys(clouds)) || "."}`,
    {
      hint: `Clouds in this file: ${Object.keys(clouds).join(", ") || "none"}.`,
      details: { cloud: name, path: file.path, clouds: Object.keys(clouds) },
    },
  );
}

/** A YAML parser's message continues with an excerpt, which may hold a password. */
function firstLine(message: string): string {
  return message.split("\n")[0] ?? "";
}
