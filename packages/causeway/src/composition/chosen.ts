import { hasCode, InputError, messageOf } from "@causeway/foundation";
import { loadKubeconfig, type ClusterConfig } from "@causeway/kubernetes";
import { environmentConfig, loadCloudsYaml, type CloudConfig } from "@causeway/openstack";

import { localCloudsYaml } from "./local-state.ts";

/** What the options of a cloud gave. */
export interface CloudPlace {
  readonly osCloud?: string | undefined;
  readonly insecure?: boolean;
  readonly cacert?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The name that the openstack client has for the cloud of the OS_ variables. */
const ENVIRONMENT = "envvars";

/**
 * The cloud that options and environment choose, in the openstack client's order: the option, OS_CLOUD, the variables
 * of an openrc file, the only entry of clouds.yaml.
 * @throws CLOUD_ENVIRONMENT_NOT_SET, CLOUD_NOT_FOUND, CLOUD_NOT_SELECTED, CLOUDS_YAML_NOT_FOUND, CLOUDS_YAML_INVALID,
 * CLOUD_CONFIG_INVALID
 */
export function chosenCloud(
  place: CloudPlace,
  env: Environment = process.env,
  local: () => string | undefined = localCloudsYaml,
): CloudConfig {
  const config = withoutTls(place.osCloud, env, local);
  if (place.insecure !== true && place.cacert === undefined) return config;
  const tls = { ...config.tls, ...(place.insecure === true ? { verify: false } : {}) };
  return { ...config, tls: place.cacert === undefined ? tls : { ...tls, caFile: place.cacert } };
}

function withoutTls(named: string | undefined, env: Environment, local: () => string | undefined): CloudConfig {
  const usesEnvironment = named === ENVIRONMENT || (named === undefined && !env["OS_CLOUD"]);
  const config = usesEnvironment ? environmentConfig(env) : undefined;
  if (config) return config;
  if (named !== ENVIRONMENT) return fromCloudsYaml(named, env, local);
  throw new InputError("CLOUD_ENVIRONMENT_NOT_SET", "There is no cloud envvars: OS_AUTH_URL is not set.", {
    hint: "Source the project's openrc file, or name an entry of clouds.yaml with --cloud.",
  });
}

function fromCloudsYaml(named: string | undefined, env: Environment, local: () => string | undefined): CloudConfig {
  try {
    return loadCloudsYaml({ cloud: named, env });
  } catch (error) {
    const simulated = hasCode(error, "CLOUDS_YAML_NOT_FOUND") ? local() : undefined;
    if (simulated === undefined) throw error;
    throw new InputError("CLOUDS_YAML_NOT_FOUND", messageOf(error), {
      hint: `For the simulated cloud of this folder set OS_CLIENT_CONFIG_FILE=${simulated}.`,
      cause: error,
    });
  }
}

/**
 * The cluster that `--kubeconfig` and `--context` choose, or other options: `option` is then that of the file.
 * @throws KUBECONFIG_NOT_FOUND, KUBECONFIG_INVALID, KUBECONFIG_CONTEXT_UNKNOWN
 */
export function chosenCluster(
  place: { readonly kubeconfig?: string | undefined; readonly context?: string | undefined },
  option?: string,
): ClusterConfig {
  const { kubeconfig, context } = place;
  try {
    return loadKubeconfig({
      ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
  } catch (error) {
    const isMissing = error instanceof InputError && error.code === "KUBECONFIG_NOT_FOUND" && error.cause === undefined;
    if (option === undefined || kubeconfig === undefined || !isMissing) throw error;
    const hint = `Specify the file with ${option}.`;
    throw new InputError(error.code, error.message, { hint, cause: error });
  }
}
