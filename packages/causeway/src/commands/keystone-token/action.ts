import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { InputError, readTextFile, systemClock } from "@causeway/foundation";
import { keystoneToken } from "@causeway/keystone-auth";
import { environmentConfig, loadCloudsYaml, type CloudConfig } from "@causeway/openstack";
import type { KeystoneTokenFlags } from "./command.ts";
import { withPlugin } from "./kubeconfig.ts";
import { askMissing, ownTerminal, type Terminal } from "./prompt.ts";
import { commandLog } from "../../terminal/text-log.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Prints an ExecCredential, or a kubeconfig that has this command as its user. */
export async function printKeystoneToken(flags: KeystoneTokenFlags): Promise<void> {
  if (flags.forKubeconfig !== undefined) {
    const command = process.argv[1] ?? "causeway";
    process.stdout.write(
      withPlugin(readTextFile(flags.forKubeconfig), { command: resolve(command), args: argumentsOf(flags) }),
    );
    return;
  }
  const { env } = process;
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

/** Flags that a kubeconfig may have: no secrets. */
function argumentsOf({ cloud }: KeystoneTokenFlags): string[] {
  return ["keystone-token", ...(cloud === undefined ? [] : ["--cloud", cloud])];
}

/** Variables that flags replace. */
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

/** What variables lack is asked for on the terminal, if there is one; without any, where no clouds.yaml is found. */
async function credentials(
  flags: KeystoneTokenFlags,
  env: Environment,
  terminal: Terminal | undefined,
): Promise<CloudConfig> {
  const given: Record<string, string> = {};
  for (const [flag, variable] of Object.entries(VARIABLES)) {
    const value = flags[flag as keyof typeof VARIABLES];
    if (value !== undefined) given[variable] = value;
  }
  const named = flags.cloud ?? env["OS_CLOUD"];
  const described = Object.keys(given).length > 0 || (named === undefined && env["OS_AUTH_URL"] !== undefined);
  if (!described) {
    try {
      return loadCloudsYaml({ cloud: flags.cloud });
    } catch (error) {
      const none = error instanceof InputError && error.code === "CLOUDS_YAML_NOT_FOUND";
      if (!terminal || named !== undefined || !none) throw error;
    }
  }
  const known = { ...env, ...given };
  const answers = terminal ? await askMissing(known, terminal) : {};
  return environmentConfig({ ...known, ...answers, ...typeOf(given, env) }) ?? loadCloudsYaml({ cloud: flags.cloud });
}

/** Upstream's client needs no OS_AUTH_TYPE for an application credential. */
function typeOf(given: Environment, env: Environment): Record<string, string> {
  const credential = given["OS_APPLICATION_CREDENTIAL_SECRET"] ?? env["OS_APPLICATION_CREDENTIAL_SECRET"];
  return credential === undefined || env["OS_AUTH_TYPE"] !== undefined
    ? {}
    : { OS_AUTH_TYPE: "v3applicationcredential" };
}
