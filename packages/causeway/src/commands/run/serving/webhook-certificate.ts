import { join } from "node:path";
import { createAuthority, InputError, issueCertificate, readTextFile, type KeyPair } from "@causeway/foundation";

const year = 365 * 86_400_000;

/** Where a webhook's certificate is, or what one is issued for. */
export interface WebhookPlace {
  /** A folder with tls.crt and tls.key; undefined: a pair for this process. */
  readonly dir: string | undefined;
  /** The name or address that the API server calls. */
  readonly host: string;
}

/** The certificate of a webhook, and the authority that the API server is to trust. @throws CERTIFICATE_UNREADABLE */
export async function webhookCertificate({ dir, host }: WebhookPlace): Promise<{ authority: string; pair: KeyPair }> {
  if (dir !== undefined) return readPair(dir);
  const authority = await createAuthority({ commonName: "causeway-webhook-ca", lifetime: year });
  const isAddress = /^[0-9.]+$|:/.test(host);
  const pair = await issueCertificate(authority, {
    commonName: host,
    dnsNames: ["localhost", ...(isAddress ? [] : [host])],
    ipAddresses: ["127.0.0.1", ...(isAddress && host !== "127.0.0.1" ? [host] : [])],
    usages: ["server"],
    lifetime: year,
  });
  return { authority: authority.certificate, pair };
}

function readPair(dir: string): { authority: string; pair: KeyPair } {
  try {
    const pair = { certificate: readTextFile(join(dir, "tls.crt")), key: readTextFile(join(dir, "tls.key")) };
    return { authority: pair.certificate, pair };
  } catch (cause) {
    throw new InputError("CERTIFICATE_UNREADABLE", `${dir} has no readable tls.crt and tls.key.`, { cause });
  }
}
