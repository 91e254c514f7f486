import { isRecord } from "@causeway/foundation";
import { loadEntry, type LoadOptions } from "./clouds-yaml.ts";
import type { CloudConfig } from "./config.ts";
import { readEntry } from "./entry.ts";

/** OS_ variables that are next to `auth` in a clouds.yaml entry; all others belong into it. */
const OUTSIDE_AUTH = new Set([
  "auth_type",
  "region_name",
  "interface",
  "endpoint_type",
  "cacert",
  "cert",
  "key",
  "insecure",
]);

/** A cloud as OS_ variables. */
export type CloudVariables = Readonly<Record<string, string>>;

/**
 * An entry of clouds.yaml as the OS_ variables that `environmentConfig` reads: what a token request needs. What only
 * other requests need (lists of regions, microversions) is left out. Throws what `loadCloudsYaml` throws.
 */
export function cloudsYamlVariables(options: LoadOptions = {}): CloudVariables {
  const { name, fields } = loadEntry(options);
  const found: Record<string, string> = { OS_CLOUD: name };
  for (const [field, value] of [
    ...Object.entries(fields),
    ...Object.entries(isRecord(fields["auth"]) ? fields["auth"] : {}),
  ])
    if ((typeof value === "string" && value !== "") || typeof value === "number")
      found[`OS_${field.toUpperCase()}`] = String(value);
  if (fields["verify"] === false || fields["verify"] === "false" || fields["insecure"] === true)
    found["OS_INSECURE"] = "true";
  return found;
}

/** The cloud that OS_AUTH_URL and its fellows describe (an openrc file); undefined where OS_AUTH_URL is not set. */
export function environmentConfig(env: Readonly<Record<string, string | undefined>>): CloudConfig | undefined {
  if (!env["OS_AUTH_URL"]) return undefined;
  const auth: Record<string, string> = {};
  const entry: Record<string, unknown> = { auth };
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith("OS_") || value === undefined || value === "") continue;
    const field = variable.slice(3).toLowerCase();
    if (field === "insecure") entry["insecure"] = /^(true|1|yes)$/i.test(value);
    else if (OUTSIDE_AUTH.has(field) || field.endsWith("_endpoint_override")) entry[field] = value;
    else auth[field] = value;
  }
  return readEntry(env["OS_CLOUD"] ?? "environment", entry, env["HOME"]);
}
