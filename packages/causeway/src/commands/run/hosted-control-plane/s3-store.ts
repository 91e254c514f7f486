import { CausewayError, InputError, type Clock } from "@causeway/foundation";
import { createS3Store, type S3Credentials, type S3Store } from "@causeway/hosted-control-plane";
import { Secret, secretText, type KubernetesClient } from "@causeway/kubernetes";
import type { HostedControlPlaneFlags } from "./options.ts";

type S3Flags = Pick<
  HostedControlPlaneFlags,
  "backupContainer" | "backupS3Endpoint" | "backupS3Region" | "backupS3Secret"
>;

/** How long (ms) keys are used before their Secret is read again. */
const REREAD = 60_000;

/**
 * A bucket, with the keys of a Secret, which is read again each minute: keys that were replaced need no restart.
 * @throws FLAG_INVALID, BACKUP_CREDENTIALS_MISSING
 */
export async function openS3(
  { backupS3Endpoint: endpoint = "", backupS3Region: region, backupS3Secret, backupContainer: bucket }: S3Flags,
  { client, clock }: { readonly client: KubernetesClient; readonly clock: Clock },
): Promise<S3Store> {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isHttp = url !== undefined && ["http:", "https:"].includes(url.protocol) && url.username === "";
  if (!isHttp) throw invalid("backup-s3-endpoint", `${endpoint} is not an http or https URL without a user`);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw invalid("backup-container", `${bucket} is no name of a bucket: 3 to 63 of a-z, 0-9, "." and "-"`);
  if (!/^[a-zA-Z0-9-]{1,64}$/.test(region)) throw invalid("backup-s3-region", `${region} is no region`);
  const [namespace = "", name = "", ...rest] = (backupS3Secret ?? "").split("/");
  if (namespace === "" || name === "" || rest.length > 0)
    throw invalid("backup-s3-secret", "it is needed with --backup-s3-endpoint, as NAMESPACE/NAME");
  let known: { readonly until: number; readonly credentials: S3Credentials } | undefined;
  const read = async (signal?: AbortSignal) =>
    client.find(Secret, { namespace, name }, signal === undefined ? {} : { signal });
  const credentials = async (signal: AbortSignal): Promise<S3Credentials> => {
    if (known === undefined || known.until <= clock.now())
      known = { until: clock.now() + REREAD, credentials: credentialsOf(await read(signal), `${namespace}/${name}`) };
    return known.credentials;
  };
  const certificateAuthority = secretText(await read(), "ca.crt");
  const trusted = certificateAuthority === undefined ? {} : { certificateAuthority };
  return createS3Store({ endpoint, region, bucket, credentials, ...trusted, clock });
}

function credentialsOf(secret: Secret | undefined, where: string): S3Credentials {
  const text = (key: string) => secretText(secret, key)?.trim();
  const [accessKey, secretKey, sessionToken] = [text("access-key"), text("secret-key"), text("session-token")];
  if (accessKey === undefined || secretKey === undefined || accessKey === "" || secretKey === "") {
    const what = secret === undefined ? "does not exist" : "has no keys access-key and secret-key";
    throw new CausewayError("BACKUP_CREDENTIALS_MISSING", `Secret ${where} of --backup-s3-secret ${what}`, {
      hint: `Create it: kubectl create secret generic -n ${where.replace("/", " ")} --from-file=access-key --from-file=secret-key`,
    });
  }
  return { accessKey, secretKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}

function invalid(flag: string, why: string): InputError {
  return new InputError("FLAG_INVALID", `--${flag}: ${why}`);
}
