import { resolve } from "node:path";
import type { OwnCommand } from "../../credential-plugin/own-command.ts";
import type { KeystoneTokenFlags } from "./command.ts";
import type { Plugin } from "../../credential-plugin/kubeconfig.ts";
import { SECRET_VARIABLES } from "./secret-variables.ts";

/** The flags of `causeway keystone-token` that an exec entry keeps. */
export type PluginFlags = Partial<Omit<KeystoneTokenFlags, "forKubeconfig">>;

const TEXTS = {
  osCloud: "--cloud",
  keystoneUrl: "--keystone-url",
  domainName: "--domain-name",
  userName: "--user-name",
  projectName: "--project-name",
  applicationCredentialId: "--application-credential-id",
  applicationCredentialName: "--application-credential-name",
} as const satisfies Partial<Record<keyof KeystoneTokenFlags, string>>;
const FILES = {
  cert: "--cert",
  key: "--key",
  cacert: "--cacert",
} as const satisfies Partial<Record<keyof KeystoneTokenFlags, string>>;
/** The default of --log-level. */
const LOG_LEVEL = "warn";

/**
 * The exec entry that runs `causeway keystone-token` with these flags: files by their full path, since kubectl starts
 * it anywhere.
 */
export function pluginOf(own: OwnCommand, flags: PluginFlags, folder: string): Plugin {
  const args = [...own.args, "keystone-token"];
  for (const [flag, option] of Object.entries(TEXTS)) {
    const value = flags[flag as keyof typeof TEXTS];
    if (value !== undefined) args.push(`${option}=${value}`);
  }
  for (const [flag, option] of Object.entries(FILES)) {
    const value = flags[flag as keyof typeof FILES];
    if (value !== undefined) args.push(`${option}=${fullPath(value, folder)}`);
  }
  if (flags.cache === false) args.push("--no-cache");
  if (flags.logLevel !== undefined && flags.logLevel !== LOG_LEVEL) args.push(`--log-level=${flags.logLevel}`);
  const env = Object.entries(SECRET_VARIABLES).flatMap(([flag, name]) => {
    const value = flags[flag as keyof typeof SECRET_VARIABLES];
    return value === undefined ? [] : [{ name, value }];
  });
  return { command: own.command, args, env };
}

/** A flag may have the PEM text itself; ~/ is the home of whom kubectl runs as. */
function fullPath(value: string, folder: string): string {
  return value.includes("-----BEGIN") || value.startsWith("~/") ? value : resolve(folder, value);
}
