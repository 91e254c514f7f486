import { messageOf, type Clock, type Log } from "@causeway/foundation";
import { cloudFingerprint, issueToken, type CloudConfig } from "@causeway/openstack";
import { renderCredential, requestedVersion } from "./plan-credential.ts";
import { tokenFile } from "./token-file.ts";

/** Whose token kubectl is given, and where it is kept until it expires. */
export interface KeystoneTokenOptions {
  readonly config: CloudConfig;
  /** KUBERNETES_EXEC_INFO. */
  readonly execInfo: string | undefined;
  /** Where tokens are kept between calls; undefined: nowhere. */
  readonly cacheFolder: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * An ExecCredential for kubectl, with a token from the cache or a new one.
 * @throws EXEC_INFO_INVALID, OPENSTACK_UNAUTHORIZED, OPENSTACK_NOT_FOUND, OPENSTACK_UNREACHABLE
 */
export async function keystoneToken(options: KeystoneTokenOptions): Promise<string> {
  const { config, clock, log, cacheFolder } = options;
  const version = requestedVersion(options.execInfo);
  const file = cacheFolder === undefined ? undefined : tokenFile(cacheFolder, cloudFingerprint(config));
  const known = file?.read(clock.now());
  if (known !== undefined) return renderCredential(version, known);
  const { token, expires } = await issueToken(config, { clock, log, userAgent: "causeway-keystone-token" });
  try {
    file?.write({ token, expires });
  } catch (error) {
    log.warn("the token cannot be kept for the next call", { path: file?.path, error: messageOf(error) });
  }
  return renderCredential(version, { token, expires });
}
