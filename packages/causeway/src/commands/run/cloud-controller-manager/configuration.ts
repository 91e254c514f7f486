import { messageOf, type Clock, type Log } from "@causeway/foundation";
import { parseControllerConfig, type ParsedControllerConfig } from "@causeway/cloud-controller-manager";
import { readCloudConf } from "../../../composition/config-files.ts";
import { cloudFingerprint, parseCloudConf, type CloudConfig } from "@causeway/openstack";

/** A cloud.conf with all that it refers to: clouds.yaml, secure.yaml, certificates. */
export interface Configuration extends ParsedControllerConfig {
  readonly cloud: CloudConfig;
  /** Differs when anything of it does. */
  readonly version: string;
}

/** @throws CLOUD_CONF_UNREADABLE, INI_INVALID, CLOUD_CONF_INVALID, CLOUD_CONFIG_INVALID, … */
export function readConfiguration(path: string): Configuration {
  const text = readCloudConf(path);
  const cloud = parseCloudConf(text);
  return { ...parseControllerConfig(text), cloud, version: `${text}\n${cloudFingerprint(cloud)}` };
}

/**
 * How long (ms) between two reads of the files. Mounted Secrets change by a symbolic link, which emits no file event.
 */
const pause = 5_000;

/**
 * Resolves with the next configuration that differs from `current`. One that cannot be read, as while it is being
 * written, leaves the old one in force and is logged once.
 */
export async function nextConfiguration(
  current: Configuration,
  from: { readonly path: string; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<Configuration> {
  let logged: string | undefined;
  for (;;) {
    await from.clock.sleep(pause, signal);
    try {
      const found = readConfiguration(from.path);
      if (found.version !== current.version) return found;
      logged = undefined;
    } catch (error) {
      const message = messageOf(error);
      if (message !== logged) from.log.warn("the changed cloud.conf is not used", { error: message });
      logged = message;
    }
  }
}
