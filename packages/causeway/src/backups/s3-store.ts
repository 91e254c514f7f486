import { existsSync } from "node:fs";
import { join } from "node:path";
import { InputError, readTextFile } from "@causeway/foundation";
import { createS3Store, type S3Credentials, type S3Store } from "@causeway/hosted-control-plane";
import { Secret, secretText } from "@causeway/kubernetes";
import type { OpenWith, StoreFlags } from "./store.ts";

/** How long (ms) keys are used before their Secret is read again. */
const REREAD = 60_000;

/** The content of a key of the Secret, or of the file with its name. */
type Keys = (key: string) => string | undefined;

/**
 * A bucket, with keys that are read again each minute: keys that were replaced need no restart.
 * @throws FLAG_INVALID, BACKUP_CREDENTIALS_MISSING
 */
export async function openS3(
  flags: StoreFlags & { readonly backupS3Endpoint: string },
  { client, clock }: Pick<OpenWith, "client" | "clock">,
): Promise<S3Store> {
  const { backupS3Endpoint: endpoint, backupS3Region: region, backupContainer: bucket } = flags;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isHttp = url !== undefined && ["http:", "https:"].includes(url.protocol) && url.username === "";
  if (!isHttp) throw invalid("backup-s3-endpoint", `${endpoint} is not an http or https URL without a user`);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw invalid("backup-container", `${bucket} is not a name of a bucket: 3 to 63 of a-z, 0-9, "." and "-"`);
  if (!/^[a-zA-Z0-9-]{1,64}$/.test(region)) throw invalid("backup-s3-region", `${region} is not a region`);
  const source = flags.backupS3Keys === undefined ? secretKeys(flags, client) : folderKeys(flags.backupS3Keys);
  let known: { readonly until: number; readonly credentials: S3Credentials } | undefined;
  const credentials = async (signal: AbortSignal): Promise<S3Credentials> => {
    if (known === undefined || known.until <= clock.now())
      known = { until: clock.now() + REREAD, credentials: credentialsOf(await source.read(signal), source) };
    return known.credentials;
  };
  const first = await source.read();
  credentialsOf(first, source);
  const certificateAuthority = first?.("ca.crt");
  const trusted = certificateAuthority === undefined ? {} : { certificateAuthority };
  return createS3Store({ endpoint, region, bucket, credentials, ...trusted, clock });
}

interface KeySource {
  /** For messages. */
  readonly name: string;
  readonly hint: string;
  /** Undefined: it does not exist. */
  read(signal?: AbortSignal): Promise<Keys | undefined>;
}

function secretKeys({ backupS3Secret }: StoreFlags, client: OpenWith["client"]): KeySource {
  const [namespace = "", name = "", ...rest] = (backupS3Secret ?? "").split("/");
  if (namespace === "" || name === "" || rest.length > 0 || client === undefined)
    throw invalid("backup-s3-secret", "it is needed with --backup-s3-endpoint, as NAMESPACE/NAME");
  return {
    name: `Secret ${namespace}/${name} of --backup-s3-secret`,
    hint: `Create it: kubectl create secret generic -n ${namespace} ${name} --from-file=access-key --from-file=secret-key`,
    async read(signal) {
      const secret = await client.find(Secret, { namespace, name }, signal === undefined ? {} : { signal });
      return secret && ((key) => secretText(secret, key));
    },
  };
}

function folderKeys(dir: string): KeySource {
  const file = (key: string): string | undefined =>
    existsSync(join(dir, key)) ? readTextFile(join(dir, key)) : undefined;
  return {
    name: `folder ${dir} of --backup-s3-keys`,
    hint: `Write the keys into ${join(dir, "access-key")} and ${join(dir, "secret-key")}`,
    read: async () => (existsSync(dir) ? file : undefined),
  };
}

function credentialsOf(keys: Keys | undefined, { name, hint }: KeySource): S3Credentials {
  const text = (key: string) => keys?.(key)?.trim();
  const [accessKey, secretKey, sessionToken] = [text("access-key"), text("secret-key"), text("session-token")];
  if (accessKey === undefined || secretKey === undefined || accessKey === "" || secretKey === "") {
    const what = keys === undefined ? "does not exist" : "has no keys access-key and secret-key";
    throw new InputError("BACKUP_CREDENTIALS_MISSING", `${name} ${what}`, { hint });
  }
  return { accessKey, secretKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

function invalid(flag: string, why: string): InputError {
  return new InputError("FLAG_INVALID", `--${flag}: ${why}`);
}
