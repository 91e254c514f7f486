import { homedir } from "node:os";
import { join } from "node:path";
import { InputError, messageOf, readTextFile, systemClock } from "@causeway/foundation";
import { keystoneToken } from "@causeway/keystone-auth";
import { cloudsYamlVariables, environmentConfig, type CloudConfig, type CloudVariables } from "@causeway/openstack";
import { commandLog } from "../../terminal/text-log.ts";
import type { KeystoneTokenFlags } from "./command.ts";
import { withPlugin } from "../../credential-plugin/kubeconfig.ts";
import { ownCommand } from "../../credential-plugin/own-command.ts";
import { withEnvironment, withFlags, type Variables } from "./plan-variables.ts";
import { pluginOf } from "./plugin.ts";
import { askMissing, ownTerminal, type Terminal } from "./prompt.ts";

/** Prints an ExecCredential, or a kubeconfig that has this command as its user. */
export async function printKeystoneToken(flags: KeystoneTokenFlags): Promise<void> {
  const { env } = process;
  if (flags.forKubeconfig !== undefined) {
    const own = ownCommand({ script: process.argv[1], execPath: process.execPath, path: env["PATH"] });
    process.stdout.write(withPlugin(readKubeconfig(flags.forKubeconfig), pluginOf(own, flags, process.cwd())));
    return;
  }
  const folder = join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "causeway/keystone-tokens");
  const printed = await keystoneToken({
    config: await credentials(flags, env, ownTerminal(env["KUBERNETES_EXEC_INFO"])),
    execInfo: env["KUBERNETES_EXEC_INFO"],
    cacheFolder: flags.cache ? folder : undefined,
    clock: systemClock,
    log: commandLog(flags.logLevel),
  });
  process.stdout.write(printed);
}

function readKubeconfig(path: string): string {
  try {
    return readTextFile(path);
  } catch (cause) {
    throw new InputError("KUBECONFIG_INVALID", `The kubeconfig ${path} cannot be read: ${messageOf(cause)}.`, {
      cause,
      hint: "Specify a kubeconfig with --for-kubeconfig that this user may read.",
    });
  }
}

/** Variables that flags represent. */
const VARIABLES = {
  keystoneUrl: "OS_AUTH_URL",
  domainName: "OS_DOMAIN_NAME",
  userName: "OS_USERNAME",
  projectName: "OS_PROJECT_NAME",
  password: "OS_PASSWORD",
  cert: "OS_CERT",
  key: "OS_KEY",
  cacert: "OS_CACERT",
  applicationCredentialId: "OS_APPLICATION_CREDENTIAL_ID",
  applicationCredentialName: "OS_APPLICATION_CREDENTIAL_NAME",
  applicationCredentialSecret: "OS_APPLICATION_CREDENTIAL_SECRET",
} as const satisfies Partial<Record<keyof KeystoneTokenFlags, string>>;
/** The name that the openstack client has for the cloud of the OS_ variables. */
const ENVIRONMENT = "envvars";

/**
 * Flags, above the entry of clouds.yaml with what it lacks from the environment, or above the environment alone. What
 * the environment lacks is requested on the terminal, if there is one; without any variables, where no clouds.yaml is
 * found.
 */
async function credentials(
  flags: KeystoneTokenFlags,
  env: Variables,
  terminal: Terminal | undefined,
): Promise<CloudConfig> {
  const given: Record<string, string> = {};
  for (const [flag, variable] of Object.entries(VARIABLES)) {
    const value = flags[flag as keyof typeof VARIABLES];
    if (value !== undefined) given[variable] = value;
  }
  const entry = entryOf(flags.osCloud ?? (env["OS_CLOUD"] || undefined), {
    env,
    given,
    mayAsk: terminal !== undefined,
  });
  const known = withFlags(entry ? withEnvironment(entry, env) : env, given);
  const home = { HOME: env["HOME"] };
  if (entry) return found(environmentConfig({ ...known, ...home }), known);
  const answers = terminal ? await askMissing(known, terminal) : {};
  return found(environmentConfig({ ...known, ...answers, ...home }), known);
}

/** The entry of clouds.yaml that is used; undefined: the environment's variables are. */
function entryOf(
  named: string | undefined,
  { env, given, mayAsk }: { env: Variables; given: Variables; mayAsk: boolean },
): CloudVariables | undefined {
  if (named === ENVIRONMENT) return undefined;
  if (named === undefined && (env["OS_AUTH_URL"] || given["OS_AUTH_URL"])) return undefined;
  try {
    return cloudsYamlVariables({ cloud: named, env });
  } catch (error) {
    const none = error instanceof InputError && error.code === "CLOUDS_YAML_NOT_FOUND";
    if (named === undefined && none && mayAsk) return undefined;
    throw error;
  }
}

function found(config: CloudConfig | undefined, known: Variables): CloudConfig {
  if (config) return config;
  const cloud = known["OS_CLOUD"];
  throw new InputError("CLOUD_CONFIG_INVALID", `Cloud ${cloud ?? ENVIRONMENT}: there is no URL of Keystone.`, {
    hint: cloud === undefined ? "Set OS_AUTH_URL, or give --keystone-url." : "Write auth.auth_url into its entry.",
  });
}
